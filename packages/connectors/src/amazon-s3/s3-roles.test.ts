import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { ConnectorError, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { startFailingProxy } from '../../test/failing-proxy.ts'
import { someRows } from '../../test/object-store-server.ts'
import { startS3TestServer } from '../../test/s3-server.ts'
import { judgeS3, refuse } from '../../test/s3-signature.ts'
import { checkDestination, checkSource } from './check.ts'
import { write as openDestination } from './files.ts'
import { makeS3Client } from './s3-client.ts'

const key = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const s3 = await startS3TestServer(['people', 'out'], [key])
after(() => s3.close())
const { secrets } = s3
const { columns, rows } = someRows(10)

const fails = async (work: Promise<unknown>): Promise<ConnectorError> => {
  const [result] = await Promise.allSettled([work])
  assert.equal(result?.status, 'rejected')
  return result.reason as ConnectorError
}

describe('taking on a role, against a server that verifies signatures as the Security Token Service does', () => {
  const role = 'arn:aws:iam::123456789012:role/transfer/Writer'
  const sts = async (issued: { endsIn: number; externalId?: string }) => {
    const asked: string[] = []
    const keys: { id: string; secret: string; token: string }[] = []
    const isSts = judgeS3([key], Date.now, 'sts')
    const server = await startFailingProxy(s3.address, (request) => {
      if (request.method !== 'POST' || request.url !== '/') return judgeS3(keys.slice(-1))(request)
      const form = new URLSearchParams(request.body.toString())
      asked.push(`${form.get('Action')} ${form.get('RoleArn')} ${form.get('ExternalId')}`)
      const refused = isSts(request)
      if (refused) return refused
      if (form.get('ExternalId') !== (issued.externalId ?? null)) {
        return { ...refuse(403, 'AccessDenied'), body: stsError('AccessDenied') }
      }
      const given = {
        id: `ASIA${keys.length}`,
        secret: `canary-role-secret/${keys.length}`,
        token: `canary-token=${keys.length}`,
      }
      keys.push(given)
      const ends = new Date(Date.now() + issued.endsIn).toISOString()
      const body = `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>${given.id}</AccessKeyId><SecretAccessKey>${given.secret}</SecretAccessKey><SessionToken>${given.token}</SessionToken><Expiration>${ends}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`
      return { status: 200, headers: { 'content-type': 'text/xml' }, body }
    })
    after(() => server.close())
    return { url: server.url, asked, keys }
  }
  const stsError = (code: string) =>
    `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>${code}</Code><Message>User canary is not authorized</Message></Error></ErrorResponse>`
  const secretsAt = (endpoint: string, more: Values = {}): Values => ({
    accessKeyId: key.id,
    secretAccessKey: key.secret,
    roleArn: role,
    endpoint,
    ...more,
  })
  const list = { bucket: 'people', query: { 'list-type': '2' }, permission: 's3:ListBucket' } as const

  test('signs with the credentials of the role, which it asks for once', async () => {
    const service = await sts({ endsIn: 3_600_000, externalId: 'tenant 7' })
    const client = makeS3Client(testContext({ secrets: secretsAt(service.url, { externalId: 'tenant 7' }) }))
    for (let n = 0; n < 3; n++) assert.equal((await client.request(list)).status, 200)
    assert.deepEqual(service.asked, [`AssumeRole ${role} tenant 7`])
    assert.equal(
      client.redact(`a ${service.keys[0]?.secret} b ${service.keys[0]?.token} c`),
      'a [redacted] b [redacted] c',
    )
  })

  test('asks for others before they end, and once they are refused as expired', async () => {
    const short = await sts({ endsIn: 60_000 })
    const client = makeS3Client(testContext({ secrets: secretsAt(short.url) }))
    await client.request(list)
    await client.request(list)
    assert.equal(short.asked.length, 2)

    let isExpired = true
    const service = await sts({ endsIn: 3_600_000 })
    const expiring = await startFailingProxy(service.url, ({ method, url }) => {
      if (method === 'POST' && url === '/') return undefined
      const answer = isExpired ? refuse(400, 'ExpiredToken') : undefined
      isExpired = false
      return answer
    })
    after(() => expiring.close())
    const other = makeS3Client(testContext({ secrets: secretsAt(expiring.url) }))
    assert.equal((await other.request(list)).status, 200)
    assert.equal(service.asked.length, 2)
  })

  test('says why the role cannot be taken on, and nothing of the answer', async () => {
    const service = await sts({ endsIn: 3_600_000, externalId: 'another' })
    const denied = await fails(makeS3Client(testContext({ secrets: secretsAt(service.url) })).request(list))
    assert.deepEqual([denied.code, denied.action], ['invalid_credentials', 'reauthenticate'])
    assert.match(denied.message, /trust policy of the role.*external ID/)
    assert.doesNotMatch(denied.message, /canary/)
    const checked = await checkSource(testContext({ secrets: secretsAt(service.url) }))
    assert.deepEqual(
      checked.map(({ ok }) => ok),
      [true, false],
    )
    for (const roleArn of ['Writer', 'arn:aws:iam::1:role/x', 'arn:aws:iam::123456789012:user/x']) {
      const [result] = await Promise.allSettled([
        (async () => makeS3Client(testContext({ secrets: secretsAt(service.url, { roleArn }) })))(),
      ])
      assert.equal(result?.status === 'rejected' && (result.reason as ConnectorError).code, 'invalid_setting', roleArn)
    }
  })
})

describe('encryption of objects', () => {
  test('is asked for when an upload begins, and with an object without rows', async () => {
    const seen: (readonly [string, unknown, unknown])[] = []
    const judge = judgeS3([key])
    const proxy = await startFailingProxy(s3.address, (request) => {
      const { method, url, headers } = request
      if (method === 'POST' || method === 'PUT') {
        const kms = headers['x-amz-server-side-encryption-aws-kms-key-id']
        const part = url.includes('partNumber')
          ? 'part'
          : url.includes('uploads')
            ? 'begin'
            : url.includes('uploadId')
              ? 'complete'
              : 'put'
        seen.push([part, headers['x-amz-server-side-encryption'], kms])
      }
      return judge(request)
    })
    after(() => proxy.close())
    const at = { ...secrets, endpoint: proxy.url }
    const kmsKeyId = 'arn:aws:kms:eu-central-1:123456789012:key/1234abcd'
    const settings = { outputPath: 's3://out/kms/', fileFormat: 'CSV', encryption: 'SSE-KMS', kmsKeyId }
    const writer = await openDestination(testContext({ secrets: at, settings, columns, transferId: 'kms' }))
    await writer.deliver({ key: '0', columns, rows, firstRow: 1 })
    await writer.flush?.()
    await writer.finish?.()
    assert.deepEqual(seen, [
      ['begin', 'aws:kms', kmsKeyId],
      ['part', undefined, undefined],
      ['complete', undefined, undefined],
    ])
    seen.length = 0
    const s3Keys = { outputPath: 's3://out/sse/', fileFormat: 'CSV', encryption: 'SSE-S3' }
    const steps = await checkDestination(testContext({ secrets: at, settings: s3Keys }))
    assert.deepEqual(
      steps.map(({ ok }) => ok),
      [true, true, true],
    )
    assert.deepEqual(seen, [['begin', 'AES256', undefined]])
    const wrong = { ...settings, kmsKeyId: 'key\r\nx-evil: 1' }
    assert.equal(
      (await fails(openDestination(testContext({ secrets: at, settings: wrong, columns })))).code,
      'invalid_setting',
    )
  })
})
