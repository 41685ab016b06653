import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, describe, test } from 'node:test'
import type { Batch, ConnectorError, Json, Row, Values } from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { AwsV4Signer } from 'aws4fetch'
import { startFailingProxy } from '../../test/failing-proxy.ts'
import { collect, csvOfRows, rowsOfCsv, someRows } from '../../test/object-store-server.ts'
import { startS3TestServer } from '../../test/s3-server.ts'
import { refuse } from '../../test/s3-signature.ts'
import { checkDestination, checkSource } from './check.ts'
import { write as openDestination, open as openSource } from './files.ts'
import { makeS3Client } from './s3-client.ts'

const key = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const session = { id: 'ASIAEXAMPLE', secret: 'AnotherSecretOfAws', token: 'session//token+of=aws' }
let clockMs = 0
const s3 = await startS3TestServer(['people', 'out'], [key, session], () => Date.now() + clockMs)
after(() => s3.close())
const { proxy, secrets } = s3

const { columns, rows } = someRows(20_000)
const large = someRows(300, 90_000)

const fails = async (work: Promise<unknown> | undefined): Promise<ConnectorError> => {
  const [result] = await Promise.allSettled([work])
  assert.equal(result?.status, 'rejected')
  return result.reason as ConnectorError
}

/**
 * The error with which work fails permanently. Transient errors are retried, as the engine does: an idle connection can be
 * gone.
 */
const failsPermanently = async (work: () => Promise<unknown> | undefined): Promise<ConnectorError> => {
  const error = await fails(work())
  return error.action === 'retry' ? await failsPermanently(work) : error
}

async function readAll(bucketUri: string, options: TestContextOptions = {}): Promise<Row[]> {
  const reader = await openSource(testContext({ secrets, settings: { bucketUri }, ...options }))
  const found: Row[] = []
  for await (const chunk of reader.read()) found.push(...chunk.rows)
  await reader.close()
  return found
}

const batchOf = (from: readonly Row[], firstRow = 1): Batch => ({ key: '0', columns, rows: from, firstRow })
const openWriter = (settings: Values, options: TestContextOptions = {}) =>
  openDestination(testContext({ secrets, settings: { fileFormat: 'CSV', ...settings }, columns, ...options }))

