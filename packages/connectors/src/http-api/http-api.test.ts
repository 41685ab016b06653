import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Chunk, ConnectorError, Json, Values } from '@penstock/connector'
import { readValues } from '@penstock/connector'
import { acceptSource, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { people, startApiServer } from '../../test/http-api-server.ts'
import { httpApi } from './http-api.ts'

const server = await startApiServer()
after(() => server.close())

const listed = 'columns: [id, name, address.city, tags]'
const columns = ['id', 'name', 'address.city', 'tags']
const rows = people.map(({ id, name, address, tags }) => [id, name, address.city, JSON.stringify(tags)])
const definition = `
streams:
  by page:
    path: /pages
    records: data.items
    ${listed}
    pages: { by: page, parameter: page, size: 10, sizeParameter: size }
  by offset: { path: /offsets, ${listed}, pages: { by: offset, parameter: offset } }
  by cursor:
    path: /cursors
    records: items
    ${listed}
    pages: { by: cursor, parameter: at, at: meta.next }
  posted:
    path: /posted
    body: { kind: people, at: 0 }
    records: items
    ${listed}
    pages: { by: cursor, in: body, parameter: at, header: X-Next }
  by link: { path: /links, ${listed}, pages: { by: link } }
  by address: { path: /addresses, records: items, ${listed}, pages: { by: url, at: next } }
  nested: { path: /nested, records: "*.*.list.*", ${listed} }
  found: { path: /links, pages: { by: link } }
  digits: { path: /digits }
  elsewhere: { path: /elsewhere, records: items, pages: { by: url, at: next } }
  endless: { path: /endless, records: items, pages: { by: cursor, parameter: at, at: meta.next } }
  deaf: { path: /cursors, records: items, pages: { by: page, parameter: number } }
  broken: { path: /broken }
  no records: { path: /links, records: data.items }
  throttled: { path: /throttled, errors: [{ status: 200, contains: QUOTA, action: wait }] }
  refused: { path: /throttled, errors: [{ contains: QUOTA, action: fail }] }
  notes:
    path: /people/{{ partition }}/notes
    query: { since: "{{ cursor.start }}", until: "{{cursor.end}}" }
    columns: [person, since, until]
    partitions: { stream: by cursor, field: id }
    cursor: { format: date, stepDays: 400, lookBackDays: 2, start: "2026-01-01" }
    errors: [{ status: 404, action: ignore }]
`
const bearer = { authentication: 'bearer token', apiToken: 'canary-token' }
const secretsOf = (more: Values): Values => ({ url: `${server.origin}/v1/`, definition, ...more })

let reached: Promise<unknown> = Promise.resolve()
const failing = (failure: typeof server.failure) => ({
  start: () => {
    server.failure = failure
    if (failure === 'hangs') reached = server.hanging()
  },
  stop: () => {
    server.failure = undefined
  },
})
acceptSource({
  connector: httpApi,
  testServer: 'an API with numbered pages, and a bearer token',
  columns,
  rows,
  secrets: secretsOf(bearer),
  wrongSecrets: secretsOf({ ...bearer, apiToken: 'canary-other' }),
  settings: { stream: 'by page' },
  missing: { stream: 'by pages' },
  errors: [
    {
      name: 'asks to wait 20 seconds',
      ...failing({ status: 429, headers: { 'retry-after': '20' } }),
      action: 'retry',
      code: 'rate_limited',
      afterMs: 20_000,
    },
    { name: 'redirects', ...failing({ status: 302, headers: { location: '/v1/pages' } }), action: 'fail' },
  ],
  hang: { ...failing('hangs'), reached: () => reached },
})

async function read(stream: string, options: TestContextOptions = {}, after?: Json): Promise<Chunk[]> {
  const { settings, ...rest } = options
  assert.ok(httpApi.source?.open)
  const context = testContext({ secrets: secretsOf(bearer), settings: { stream, ...settings }, ...rest })
  const reader = await httpApi.source.open(context)
  const chunks = []
  for await (const chunk of reader.read(after)) chunks.push(chunk)
  return chunks
}
const rowsOf = (chunks: readonly Chunk[]) => chunks.flatMap((chunk) => chunk.rows)
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: ConnectorError) => error.code,
  )

