import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Batch, ConnectorError, Row, Values } from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { startAzureTestServer } from '../../test/azure-server.ts'
import { collect, csvOfRows, rowsOfCsv, someRows } from '../../test/object-store-server.ts'
import { checkDestination, checkSource } from './check.ts'
import { locate } from './container.ts'
import { write as openDestination, open as openSource } from './files.ts'

const azure = await startAzureTestServer(['people', 'out'])
after(() => azure.close())
const { proxy, secrets, routes } = azure
const { columns, rows } = someRows(20_000)
const bySignature = (container: string, permissions: string, until?: Date): Values => ({
  authType: 'sas-url',
  sasUrl: azure.sasUrl(container, permissions, until),
})

const fails = async (work: Promise<unknown> | undefined): Promise<ConnectorError> => {
  const [result] = await Promise.allSettled([work])
  assert.equal(result?.status, 'rejected')
  return result.reason as ConnectorError
}

async function readAll(blobUri: string, options: TestContextOptions = {}): Promise<Row[]> {
  const reader = await openSource(testContext({ secrets, routes, settings: { blobUri }, ...options }))
  const chunks = await collect(reader.read())
  await reader.close()
  return chunks.flatMap((chunk) => chunk.rows)
}

const batchOf = (from: readonly Row[]): Batch => ({ key: '0', columns, rows: from, firstRow: 1 })
const openWriter = (settings: Values, options: TestContextOptions = {}) =>
  openDestination(testContext({ secrets, routes, settings, columns, ...options }))

async function write(settings: Values, some: readonly Row[], options: TestContextOptions = {}): Promise<void> {
  const writer = await openWriter(settings, options)
  await writer.deliver(batchOf(some))
  await writer.flush?.()
  await writer.finish?.()
  await writer.close?.()
}

describe('reading a container, against azurite', () => {
  test('reads blobs whatever characters are in their names', async () => {
    const names = ['a b+c.csv', 'ä&ü <"q">.csv', "it's (50%) off!*.csv", '#1?x=y.csv', '日本.csv', '%41.csv']
    for (const name of names) await azure.put('people', `odd/${name}`, `name\n"${name.replaceAll('"', '""')}"\n`)
    assert.deepEqual((await readAll(`${azure.address('people')}odd`)).map(([name]) => name).sort(), [...names].sort())
    for (const name of names) {
      assert.deepEqual(await readAll(`${azure.address('people')}odd/${encodeURIComponent(name)}`), [[name]])
    }
  })

  test('pages through more names than one answer has', async () => {
    for (let index = 0; index < 25; index++) await azure.put('people', `many/${index}.csv`, `id\n${index}\n`)
    // An answer has 1,000 names unless fewer are requested, and this kind of signature does not cover that parameter.
    proxy.rewrite = (url) => url.replace('maxresults=1000', 'maxresults=10')
    const seen = proxy.seen.length
    assert.equal((await readAll('many/', { secrets: bySignature('people', 'rl') })).length, 25)
    proxy.rewrite = (url) => url
    assert.equal(proxy.seen.slice(seen).filter((asked) => asked.includes('comp=list')).length, 3)
  })

  test('fails where a blob is replaced while it is being read, and reads on where a connection breaks', async () => {
    await azure.put('people', 'changes/1.csv', csvOfRows(columns, rows))
    proxy.failure = { what: { breaksAfterBytes: 700_000 }, of: ({ url }) => url.includes('/changes/1.csv'), times: 2 }
    const settings = { blobUri: `${azure.address('people')}changes/1.csv` }
    assert.deepEqual(await readAll(settings.blobUri), rows)
    const reader = await openSource(testContext({ secrets, routes, settings }))
    const [first] = await collect(reader.read())
    await azure.put('people', 'changes/1.csv', csvOfRows(columns, rows.toReversed()))
    const { action, code } = await fails(collect(reader.read(first?.checkpoint ?? null)))
    assert.deepEqual([action, code], ['fail', 'source_changed'])
    await reader.close()
  })
})

