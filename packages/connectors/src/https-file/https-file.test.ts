import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Chunk, ConnectorError, SourceReader, Values } from '@penstock/connector'
import { acceptSource, type ServerError, type SourceAcceptance, testContext } from '@penstock/connector/acceptance'
import { type FileFailure, type ServedFile, startFileServer } from '../../test/file-server.ts'
import { addressOf } from './address.ts'
import { httpsFile } from './https-file.ts'

const server = await startFileServer()
after(() => server.close())

const columns = ['id', 'email', 'note']
const rows = Array.from({ length: 60_000 }, (_, index) => [`${index}`, `person${index}@example.com`, `"${index}", Zoë`])
const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`
const csv = Buffer.from([columns, ...rows].map((row) => `${row.map(quoted).join(',')}\r\n`).join(''))

let reached: Promise<unknown> = Promise.resolve()
const problem = (
  name: string,
  what: FileFailure,
  expected: Omit<ServerError, 'name' | 'start' | 'stop'>,
): ServerError => ({
  name,
  ...expected,
  start: () => {
    server.failure = what
  },
  stop: () => {
    server.failure = undefined
  },
})
const again = { action: 'retry' } as const
const errors = [
  problem(
    'answers 429 and asks to wait 7 seconds',
    { status: 429, headers: { 'retry-after': '7' } },
    { ...again, code: 'rate_limited', afterMs: 7000 },
  ),
  problem('answers 503', { status: 503 }, { ...again, code: 'platform_error' }),
  problem('closes the connection midway', { breaksAfterBytes: 100_000 }, { ...again, code: 'connection_lost' }),
  problem('answers 403', { status: 403 }, { action: 'reauthenticate', code: 'invalid_credentials' }),
  problem('answers 451', { status: 451 }, { action: 'reconfigure', code: 'invalid_address' }),
]

const basic = `Basic ${Buffer.from('reader:canary-password').toString('base64')}`
function acceptFile(
  testServer: string,
  path: string,
  served: ServedFile,
  credentials: { secrets: Values; wrong: Values },
): void {
  server.files.set(path, served)
  const url = `${server.origin}${path.replace(/\?.*/, '')}`
  acceptSource({
    connector: httpsFile,
    testServer,
    columns,
    rows,
    errors,
    secrets: { url, ...credentials.secrets },
    wrongSecrets: { url, ...credentials.wrong },
    settings: {},
    missing: { path: 'nothing-here.csv' },
    hang: {
      start: () => {
        server.failure = { hangs: true }
        reached = server.hanging()
      },
      reached: () => reached,
      stop: () => {
        server.failure = undefined
      },
    },
  } satisfies SourceAcceptance)
}

const bearer = (bearerToken: string) => ({ authentication: 'bearer token', bearerToken })
acceptFile(
  'a web server that knows ranges, and a bearer token',
  '/files/people.csv',
  { bytes: csv, ranges: true, etag: '"v1"', authorization: 'Bearer canary-token' },
  { secrets: bearer('canary-token'), wrong: bearer('canary-other') },
)
const password = (given: string) => ({ authentication: 'user name and password', username: 'reader', password: given })
acceptFile(
  'a web server that knows no ranges, and a password',
  '/whole/people.csv',
  { bytes: csv, lastModified: 'Sat, 31 Jan 2026 12:00:00 GMT', authorization: basic },
  { secrets: password('canary-password'), wrong: password('canary-wrong') },
)
acceptFile(
  'a web server that sends a compressed file in chunks of which it does not say how many, under another name',
  '/export?format=people&key=canary-query',
  {
    bytes: gzipSync(csv),
    lengthless: true,
    headers: { 'content-type': 'application/gzip', 'content-disposition': 'attachment; filename="people.csv.gz"' },
  },
  {
    secrets: { secretQuery: 'format=people&key=canary-query' },
    wrong: { secretQuery: 'format=people&key=canary-wrong' },
  },
)

describe('an HTTPS file, against a web server', () => {
  const secretsOf = (path: string) => ({ url: `${server.origin}${path}` })
  const read = async (secrets: Values, settings: Values = {}, each: (chunk: Chunk) => void = () => {}) => {
    assert.ok(httpsFile.source?.open)
    const reader = await httpsFile.source.open(testContext({ secrets, settings }))
    try {
      for await (const chunk of reader.read()) each(chunk)
    } finally {
      await reader.close()
    }
  }
  const codeOf = async (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: ConnectorError) => [error.action, error.code],
    )

  test('continues with the missing range, and not from the beginning', async () => {
    server.files.set('/range.csv', { bytes: csv, ranges: true, etag: '"v1"' })
    assert.ok(httpsFile.source?.open)
    const reader = await httpsFile.source.open(testContext({ secrets: secretsOf('/range.csv') }))
    const checkpoints: Chunk[] = []
    for await (const chunk of reader.read()) checkpoints.push(chunk)
    server.requests.length = 0
    for await (const _ of reader.read(checkpoints.at(-2)?.checkpoint ?? null)) break
    await reader.close()
    const ranges = server.requests.map(({ range }) => Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0))
    assert.ok(Math.max(...ranges) > csv.length / 2, JSON.stringify(server.requests))
  })

  test('notices a file that was replaced, even during reading', async () => {
    for (const [mark, ranges] of [
      ['etag', true],
      ['lastModified', false],
      ['', false],
      ['', true],
    ] as const) {
      const serve = (version: string, bytes: Uint8Array) =>
        server.files.set('/changing.csv', { bytes, ranges, ...(mark ? { [mark]: version } : {}) })
      serve('"1"', csv)
      assert.ok(httpsFile.source?.open)
      const reader = await httpsFile.source.open(testContext({ secrets: secretsOf('/changing.csv') }))
      const { value: first } = await reader.read()[Symbol.asyncIterator]().next()
      serve('"2"', csv.subarray(0, -20))
      const rest = (async () => {
        for await (const _ of reader.read(first?.checkpoint ?? null));
      })()
      assert.deepEqual(await codeOf(rest), ['fail', 'source_changed'], mark)
      await reader.close()
    }
  })

  test('mixes no two files of the same size where the server gives them no mark', async () => {
    const other = Buffer.from(csv.toString('latin1').replaceAll('person', 'PERSON'), 'latin1')
    assert.equal(other.length, csv.length)
    for (const ranges of [true, false]) {
      const context = testContext({ secrets: secretsOf('/unmarked.csv') })
      server.files.set('/unmarked.csv', { bytes: csv, ranges })
      assert.ok(httpsFile.source?.open)
      const reader = await httpsFile.source.open(context)
      const chunks = reader.read()[Symbol.asyncIterator]()
      const { value: first } = await chunks.next()
      server.files.set('/unmarked.csv', { bytes: other, ranges })
      const readOn = async (from: SourceReader) => {
        for await (const chunk of from.read(first?.checkpoint ?? null)) {
          assert.doesNotMatch(JSON.stringify(chunk.rows), /PERSON/)
        }
      }
      assert.deepEqual(await codeOf(readOn(reader)), ['fail', 'source_changed'])
      await reader.close()
      const next = await httpsFile.source.open(context)
      assert.deepEqual(await codeOf(readOn(next)), ['fail', 'source_changed'])
      await next.close()
      server.files.set('/unmarked.csv', { bytes: csv, ranges })
      const again = await httpsFile.source.open(context)
      server.requests.length = 0
      let left = 0
      for await (const chunk of again.read(first?.checkpoint ?? null)) left += chunk.rows.length
      assert.equal(left, rows.length - (first?.rows.length ?? 0))
      await again.close()
    }
  })

  test('shows no secret that a server gives as the name of the file', async () => {
    const headers = { 'content-disposition': 'attachment; filename="canary-token.csv"' }
    server.files.set('/named.csv', { bytes: Buffer.alloc(0), headers, authorization: 'Bearer canary-token' })
    const secrets = { ...secretsOf('/named.csv'), ...bearer('canary-token') }
    await assert.rejects(read(secrets), ({ message }: Error) => !message.includes('canary'))
    const steps = await httpsFile.check?.(testContext({ secrets }))
    assert.doesNotMatch(JSON.stringify(steps), /canary/)
  })

  test('follows redirects, and takes its credentials to no other server', async () => {
    const other = await startFileServer()
    after(() => other.close())
    other.files.set('/there.csv', { bytes: Buffer.from('a\n1\n') })
    server.files.set('/moved.csv', {
      bytes: csv,
      authorization: 'Bearer canary-token',
      redirectsTo: `${other.origin}/there.csv`,
    })
    server.files.set('/loop.csv', { bytes: csv, redirectsTo: '/loop.csv' })
    const seen: unknown[] = []
    await read({ ...secretsOf('/moved.csv'), ...bearer('canary-token') }, {}, ({ rows }) => seen.push(...rows))
    assert.deepEqual(seen, [['1']])
    assert.ok(other.requests.length > 0)
    assert.deepEqual(new Set(other.requests.map(({ authorization }) => authorization)), new Set([undefined]))
    assert.deepEqual(await codeOf(read(secretsOf('/loop.csv'))), ['fail', 'unexpected_response'])
  })

  test('does not accept a page for the file', async () => {
    server.files.set('/data', {
      bytes: Buffer.from('<p>Sign in'),
      headers: { 'content-type': 'text/html; charset=utf-8' },
    })
    assert.deepEqual(await codeOf(read(secretsOf('/data'))), ['reconfigure', 'invalid_address'])
  })

  test('reads an empty file as one without columns, which is an error', async () => {
    for (const ranges of [true, false]) {
      server.files.set('/empty.csv', { bytes: Buffer.alloc(0), ranges })
      assert.deepEqual(await codeOf(read(secretsOf('/empty.csv'))), ['fail', 'invalid_file'])
    }
  })

  test('looks for a path in the folder of the URL, and nowhere else', async () => {
    const secrets = { url: 'https://example.com/files' }
    assert.equal(addressOf(secrets, 'a b.csv').url.href, 'https://example.com/files/a%20b.csv')
    assert.equal(addressOf(secrets, '/2026/a.csv').url.href, 'https://example.com/files/2026/a.csv')
    assert.equal(addressOf({ ...secrets, secretQuery: '?k=v' }, 'a.csv?b=c').url.search, '?b=c&k=v')
    for (const path of ['../a.csv', '%2e%2e/a.csv', 'https://example.org/a.csv', '\\\\example.org\\a', 'data:,a']) {
      assert.throws(() => addressOf(secrets, path), { action: 'reconfigure', code: 'invalid_address' }, path)
    }
    server.files.set('/files/sub/a.csv', { bytes: Buffer.from('a\n1\n') })
    await read(secretsOf('/files/'), { path: 'sub/a.csv' })
    const steps = await httpsFile.check?.(testContext({ secrets: secretsOf('/files/') }))
    assert.deepEqual(
      steps?.map(({ ok }) => ok),
      [true],
    )
  })
})