describe('reading a bucket, against fauxqs', () => {
  test('reads the one object that has this name, those in the folder, or those that begin so', async () => {
    const put = (name: string, ...ids: string[]) => s3.put('people', name, `id\n${ids.join('\n')}\n`)
    await put('which/a.csv', '1')
    await put('which/a.csv.old.csv', '2')
    await put('which/month/01.csv', '3')
    await put('which/month-02.csv', '4')
    await put('which/month/old/00.csv', '5')
    await put('which/weeks-1.csv', '6')
    await put('which/weeks-2.ndjson.tmp', '7')
    const ids = async (uri: string) => (await readAll(uri)).map(([id]) => id).join()
    assert.equal(await ids('s3://people/which/a.csv'), '1')
    assert.equal(await ids('s3://people/which/month'), '3')
    assert.equal(await ids('s3://people/which/month-'), '4')
    assert.equal(await ids('s3://people/which/weeks'), '6')
    assert.equal(await ids('S3://people/which/'), '1,2,4,6')
    const nothing = await fails(readAll('s3://people/nothing/here/'))
    assert.deepEqual([nothing.action, nothing.code], ['reconfigure', 'object_not_found'])
    for (const uri of ['people/which', 'gs://people/a.csv', 's3://', 's3:///a.csv', 's3://no space/a.csv']) {
      assert.equal((await fails(readAll(uri))).code, 'invalid_address', uri)
    }
  })

  test('reads objects whatever characters are in their names', async () => {
    const names = [
      'a b+c.csv',
      'ä&ü <"q">.csv',
      "it's (50%) off!*.csv",
      '#1?x=y.csv',
      '日本.csv',
      '%41.csv',
      ' lead.csv',
    ]
    for (const name of names) await s3.put('people', `odd/${name}`, `name\n"${name.replaceAll('"', '""')}"\n`)
    assert.deepEqual((await readAll('s3://people/odd/')).map(([name]) => name).sort(), [...names].sort())
    for (const name of names) assert.deepEqual(await readAll(`s3://people/odd/${name}`), [[name]])
    const dots = await fails(
      makeS3Client(testContext({ secrets })).request({ bucket: 'people', key: 'a/../b', permission: 'x' }),
    )
    assert.equal(dots.code, 'invalid_file')
  })

  test('pages through more names than one answer has', async () => {
    await Promise.all(
      Array.from({ length: 1005 }, (_, index) => s3.put('people', `many/${index}.csv`, `id\n${index}\n`)),
    )
    assert.equal((await s3.names('people', 'many/')).length, 1005)
  })

  test('fails where a file is replaced while it is being read', async () => {
    await s3.put('people', 'changes/1.csv', csvOfRows(columns, rows))
    const reader = await openSource(testContext({ secrets, settings: { bucketUri: 's3://people/changes/' } }))
    const [first] = await collect(take(reader.read(), 1))
    await s3.put('people', 'changes/1.csv', csvOfRows(columns, rows.toReversed()))
    const { action, code } = await fails(collect(reader.read(first?.checkpoint ?? null)))
    assert.deepEqual([action, code], ['fail', 'source_changed'])
    await reader.close()
  })

  test('continues where a connection breaks during a read, without the same bytes twice', async () => {
    await s3.put('people', 'breaks/1.csv', csvOfRows(columns, rows))
    const seen = proxy.seen.length
    proxy.failure = {
      what: { breaksAfterBytes: 700_000 },
      of: ({ url }) => url.startsWith('/people/breaks/1.csv'),
      times: 2,
    }
    assert.deepEqual(await readAll('s3://people/breaks/'), rows)
    const asked = proxy.seen.slice(seen).filter((each) => each.startsWith('GET /people/breaks/1.csv'))
    assert.ok(asked.length >= 3, asked.join())
  })

  test('reads one object with a key that may not list', async () => {
    await s3.put('people', 'alone/1.csv', csvOfRows(columns, rows.slice(0, 3)))
    proxy.failure = { what: refuse(403, 'AccessDenied'), of: ({ url }) => url.includes('list-type=2') }
    assert.deepEqual(await readAll('s3://people/alone/1.csv'), rows.slice(0, 3))
    assert.equal((await fails(readAll('s3://people/alone/'))).code, 'permission_denied')
    proxy.failure = undefined
  })
})

