import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { ConnectorError, Json, Row, Values } from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { startGcsServer } from '../../test/gcs-server.ts'
import { collect, csvOfRows, rowsOfCsv, someRows } from '../../test/object-store-server.ts'
import { checkDestination, checkSource } from './check.ts'
import { write as openDestination, open as openSource } from './files.ts'
import { makeGcsClient } from './gcs-client.ts'
import { gcsCompose } from './gcs-compose.ts'

const gcs = await startGcsServer(['people', 'out'])
after(() => gcs.close())
const { proxy, routes } = gcs
const secrets = { jsonKey: gcs.jsonKey }
const out = gcs.buckets.get('out') ?? new Map<string, never>()
const { columns, rows } = someRows(20_000)
beforeEach(() => out.clear())

const fails = async (work: Promise<unknown> | undefined): Promise<ConnectorError> => {
  const [result] = await Promise.allSettled([work])
  assert.equal(result?.status, 'rejected')
  return result.reason as ConnectorError
}

async function readAll(bucketUri: string, options: TestContextOptions = {}): Promise<Row[]> {
  const reader = await openSource(testContext({ secrets, routes, settings: { bucketUri }, ...options }))
  const chunks = await collect(reader.read())
  await reader.close()
  return chunks.flatMap((chunk) => chunk.rows)
}

const openWriter = (settings: Values, options: TestContextOptions = {}) =>
  openDestination(testContext({ secrets, routes, settings, columns, ...options }))

async function write(settings: Values, some: readonly Row[], options: TestContextOptions = {}): Promise<void> {
  const writer = await openWriter(settings, options)
  await writer.deliver({ key: '0', columns, rows: some, firstRow: 1 })
  await writer.flush?.()
  await writer.finish?.()
  await writer.close?.()
}

const testServer = 'against a server that keeps to the rules of Google Cloud Storage'

describe(`reading a bucket of Google, ${testServer}`, () => {
  test('pages through names, of which some pages have none but folders', async () => {
    gcs.pageSize = 3
    for (let index = 0; index < 10; index++) {
      gcs.put('people', `many/${index}.csv`, `id\n${index}\n`)
      gcs.put('people', `many/1/${index}.csv`, 'id\n99\n')
    }
    assert.equal((await readAll('gs://people/many/')).length, 10)
    gcs.pageSize = 1000
  })

  test('reads objects whatever characters are in their names', async () => {
    const names = [
      'a b+c.csv',
      'ä&ü <"q">.csv',
      "it's (50%) off!*.csv",
      '#1?x=y.csv',
      '日本.csv',
      '%41.csv',
      'a/../b.csv',
    ]
    for (const name of names) {
      gcs.put('people', `odd/${name}`, `name\n"${name.replaceAll('"', '""')}"\n`)
      assert.deepEqual(await readAll(`gs://people/odd/${name}`), [[name]])
    }
  })

  test('fails where an object is replaced while it is being read, and reads on where a connection breaks', async () => {
    gcs.put('people', 'changes/1.csv', csvOfRows(columns, rows))
    const bucketUri = 'gs://people/changes/'
    proxy.failure = { what: { breaksAfterBytes: 700_000 }, of: ({ url }) => url.includes('alt=media'), times: 2 }
    assert.deepEqual(await readAll(bucketUri), rows)
    const reader = await openSource(testContext({ secrets, routes, settings: { bucketUri } }))
    const [first] = await collect(reader.read())
    gcs.put('people', 'changes/1.csv', csvOfRows(columns, rows.toReversed()))
    const { action, code } = await fails(collect(reader.read(first?.checkpoint ?? null)))
    assert.deepEqual([action, code], ['fail', 'source_changed'])
    await reader.close()
  })
})