describe('writing to a container, against azurite', () => {
  test('replaces the blob of the name that was given, with the ending of its content', async () => {
    const outputPath = `${azure.address('out')}named/{{date}}/people.csv`
    await write({ outputPath }, rows.slice(0, 5))
    await write({ outputPath }, rows.slice(5, 10), { transferId: 'another' })
    await write({ outputPath, fileFormat: 'NDJSON', gzipOutput: true }, rows.slice(0, 5))
    const folder = 'named/2026-01-31/'
    assert.deepEqual(await azure.names('out', folder), [`${folder}people.csv`, `${folder}people.ndjson.gz`])
    assert.deepEqual(rowsOfCsv(await azure.read('out', `${folder}people.csv`)), rows.slice(5, 10))
  })

  test('replaces no blob with the rows of a test', async () => {
    const outputPath = `${azure.address('out')}tested/people.csv`
    await write({ outputPath }, rows.slice(0, 5))
    await write({ outputPath }, rows.slice(5, 6), { transferId: 'another', test: true })
    const names = await azure.names('out', 'tested/')
    assert.deepEqual(names, ['tested/people-20260131T120000Z-another.csv', 'tested/people.csv'])
    assert.deepEqual(rowsOfCsv(await azure.read('out', 'tested/people.csv')), rows.slice(0, 5))
  })

  test('replaces no blob of an earlier transfer with what an aborted one confirmed', async () => {
    const outputPath = `${azure.address('out')}aborted/people.csv`
    const large = someRows(600, 20_000).rows
    const abortAfterOne = async () => {
      const { deliveryState } = await (await openWriter({ outputPath })).deliver(batchOf(large))
      assert.ok(deliveryState)
      await (await openWriter({ outputPath }, { deliveryStates: [deliveryState] })).abort?.()
    }
    await abortAfterOne()
    assert.deepEqual(rowsOfCsv(await azure.read('out', 'aborted/people.csv')), large)
    await write({ outputPath }, rows.slice(0, 5))
    await abortAfterOne()
    assert.deepEqual(rowsOfCsv(await azure.read('out', 'aborted/people.csv')), rows.slice(0, 5))
  })

  test('says so where the blocks of a blob are gone', async () => {
    // Azure deletes uncommitted blocks after a week, and when another client writes the same blob.
    const writer = await openWriter(
      { outputPath: `${azure.address('out')}gone/` },
      { deliveryStates: [{ end: 9, sink: { block: 0 } }] },
    )
    const { action, code } = await fails(writer.finish?.())
    assert.deepEqual([action, code], ['fail', 'upload_lost'])
    assert.deepEqual(await azure.names('out', 'gone/'), [])
  })
})

describe('signing in to Azure, against azurite', () => {
  test('reads and writes with signatures that allow just that', async () => {
    const writes = bySignature('out', 'cw')
    await write({ outputPath: 'by-signature/' }, rows.slice(0, 5), { secrets: writes })
    const name = 'by-signature/20260131T120000Z-0f1e2d3c4b5a6978.csv'
    assert.deepEqual(await azure.names('out', 'by-signature/'), [name])
    assert.deepEqual(await readAll('by-signature/', { secrets: bySignature('out', 'rl') }), rows.slice(0, 5))
    assert.deepEqual(await readAll(name, { secrets: bySignature('out', 'r') }), rows.slice(0, 5))
    assert.equal((await fails(readAll('by-signature/', { secrets: writes }))).code, 'permission_denied')
    await write({ outputPath: 'more' }, rows.slice(0, 5), { secrets: { ...writes, defaultPath: 'by-default' } })
    assert.equal((await azure.names('out', 'by-default/more/')).length, 1)
  })

  test('says that a signature has expired, without a request', async () => {
    const ended = bySignature('out', 'rl', new Date('2026-01-01'))
    const { action, code, message } = await fails(readAll('by-signature/', { secrets: ended }))
    assert.deepEqual([action, code], ['reauthenticate', 'expired_credentials'])
    assert.match(message, /since 2026-01-01T00:00:00.000Z/)
  })

  test('checks what signatures and keys allow, and leaves nothing to be seen', async () => {
    const ok = async (check: typeof checkSource, options: TestContextOptions) =>
      (await check(testContext({ routes, ...options }))).map((step) => step.ok)
    const settings = { outputPath: `${azure.address('out')}exports/`, blobUri: `${azure.address('out')}exports/` }
    assert.deepEqual(await ok(checkSource, { secrets, settings }), [true, true, true])
    assert.deepEqual(await ok(checkDestination, { secrets, settings }), [true, true, true])
    assert.deepEqual(await ok(checkDestination, { secrets: bySignature('out', 'cw') }), [true, true, true])
    assert.deepEqual(await ok(checkDestination, { secrets: bySignature('out', 'rl') }), [true, true, false])
    assert.deepEqual(await ok(checkSource, { secrets: bySignature('out', 'cw') }), [true, true, false])
    assert.deepEqual(await azure.names('out', 'exports/'), [])
    assert.deepEqual(
      (await azure.names('out', '')).filter((name) => name.includes('check')),
      [],
    )
  })

  test('sends a signature nowhere but to the container that it is for', () => {
    const at = (given: string, of: Values = bySignature('out', 'rl')) =>
      locate(testContext({ secrets: of }), given, 'The path').path
    assert.equal(at(`${azure.address('out')}a/b%20c.csv`), 'a/b c.csv')
    for (const [given, of] of [
      ['https://evil.example.com/out/a.csv'],
      [azure.address('people')],
      [`${azure.address('out')}a.csv?sig=x`],
      ['https://devstoreaccount1.blob.core.windows.net.example.com/out/', secrets],
      ['https://devstoreaccount1.blob.core.windows.net/Not_A_Container/a.csv', secrets],
      ['', secrets],
    ] as const) {
      assert.throws(() => at(given, of), { action: 'reconfigure', code: 'invalid_address' }, given)
    }
    const emulator = {
      authType: 'account-key',
      accountName: 'http://127.0.0.1:10000/devstoreaccount1',
      accessKey: String(secrets.accessKey),
    }
    assert.equal(at('http://127.0.0.1:10000/devstoreaccount1/out/a.csv', emulator), 'a.csv')
    assert.equal(at('out/a.csv', emulator), 'a.csv')
  })
})