describe('writing to a bucket, against fauxqs', () => {
  test('names the object after the path, the day, the time and the transfer', async () => {
    for (const [outputPath, settings, name] of [
      ['s3://out/a/dt={{yyyy}}/{{MM}}/{{dd}}/{{HH}}/', {}, 'a/dt=2026/01/31/12/20260131T120000Z-0f1e2d3c4b5a6978.csv'],
      ['s3://out/a/{{date}}', {}, 'a/2026-01-31/20260131T120000Z-0f1e2d3c4b5a6978.csv'],
      ['s3://out/b/', { fileFormat: 'NDJSON', gzip: true }, 'b/20260131T120000Z-0f1e2d3c4b5a6978.ndjson.gz'],
      ['s3://out/c/people.csv', { gzip: true }, 'c/people-20260131T120000Z-0f1e2d3c4b5a6978.csv.gz'],
    ] as const) {
      const writer = await openWriter({ outputPath, ...settings })
      await writer.deliver(batchOf(rows.slice(0, 5)))
      await writer.flush?.()
      await writer.finish?.()
      await writer.close?.()
      const folder = name.slice(0, name.lastIndexOf('/') + 1)
      assert.deepEqual(await s3.names('out', folder), [name])
    }
  })

  test('sends the MD5 of all that it writes, without which a bucket with Object Lock takes nothing', async () => {
    const writer = await openWriter({ outputPath: 's3://out/locked/' })
    await writer.deliver(batchOf(large.rows.slice(0, 150)))
    await writer.finish?.()
    assert.equal((await s3.names('out', 'locked/')).length, 1)
    for (const [md5, code] of [
      [undefined, 'InvalidRequest'],
      ['MDAwMDAwMDAwMDAwMDAwMA==', 'BadDigest'],
    ] as const) {
      const body = 'id'
      const signer = new AwsV4Signer({
        accessKeyId: key.id,
        secretAccessKey: key.secret,
        region: 'us-east-1',
        service: 's3',
        method: 'PUT',
        url: `${proxy.url}/out/locked`,
        body,
        headers: {
          'x-amz-content-sha256': createHash('sha256').update(body).digest('hex'),
          ...(md5 === undefined ? {} : { 'content-md5': md5 }),
        },
      })
      const { url, headers } = await signer.sign()
      const response = await fetch(url, { method: 'PUT', headers, body })
      assert.deepEqual([response.status, (await response.text()).includes(`<Code>${code}</Code>`)], [400, true])
    }
  })

  test('knows that an upload was completed whose answer was lost', async () => {
    const path = { outputPath: 's3://out/lost/' }
    const writer = await openWriter(path)
    const deliveryStates: Json[] = []
    for (const half of [large.rows.slice(0, 150), large.rows.slice(150)]) {
      const { deliveryState } = await writer.deliver(batchOf(half))
      if (deliveryState !== undefined) deliveryStates.push(deliveryState)
    }
    assert.equal(deliveryStates.length, 2)
    await writer.finish?.()
    const again = await openWriter(path, { deliveryStates: JSON.parse(JSON.stringify(deliveryStates)) })
    await again.finish?.()
    const [name = ''] = await s3.names('out', 'lost/')
    assert.deepEqual(rowsOfCsv(await s3.read('out', name)), large.rows)
    // An object that another writer made is not mistaken for it.
    await s3.put('out', name, 'another')
    assert.equal((await failsPermanently(() => again.finish?.())).code, 'upload_lost')
  })

  test('takes an error for one that comes in the body of a success', async () => {
    const writer = await openWriter({ outputPath: 's3://out/late/' })
    await writer.deliver(batchOf(rows.slice(0, 5)))
    await writer.flush?.()
    const body = '<?xml version="1.0"?>\n   \n<Error><Code>InternalError</Code><Message>We…</Message></Error>'
    proxy.failure = {
      what: { status: 200, body },
      of: ({ method, url }) => method === 'POST' && url.includes('uploadId'),
    }
    assert.equal((await fails(writer.finish?.())).action, 'retry')
    proxy.failure = undefined
    await writer.finish?.()
    assert.equal((await s3.names('out', 'late/')).length, 1)
  })

  test('leaves no upload behind: neither of an abort, nor of an attempt that was killed before its first delivery state', async () => {
    const before = s3.uploads()
    const path = { outputPath: 's3://out/killed/' }
    const killed = await openWriter(path)
    await killed.deliver(batchOf(large.rows.slice(0, 150)))
    assert.equal(s3.uploads(), before + 1)
    const stop = new AbortController()
    const next = await openWriter(path, { signal: stop.signal })
    await next.deliver(batchOf(large.rows.slice(0, 150)))
    assert.equal(s3.uploads(), before + 1)
    stop.abort()
    await next.close?.()
    await (await openWriter(path)).abort?.()
    assert.equal(s3.uploads(), before)
    assert.deepEqual(await s3.names('out', 'killed/'), [])
  })
})