describe(`writing to a bucket of Google, ${testServer}`, () => {
  test('puts together more parts than Google does at once, level by level, and leaves none of them', async () => {
    const client = makeGcsClient(testContext({ secrets, routes }), 'out')
    const target = {
      name: 'large/people.csv',
      abortedName: 'large/people-1.csv',
      contentType: 'text/csv',
      transferId: 'many-parts',
    }
    const parts = Array.from({ length: 1_100 }, (_, number) => `part ${number}\n`)
    const sink = gcsCompose(client, target)
    const deliveryStates: Json[] = []
    for (const [number, part] of parts.entries()) {
      deliveryStates.push(await sink.writePart({ number, offset: 0, bytes: Buffer.from(part) }, deliveryStates))
    }
    assert.equal(out.has('large/people.csv'), false)
    await sink.publish(JSON.parse(JSON.stringify(deliveryStates)))
    assert.deepEqual([...out.keys()], ['large/people.csv'])
    assert.equal(String(out.get('large/people.csv')?.bytes), parts.join(''))
  })

  test('knows that the object was put together where the answer was lost, and takes the parts away', async () => {
    const outputPath = 'gs://out/lost/people.csv'
    const writer = await openWriter({ outputPath })
    await writer.deliver({ key: '0', columns, rows: rows.slice(0, 5), firstRow: 1 })
    await writer.flush?.()
    proxy.failure = { what: 'loses the answer', of: ({ url }) => url.endsWith('/compose') }
    assert.equal((await fails(writer.finish?.())).action, 'retry')
    proxy.failure = undefined
    const before = out.get('lost/people.csv')
    assert.ok(before)
    await writer.finish?.()
    assert.equal(out.get('lost/people.csv'), before)
    assert.deepEqual([...out.keys()], ['lost/people.csv'])
  })

  test('replaces the object of the name that was given, with the ending of its content', async () => {
    const outputPath = 'gs://out/named/{{date}}/people.csv'
    await write({ outputPath }, rows.slice(0, 5))
    await write({ outputPath }, rows.slice(5, 10), { transferId: 'another' })
    await write({ outputPath, fileFormat: 'NDJSON', gzipOutput: true }, rows.slice(0, 5))
    const folder = 'named/2026-01-31/'
    assert.deepEqual([...out.keys()].sort(), [`${folder}people.csv`, `${folder}people.ndjson.gz`])
    assert.deepEqual(rowsOfCsv(out.get(`${folder}people.csv`)?.bytes ?? Buffer.alloc(0)), rows.slice(5, 10))
  })

  test('replaces no object with the rows of a test', async () => {
    const outputPath = 'gs://out/tested/people.csv'
    await write({ outputPath }, rows.slice(0, 5))
    await write({ outputPath }, rows.slice(5, 6), { transferId: 'another', test: true })
    const names = [...out.keys()].filter((name) => name.startsWith('tested/')).sort()
    assert.deepEqual(names, ['tested/people-20260131T120000Z-another.csv', 'tested/people.csv'])
    assert.deepEqual(rowsOfCsv(out.get('tested/people.csv')?.bytes ?? Buffer.alloc(0)), rows.slice(0, 5))
  })

  test('keeps what an aborted transfer confirmed, and replaces no object of an earlier one with it', async () => {
    const outputPath = 'gs://out/aborted/people.csv'
    await write({ outputPath }, rows.slice(0, 5), { transferId: 'earlier' })
    const large = someRows(100, 90_000)
    const writer = await openWriter({ outputPath })
    const { deliveryState } = await writer.deliver({ key: '0', columns, rows: large.rows, firstRow: 1 })
    assert.ok(deliveryState)
    await writer.deliver({ key: '1', columns, rows: large.rows, firstRow: 101 })
    for (let time = 0; time < 2; time++)
      await (await openWriter({ outputPath }, { deliveryStates: [deliveryState] })).abort?.()
    const kept = 'aborted/people-20260131T120000Z-0f1e2d3c4b5a6978.csv'
    assert.deepEqual([...out.keys()].sort(), [kept, 'aborted/people.csv'])
    assert.deepEqual(rowsOfCsv(out.get(kept)?.bytes ?? Buffer.alloc(0)), large.rows)
    assert.deepEqual(rowsOfCsv(out.get('aborted/people.csv')?.bytes ?? Buffer.alloc(0)), rows.slice(0, 5))
  })

  test('leaves nothing of an abort where nothing was confirmed', async () => {
    const outputPath = 'gs://out/aborted/'
    const writer = await openWriter({ outputPath })
    await writer.deliver({ key: '0', columns, rows: someRows(100, 90_000).rows, firstRow: 1 })
    assert.equal(out.size, 1)
    await (await openWriter({ outputPath })).abort?.()
    assert.equal(out.size, 0)
  })

  test('says so where parts are gone', async () => {
    const deliveryState = { end: 9, sink: { name: 'gone/.penstock/x/0-000000', generation: '1' } }
    const writer = await openWriter({ outputPath: 'gs://out/gone/' }, { deliveryStates: [deliveryState] })
    const { action, code } = await fails(writer.finish?.())
    assert.deepEqual([action, code], ['fail', 'upload_lost'])
  })
})