describe('an HTTP API', () => {
  for (const stream of ['by offset', 'by cursor', 'posted', 'by link', 'by address', 'nested']) {
    test(`reads all records of the stream ‘${stream}’, and resumes after each chunk`, async () => {
      const chunks = await read(stream)
      assert.deepEqual(rowsOf(chunks), rows)
      for (const [index, { checkpoint }] of chunks.entries()) {
        assert.deepEqual(rowsOf(await read(stream, {}, checkpoint)), rowsOf(chunks.slice(index + 1)))
      }
    })
  }

  const oauth = { tokenUrl: `${server.origin}/token`, clientId: 'penstock', clientSecret: 'canary-secret' }
  for (const [name, secrets] of Object.entries<Values>({
    'a key in a header': { authentication: 'API key', apiToken: 'canary-token', keyName: 'X-API-Key', keyIn: 'header' },
    'a key in the query': { authentication: 'API key', apiToken: 'canary-token', keyName: 'key', keyIn: 'query' },
    'a password': { authentication: 'user name and password', username: 'reader', password: 'canary-password' },
    'client credentials': { authentication: 'client credentials', ...oauth },
    'a refresh token': { authentication: 'refresh token', refreshToken: 'canary-first', ...oauth },
  })) {
    test(`signs in with ${name}, which no checkpoint has`, async () => {
      const saved: string[] = []
      const saveSecret = async (_key: string, renew: (current: string) => Promise<string>) => {
        saved.push(await renew('canary-first'))
        return saved[0] as string
      }
      const chunks = await read('by address', { secrets: secretsOf(secrets), saveSecret })
      assert.deepEqual(rowsOf(chunks), rows)
      assert.doesNotMatch(JSON.stringify(chunks.map(({ checkpoint }) => checkpoint)), /canary/)
      assert.deepEqual(saved, name === 'a refresh token' ? ['canary-next'] : [])
    })
  }

  test('finds columns in the first page, and keeps all digits of a number', async () => {
    const [found] = await read('found')
    assert.deepEqual(found?.columns, ['id', 'name', 'address', 'tags'])
    assert.deepEqual(rowsOf(await read('digits')), [['12345678901234567890', 1.1]])
  })

  test('refuses hostile and wrong answers with what to do about them', async () => {
    const codes = {
      elsewhere: 'malformed_response',
      endless: 'malformed_response',
      deaf: 'unexpected_response',
      broken: 'malformed_response',
      'no records': 'unexpected_response',
      throttled: 'rate_limited',
      refused: 'request_refused',
    }
    for (const [stream, code] of Object.entries(codes)) assert.equal(await codeOf(read(stream)), code, stream)
    assert.equal(await codeOf(read('by link', { settings: { syncMode: 'Incremental' } })), 'invalid_setting')
    const partitioned = 'streams: { a: { path: "/{{ partition }}/b", partitions: { values: [".."] } } }'
    const secrets = { ...secretsOf(bearer), definition: partitioned }
    assert.equal(await codeOf(read('a', { secrets })), 'malformed_response')
    assert.equal(await codeOf(read('by link', { networkPolicy: 'public' })), 'address_not_allowed')
  })

  test('reads each partition and window, and the next transfer begins where this one ended', async () => {
    const settings = { syncMode: 'Incremental' }
    const chunks = await read('notes', { settings })
    const ids = people.map(({ id }) => String(id)).filter((id) => Number(id) % 2)
    assert.deepEqual([...new Set(rowsOf(chunks).map(([id]) => id))], ids.sort())
    assert.equal(rowsOf(chunks)[0]?.[1], '2026-01-01')
    assert.ok(chunks.slice(0, -1).every(({ cursor }) => cursor === undefined))
    const cursor = chunks.at(-1)?.cursor as { untilMs: number }
    const next = await read('notes', { settings, cursor })
    assert.equal(rowsOf(next)[0]?.[1], new Date(cursor.untilMs - 2 * 86_400_000).toISOString().slice(0, 10))
    const [first] = chunks
    assert.deepEqual(rowsOf(await read('notes', { settings }, first?.checkpoint)), rowsOf(chunks.slice(1)))
  })

  test('reads the range of a backfill, of which there is no cursor, and more days back if the connection says so', async () => {
    const settings = { syncMode: 'Incremental' }
    const cursor = { untilMs: Date.parse('2026-02-20T00:00:00Z') }
    const range = { from: '2026-01-10', to: '2026-01-11' }
    const chunks = await read('notes', { settings, cursor, range })
    assert.deepEqual(
      [...new Set(rowsOf(chunks).map(([, since, until]) => `${since} ${until}`))],
      ['2026-01-10 2026-01-12'],
    )
    assert(chunks.every(({ cursor: next }) => next === undefined))
    assert.equal(await codeOf(read('by link', { range })), 'invalid_setting')
    const late = await read('notes', { settings: { ...settings, lookBackDays: 5 }, cursor })
    assert.equal(rowsOf(late)[0]?.[1], '2026-02-15')
  })

  test('gives no chunk if there are no partitions', async () => {
    const nothing = definition.replace('by cursor, field: id', 'by cursor, field: nothing')
    const secrets = { ...secretsOf(bearer), definition: nothing }
    assert.deepEqual(await read('notes', { settings: { syncMode: 'Incremental' }, secrets }), [])
  })

  test('sends one request, for a page that is asked for', async () => {
    const ask = (stream: string, page?: string) =>
      httpApi.source?.ask?.({ ...testContext({ secrets: secretsOf(bearer), settings: { stream } }), page })
    const before = server.requests.length
    const first = await ask('by cursor')
    assert.deepEqual([first?.columns, first?.rows, first?.next], [columns, rows.slice(0, 10), '10'])
    assert.deepEqual((await ask('by cursor', '10'))?.rows, rows.slice(10, 20))
    assert.equal(server.requests.length, before + 2)
    const second = await ask('by link', `${server.origin}/v1/links?at=10`)
    assert.deepEqual(second?.rows, rows.slice(10, 20))
    assert.equal(
      await codeOf(ask('by link', 'https://attacker.example.com/') as Promise<unknown>),
      'malformed_response',
    )
    assert.equal(await codeOf(ask('by page', 'second') as Promise<unknown>), 'invalid_setting')
    const quota = await ask('throttled')
    assert.deepEqual([quota?.answer.status, quota?.error?.code], [200, 'rate_limited'])
    assert.equal((await ask('notes'))?.request.url, server.requests.at(-1)?.replace('GET ', server.origin))
  })

  test('lists streams and columns', async () => {
    const context = { secrets: secretsOf(bearer), settings: { stream: 'found' } }
    const discovery = { ...testContext(context), search: '', cursor: undefined, size: 3, withSamples: true }
    const streams = await httpApi.source?.discover?.stream?.(discovery)
    assert.deepEqual(
      streams?.items.map(({ value }) => value),
      ['by page', 'by offset', 'by cursor'],
    )
    assert.equal(streams?.next, '3')
    const found = await httpApi.source?.discover?.columns?.(discovery)
    assert.deepEqual(found?.items[0], { value: 'id', kind: 'column', samples: [1, 2, 3, 4, 5] })
  })
})

test('A definition that cannot be saved says why, with line and column', () => {
  const { fieldErrors } = readValues(
    httpApi.secrets,
    { definition: 'streams:\n  a:\n    pth: /a\n' },
    'body.secretConfig',
  )
  assert.deepEqual(fieldErrors, [
    {
      field: 'body.secretConfig.definition',
      message: 'is wrong at line 3, column 10: pth is not known here. Did you mean path?',
    },
  ])
})

test('A definition can have 65,536 characters', () => {
  const long = (length: number) => `streams: { a: { path: /a } }\n${'#'.repeat(length - 29)}`
  const errorsOf = (text: string) => readValues(httpApi.secrets, { definition: text }, 'body').fieldErrors.length
  assert.deepEqual([errorsOf(long(65_536)), errorsOf(long(65_537))], [0, 1])
})