describe('signing in to S3', () => {
  test('sends the token of a session, and says when the session has ended', async () => {
    const known = { ...secrets, accessKeyId: session.id, secretAccessKey: session.secret, sessionToken: session.token }
    const steps = await checkSource(testContext({ secrets: known, settings: { bucketUri: 's3://people/' } }))
    assert.deepEqual(
      steps.map(({ ok }) => ok),
      [true, true, true],
    )
    const ended = { ...known, sessionToken: 'a token of yesterday' }
    const [, signIn] = await checkSource(testContext({ secrets: ended }))
    assert.match(signIn?.message ?? '', /session of the access key has ended/)
  })

  test('repeats nothing of an answer that holds a secret, or is not a name of an error', async () => {
    const known = { ...secrets, accessKeyId: session.id, secretAccessKey: session.secret, sessionToken: session.token }
    const withText = { 'a secret': session.secret, 'a token': session.token, 'a page': 'Oh '.repeat(300) }
    for (const [name, text] of Object.entries(withText)) {
      for (const status of [400, 403, 500]) {
        proxy.failure = { what: refuse(status, text) }
        const { message } = await fails(readAll('s3://people/a.csv', { secrets: known }))
        assert.ok(!message.includes(text.slice(0, 12)), `${name}: ${message}`)
      }
    }
    proxy.failure = undefined
  })

  test('distinguishes a clock that is off from a wrong key', async () => {
    clockMs = 20 * 60_000
    assert.equal((await fails(readAll('s3://people/which/'))).code, 'clock_skewed')
    clockMs = 0
  })

  test('checks that it may write, and leaves nothing', async () => {
    const before = s3.uploads()
    const context = testContext({ secrets, settings: { outputPath: 's3://out/exports/', fileFormat: 'CSV' } })
    assert.deepEqual(
      (await checkDestination(context)).map(({ ok }) => ok),
      [true, true, true],
    )
    assert.equal(s3.uploads(), before)
    proxy.failure = { what: refuse(403, 'AccessDenied'), of: ({ url }) => url.includes('uploads') }
    const steps = await checkDestination(context)
    proxy.failure = undefined
    assert.deepEqual(
      steps.map(({ ok }) => ok),
      [true, true, false],
    )
    assert.match(steps[2]?.message ?? '', /bucket out \(s3:PutObject; AccessDenied\)/)
  })

  test('refuses endpoints and regions that lead elsewhere', async () => {
    for (const [field, value, code] of [
      ['endpoint', 'not an address', 'invalid_address'],
      ['endpoint', 'ftp://store.example.com', 'invalid_address'],
      ['endpoint', 'https://store.example.com/?x=y', 'invalid_address'],
      ['region', 'eu-west-1.example.com/', 'invalid_address'],
    ] as const) {
      const work = readAll('s3://people/a.csv', { secrets: { ...secrets, [field]: value } })
      assert.equal((await fails(work)).code, code, value)
    }
  })
})

describe('finding the region of a bucket, against a server that answers as AWS does', () => {
  const origins = ['us-east-1', 'eu-central-1'].map((region) => `https://people.s3.${region}.amazonaws.com`)
  const wrongRegion = {
    'says so with 301 and a header': refuse(301, 'PermanentRedirect', '', { 'x-amz-bucket-region': 'eu-central-1' }),
    'says so with 400 and in the body': refuse(400, 'AuthorizationHeaderMalformed', '<Region>eu-central-1</Region>'),
    'answers HEAD and has no body': { status: 400, headers: { 'x-amz-bucket-region': 'eu-central-1' } },
  }
  for (const [name, answer] of Object.entries(wrongRegion)) {
    test(`goes to the region of the bucket where S3 ${name}`, async () => {
      const aws = await startFailingProxy(s3.address, ({ headers }) => {
        const isThere =
          headers.host === 'people.s3.eu-central-1.amazonaws.com' &&
          headers.authorization?.includes('/eu-central-1/s3/')
        return isThere
          ? { status: 200, body: '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>' }
          : answer
      })
      const routes = Object.fromEntries(origins.map((origin) => [origin, aws.url]))
      const client = makeS3Client(
        testContext({ secrets: { accessKeyId: key.id, secretAccessKey: key.secret }, routes }),
      )
      const asked = { bucket: 'people', query: { 'list-type': '2' }, permission: 's3:ListBucket' }
      assert.equal((await client.request(asked)).status, 200)
      assert.equal((await client.request(asked)).status, 200)
      assert.equal(aws.seen.length, 3, 'it caches the region')
      await aws.close()
    })
  }
})

async function* take<Value>(values: AsyncIterable<Value>, count: number): AsyncGenerator<Value> {
  let taken = 0
  for await (const value of values) {
    yield value
    if (++taken === count) return
  }
}