describe(`signing in to Google, ${testServer}`, () => {
  test('asks for one token, and for another one once that is not accepted any more', async () => {
    gcs.put('people', 'tokens/1.csv', csvOfRows(columns, rows))
    const before = gcs.tokensGiven
    const settings = { bucketUri: 'gs://people/tokens/' }
    const reader = await openSource(testContext({ secrets, routes, settings }))
    assert.equal((await collect(reader.read())).flatMap((chunk) => chunk.rows).length, rows.length)
    assert.equal(gcs.tokensGiven, before + 1)
    gcs.expireTokens()
    assert.equal((await collect(reader.read())).flatMap((chunk) => chunk.rows).length, rows.length)
    assert.equal(gcs.tokensGiven, before + 2)
    await reader.close()
    proxy.failure = { what: { status: 401 }, of: ({ headers }) => headers.host === 'storage.googleapis.com' }
    const { action, code } = await fails(readAll('gs://people/tokens/'))
    proxy.failure = undefined
    assert.deepEqual([action, code], ['reauthenticate', 'invalid_credentials'])
  })

  test('refuses keys that are none, without quoting them', async () => {
    const whole = JSON.parse(gcs.jsonKey)
    for (const jsonKey of [
      'canary',
      '"canary"',
      'null',
      JSON.stringify({ ...whole, type: 'authorized_user' }),
      JSON.stringify({ ...whole, private_key: '-----BEGIN PRIVATE KEY-----\ncanary\n-----END PRIVATE KEY-----\n' }),
    ]) {
      const error = await fails(readAll('gs://people/tokens/', { secrets: { jsonKey } }))
      assert.deepEqual([error.action, error.code], ['reauthenticate', 'invalid_credentials'])
      assert.doesNotMatch(String(error.stack) + JSON.stringify(error), /canary/)
    }
  })

  test('gets tokens from Google only, whatever the key says', async () => {
    const jsonKey = JSON.stringify({ ...JSON.parse(gcs.jsonKey), token_uri: 'http://127.0.0.1:1/token' })
    const steps = await checkSource(testContext({ secrets: { jsonKey }, routes }))
    assert.deepEqual(
      steps.map(({ ok }) => ok),
      [true, true, true],
    )
  })

  test('checks the permissions of the service account, and names those that it lacks', async () => {
    const settings = { bucketUri: 'gs://people/', outputPath: 'gs://out/' }
    const context = testContext({ secrets, routes, settings })
    assert.deepEqual(
      (await checkSource(context)).map(({ ok }) => ok),
      [true, true, true],
    )
    assert.deepEqual(
      (await checkDestination(context)).map(({ ok }) => ok),
      [true, true, true],
    )
    gcs.permissions.delete('storage.objects.delete')
    const steps = await checkDestination(context)
    gcs.permissions.add('storage.objects.delete')
    assert.deepEqual(
      steps.map(({ ok }) => ok),
      [true, true, false],
    )
    assert.match(steps[2]?.message ?? '', /lacks permissions in the bucket out: storage\.objects\.delete\./)
    assert.equal(out.size, 0)
  })
})
