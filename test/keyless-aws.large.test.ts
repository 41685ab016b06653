import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { AssumeRoleWithWebIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { startFailingProxy } from '../packages/connectors/test/failing-proxy.ts'
import { startAwsTokenService } from '../packages/connectors/test/federation.ts'
import { startS3TestServer } from '../packages/connectors/test/s3-server.ts'
import { judgeS3 } from '../packages/connectors/test/s3-signature.ts'
import { rotateSigningKey } from '../packages/server/src/identity-tokens/signing-keys.ts'
import { JobHost } from '../packages/server/src/transfers/job-host.ts'
import { configuredSides } from '../packages/server/src/transfers/sides.ts'
import { firstConfiguration } from './harness/configurations.ts'
import { localFolder } from './harness/connections.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { makeTrusted, startKeyless } from './harness/keyless.ts'

/**
 * Amazon S3 without a stored key: a role of AWS trusts the sub-account. The token service of the test verifies tokens as AWS
 * describes, and AWS's own client is judged by it in the same way.
 */

const arn = 'arn:aws:iam::123456789012:role/transfer/Writer'
const audience = 'sts.amazonaws.com'
const bucket = 'people.example'
const source = connectorBySlug('amazon-s3-source')
const destination = connectorBySlug('amazon-s3-destination')

const made = makeTrusted()
const aws = await startAwsTokenService(made.trusted)
const s3 = await startS3TestServer([bucket], [{ id: 'AKIDEXAMPLE', secret: 'canary-key' }])
/** Only the newest session is valid. The store behind it does not know its host as that of AWS. */
const store = await startFailingProxy(s3.address, (request) => {
  const refused = judgeS3(aws.sessions.slice(-1))(request)
  request.headers.host = new URL(s3.address).host
  return refused
})
const keyless = await startKeyless(made, {
  'https://sts.eu-central-1.amazonaws.com': aws.url,
  'https://s3.eu-central-1.amazonaws.com': store.url,
})
const { service, caller, accountId, sql } = keyless
const client = new STSClient({ endpoint: aws.url, region: 'eu-central-1', maxAttempts: 1 })
after(async () => {
  client.destroy()
  await keyless.close()
  await store.close()
  await s3.close()
  await aws.close()
})
await caller.addConnectors(accountId, source, destination)
const withRole = { authType: 'web-identity', identityRoleArn: arn, region: 'eu-central-1' }
for (const connector of [source, destination]) await caller.expect(keyless.configure(connector, withRole))
const subject = keyless.subjectOf(accountId)
beforeEach(() => {
  aws.roles.splice(0, aws.roles.length, { arn, audience, subject })
  Object.assign(made.state, { isReachable: true, clockAheadMs: 0 })
  aws.sessionMs = 3_600_000
})

/** The answer that AWS's own client gets for a token: its subject, or the name of the error. */
const assume = (WebIdentityToken: string, RoleArn = arn): Promise<string> =>
  client.send(new AssumeRoleWithWebIdentityCommand({ RoleArn, RoleSessionName: 'own', WebIdentityToken })).then(
    ({ SubjectFromWebIdentityToken }) => SubjectFromWebIdentityToken ?? '',
    ({ name }) => name,
  )
/** The code and the message of a check that fails. */
const failureOf = async () => {
  const { ok, error, message } = await keyless.check(source)
  assert(!ok && !/canary|eyJ/.test(message), message)
  return `${error?.code}: ${message}`
}

describe('a role without a key', () => {
  test('moves files to and from a bucket, with sessions that are replaced before they end', async () => {
    for (const connector of [source, destination]) await keyless.assertWorks(connector)
    // Each session ends within the next minutes, so that every request needs another one.
    aws.sessionMs = 60_000
    const before = aws.sessions.length
    const place = `s3://${bucket}/out/`
    await keyless.movesBothWays(destination, { outputPath: place, fileFormat: 'CSV' }, source, { bucketUri: place })
    assert(aws.sessions.length - before > 4, `${aws.sessions.length - before} sessions`)
    assert.equal(aws.sessions.at(-1)?.name, subject.replaceAll(':', '-'))
    const [name = ''] = await s3.names(bucket, 'out/')
    assert.match(String(await s3.read(bucket, name)), /ada@example\.com/)
    const log = service.logLines.join('\n')
    assert(!/eyJ|canary/.test(log))
    const events = await caller.expect(caller.call('listAudit', { query: { action: 'issueIdentityToken' } }))
    assert.deepEqual(events.map((event) => [event.accountId, event.details]).at(0), [accountId, { audience }])
  })

  test('is refused by a trust policy, whose correct content the message says', async () => {
    aws.roles[0] = { arn, audience, subject: 'penstock:another:one' }
    assert.match(
      await failureOf(),
      /^invalid_credentials: .*does not let this identity take on the role.* must trust the issuer https:\/\/penstock\.example\.com with the audience sts\.amazonaws\.com and the subject penstock:[0-9a-f]{16}:[0-9a-f]{16}/,
    )
    await caller.expect(keyless.configure(source, { identityAudience: 'other' }))
    assert.match(await failureOf(), /^invalid_credentials: .*does not accept the token/)
    await caller.expect(keyless.configure(source, { identityAudience: null }))
    made.state.isReachable = false
    assert.match(await failureOf(), /^platform_error: .*could not reach the issuer/)
    made.state.isReachable = true
    made.state.clockAheadMs = 600_000
    assert.match(await failureOf(), /^invalid_credentials: .*has expired/)
    aws.failure(/POST/, { status: 503, text: 'canary' })
    assert.match(await failureOf(), /^rate_limited/)
    aws.failure(/POST/, { status: 200, text: '<canary' })
    assert.match(await failureOf(), /^malformed_response/)
  })

  test('cannot be any text, and has no endpoint', async () => {
    const wrong = [
      'rubbish',
      'arn:aws:iam::1:role/x',
      `${arn}\r\nx: 1`,
      `${arn}&Action=GetCallerIdentity`,
      'arn:aws:iam::123456789012:user/x',
      `arn:aws:iam::123456789012:role/${'x'.repeat(600)}`,
    ]
    for (const identityRoleArn of wrong) {
      const { status, details } = await keyless.configure(source, { identityRoleArn })
      assert.deepEqual([status, details[0]?.field], [400, 'body.secretConfig.identityRoleArn'], identityRoleArn)
    }
    for (const identityAudience of ['a b', 'ä', 'x'.repeat(501)]) {
      assert.equal((await keyless.configure(source, { identityAudience })).status, 400, identityAudience)
    }
    // An endpoint that was saved for a key gets nothing.
    const stranger = await startFailingProxy(s3.address)
    await caller.expect(keyless.configure(source, { endpoint: stranger.url }))
    await keyless.assertWorks(source)
    assert.deepEqual(stranger.seen, [])
    await caller.expect(keyless.configure(source, { endpoint: null }))
    await stranger.close()
  })

  test('is shown with the issuer and the subject to trust, and needs secrets:write', async () => {
    const shown = async () => {
      const { secretConfig } = await caller.expect(
        caller.call('getConnectorConfiguration', { accountId, id: source.id }),
      )
      return Object.fromEntries((secretConfig[0]?.configuration ?? []).map(({ name, value }) => [name, value]))
    }
    const { identityIssuer, identitySubject } = await shown()
    assert.deepEqual([identityIssuer, identitySubject], ['https://penstock.example.com', subject])
    await caller.expect(keyless.configure(source, { identityIssuer: identityIssuer ?? '', identitySubject: subject }))
    const other = keyless.subjectOf('f'.repeat(16))
    assert.equal((await keyless.configure(source, { identitySubject: other })).status, 400)
    const rows = await sql(`select settings::text from configurations where settings::text like '%web-identity%'`)
    assert(rows.length > 0 && rows.every(({ settings }) => !settings.includes('penstock:')))
    const { id: clientId, clientSecret } = await caller.expect(
      caller.call('createClient', { body: { name: 'Limited', scopes: ['connectors:write', 'connectors:read'] } }),
    )
    const { response } = await service.call('createToken', { body: { clientId, clientSecret } })
    const token = response.accessToken
    assert.equal((await keyless.configure(source, { ...withRole, region: 'eu-central-1' }, token)).status, 200)
    const another = { identityRoleArn: `${arn}2` }
    assert.equal((await keyless.configure(source, another, token)).status, 403)
    assert.equal((await keyless.configure(source, { authType: null }, token)).status, 403)
    // A database gets the token of its cloud, so the server is a part of what the identity signs in to.
    for (const database of [connectorBySlug('postgresql'), connectorBySlug('mysql')]) {
      await caller.addConnectors(accountId, database)
      const host = 'shop.abc123.eu-central-1.rds.amazonaws.com'
      const signIn = { host, database: 'shop', user: 'mover', authType: 'aws-iam', identityRoleArn: arn }
      await caller.expect(keyless.configure(database, signIn))
      assert.equal((await keyless.configure(database, { database: 'another' }, token)).status, 200)
      for (const change of [
        { host: 'evil.example.com' },
        { port: '15432' },
        { tlsMode: 'require' },
        { caCertificate: 'x' },
        { authType: 'google-iam' },
        { identityRoleArn: `${arn}2` },
      ]) {
        assert.equal((await keyless.configure(database, change, token)).status, 403, JSON.stringify(change))
      }
      // With a password, only the password is protected.
      const withPassword = { ...signIn, authType: 'password', identityRoleArn: null, password: 'canary' }
      await caller.expect(keyless.configure(database, withPassword))
      assert.equal((await keyless.configure(database, { user: 'another' }, token)).status, 200)
      assert.equal((await keyless.configure(database, { host: 'evil.example.com' }, token)).status, 400)
    }
  })
})

describe('a token', () => {
  test("is accepted from its sub-account by AWS's own client, and refused otherwise", async () => {
    assert.equal(await assume(await keyless.token(accountId, audience)), subject)
    const another = await keyless.addAccount()
    assert.equal(await assume(await keyless.token(another, audience)), 'AccessDenied')
    assert.equal(await assume(await keyless.token(accountId, 'another')), 'InvalidIdentityTokenException')
    const [header, , signature] = (await keyless.token(accountId, audience)).split('.')
    const [, claims] = (await keyless.token(another, audience)).split('.')
    assert.equal(await assume([header, claims, signature].join('.')), 'InvalidIdentityTokenException')
    const unsigned = Buffer.from('{"alg":"none"}').toString('base64url')
    assert.equal(await assume(`${unsigned}.${claims}.`), 'InvalidIdentityTokenException')
    const replayed = await keyless.token(accountId, audience)
    made.state.clockAheadMs = 301_000
    assert.equal(await assume(replayed), 'ExpiredTokenException')
  })

  test('of a job is of its own sub-account, for a connector that signs in by it', async () => {
    const folder = await firstConfiguration(service.database, { accountId, connectorId: localFolder.id })
    const bucketOf = await firstConfiguration(service.database, { accountId, connectorId: source.id })
    const sides = configuredSides(service.service.deps.catalogue, {
      accountId,
      srcConnectorId: source.id,
      destConnectorId: localFolder.id,
      srcConfigurationId: bucketOf.configurationId,
      destConfigurationId: folder.configurationId,
    })
    const { keyring, identityTokens } = service.service.deps
    const host = new JobHost({ database: service.database, keyring, identityTokens }, [sides.source, sides.destination])
    const { configurationId } = bucketOf
    const ask = (wanted: object | null) => host.answer('identityToken', wanted)
    const own = { slug: source.slug, configurationId, audience }
    assert.equal(await assume(String(await ask(own))), subject)
    assert.equal(await ask(own), await ask({ ...own, accountId: 'f'.repeat(16), subject: 'x' }))
    const refused = [
      null,
      { ...own, slug: destination.slug },
      { ...own, configurationId: folder.configurationId },
      { ...own, slug: localFolder.slug, configurationId: folder.configurationId },
      { ...own, audience: 'with spaces' },
      { ...own, audience: '' },
      { ...own, audience: ['x'] },
    ]
    for (const wanted of refused) await assert.rejects(ask(wanted), /a token that its job cannot have|identity token/)
    const many = Array.from({ length: 20 }, (_, index) => ask({ ...own, audience: `audience-${index}` }))
    const answers = await Promise.allSettled(many)
    assert.equal(answers.filter(({ status }) => status === 'fulfilled').length, 7)
    // Without an issuer, nothing signs.
    await assert.rejects(
      new JobHost({ database: service.database, keyring }, [sides.source]).answer('identityToken', own),
    )
  })
})

describe('the keys of the issuer', () => {
  const deps = { database: service.database, keyring: service.service.deps.keyring }
  const kidOf = (token: string): string =>
    JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString('utf8')).kid
  const published = async () =>
    (await sql('select id from signing_keys where published_until is null or published_until > now()')).length

  test('are published as OpenID Connect says, for everybody, without the private part', async () => {
    const provider = await service.send({ method: 'GET', path: '/.well-known/openid-configuration' })
    assert.equal(provider.headers['cache-control'], 'public, max-age=300')
    const { issuer, jwks_uri } = provider.json as unknown as Record<string, string>
    assert.deepEqual(
      [issuer, jwks_uri],
      ['https://penstock.example.com', 'https://penstock.example.com/.well-known/jwks.json'],
    )
    const { json } = await service.send({ method: 'GET', path: '/.well-known/jwks.json' })
    const { keys } = json as unknown as { keys: Record<string, string>[] }
    assert.deepEqual(
      keys.map((key) => Object.keys(key).sort()),
      [['alg', 'e', 'kid', 'kty', 'n', 'use']],
    )
    const [{ sealed }] = (await sql('select sealed from signing_keys')) as [{ sealed: Buffer }]
    assert(!sealed.includes(Buffer.from(keys[0]?.n ?? '', 'base64url')))
  })

  test('follow each other with overlap, by age and by command', async () => {
    const first = await keyless.token(accountId, audience)
    await sql(`update signing_keys set created_time = now() - interval '91 days'`)
    const still = await keyless.token(accountId, audience)
    assert.equal(kidOf(still), kidOf(first))
    assert.equal(await published(), 2)
    assert.equal((await rotateSigningKey(deps, 'later')).length, 3)
    // A day later.
    await sql(
      `update signing_keys set signs_from = signs_from - interval '24 hours', published_until = published_until - interval '24 hours'`,
    )
    const next = await keyless.token(accountId, audience)
    assert.notEqual(kidOf(next), kidOf(first))
    await sql(`update signing_keys set published_until = published_until - interval '2 hours'`)
    assert.equal(await published(), 1)
    // Concurrent processes that find the key old add one.
    await sql(`update signing_keys set created_time = now() - interval '91 days'`)
    await Promise.all([1, 2, 3].map(() => keyless.token(accountId, audience)))
    assert.equal(await published(), 2)
    const old = await keyless.token(accountId, audience)
    assert.equal(await assume(old), subject)
    const [now] = await rotateSigningKey(deps, 'once')
    assert.equal(await published(), 1)
    assert.equal(await assume(old), 'InvalidIdentityTokenException')
    const young = await keyless.token(accountId, audience)
    assert.deepEqual([kidOf(young), await assume(young)], [now?.id, subject])
    assert.deepEqual(await sql('select count(*)::int from signing_keys'), [{ count: 1 }])
  })
})
