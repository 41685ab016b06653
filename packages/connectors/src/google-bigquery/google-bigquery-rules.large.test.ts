import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Chunk, Json, Values } from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { startBigQueryServer, testServerName } from '../../test/bigquery-server.ts'
import { connectorErrorOf, readAll, rowsOf } from '../../test/tables.ts'
import { googleBigquerySource } from './google-bigquery-source.ts'

const bigQuery = await startBigQueryServer()
after(() => bigQuery.close())
const { proxy, routes, jsonKey, run } = bigQuery

beforeEach(async () => {
  await run('drop schema crm cascade')
  await run('create schema crm')
  Object.assign(bigQuery, { polls: 0, pageRows: 3000, bytesRead: 1000, canned: [] })
  for (const list of [bigQuery.executed, bigQuery.given, bigQuery.cancelled, proxy.seen]) list.length = 0
})

const optionsOf = (sqlQuery: string, settings: Values = {}): TestContextOptions => ({
  secrets: { jsonKey },
  routes,
  settings: { projectId: 'example-project', dataset: 'crm', table: 'n', sqlQuery, ...settings },
})
const read = (sqlQuery: string, settings: Values = {}, after?: Json) =>
  readAll(googleBigquerySource, optionsOf(sqlQuery, settings), after)
const openReader = async (sqlQuery: string, settings: Values = {}, options: TestContextOptions = {}) => {
  const reader = await googleBigquerySource.source?.open?.(
    testContext({ ...optionsOf(sqlQuery, settings), ...options }),
  )
  assert.ok(reader)
  return reader
}
const numbers = (count: number) =>
  run(`create table crm.n as select i as id, 'text ' || i % 50 as t from range(1, ${count + 1}) as n(i)`)
const all = 'select * from crm.n'
const byId = { keyColumns: 'ID' }
const ids = (chunks: readonly Chunk[]) => rowsOf(chunks).map(([id]) => id)
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const asStored = (checkpoint: Json | undefined): Json => JSON.parse(JSON.stringify(checkpoint))

describe(`reading a result that BigQuery keeps, against ${testServerName}`, () => {
  test('resumes in the cached result, at the row after the last one, without another query', async () => {
    await numbers(12_000)
    const chunks = await read(all, byId)
    assert.deepEqual(ids(chunks), upTo(12_000))
    assert.deepEqual(bigQuery.given, [0, 3000, 6000, 9000])
    bigQuery.given.length = 0
    const last = chunks.at(-2)
    assert.deepEqual(ids(await read(all, byId, asStored(last?.checkpoint))), ids(chunks.slice(-1)))
    assert.equal(bigQuery.executed.length, 1)
    assert.equal(bigQuery.given[0], rowsOf(chunks.slice(0, -1)).length)
  })

  test('fetches a page only when its rows are wanted', async () => {
    await numbers(12_000)
    const reader = await openReader(all, byId)
    for await (const _ of reader.read()) break
    assert.deepEqual(bigQuery.given, [0, 3000])
    await reader.close()
  })

  test('runs a new query for the rows after the last one where the result is gone, with keys and without', async () => {
    await numbers(9_000)
    for (const [sqlQuery, settings] of [
      [all, { keyColumns: 't, id' }],
      ['select t, 7 as c from crm.n', {}],
    ] as const) {
      const chunks = await read(sqlQuery, settings)
      assert.equal(rowsOf(chunks).length, 9_000)
      assert.ok(chunks.length > 1)
      bigQuery.forgetResults()
      for (const [at, { checkpoint }] of chunks.entries()) {
        assert.deepEqual(rowsOf(await read(sqlQuery, settings, asStored(checkpoint))), rowsOf(chunks.slice(at + 1)))
      }
    }
  })

  test('continues where the result is dropped during reading, and says how many rows there are', async () => {
    await numbers(9_000)
    const reader = await openReader(all, byId)
    const chunks: Chunk[] = []
    for await (const chunk of reader.read()) {
      chunks.push(chunk)
      if (chunks.length === 1) bigQuery.forgetResults()
    }
    assert.deepEqual(ids(chunks), upTo(9_000))
    assert.equal(reader.total?.rows, 9_000)
    assert.equal(bigQuery.executed.length, 2)
    await reader.close()
  })

  test('compares keys of every type that can be ordered, by parameters of that type', async () => {
    await run(`create table crm.typed as select i as id, (i / 8)::decimal(12, 3) as paid, i % 2 = 0 as member,
      date '2026-01-31' + (i % 9)::int as day, timestamp '2026-01-31 12:00:00' + interval (i) microsecond as local,
      ('2026-01-31 12:00:00'::timestamp + interval (i) second)::timestamp_s as instant from range(1, 6002) as n(i)`)
    for (const keyColumns of ['paid', 'member, id', 'day, id', 'local', 'instant']) {
      const chunks = await read('select * from crm.typed', { keyColumns })
      bigQuery.forgetResults()
      const rest = await read('select * from crm.typed', { keyColumns }, asStored(chunks[0]?.checkpoint))
      assert.deepEqual(rowsOf(rest), rowsOf(chunks.slice(1)), keyColumns)
      assert.equal(rowsOf(rest).length, 1001)
    }
  })

  test('gives every type in a form that loses nothing', async () => {
    const field = (name: string, type: string, more: object = {}) => ({ name, type, mode: 'NULLABLE', ...more })
    const inner = [field('n', 'INTEGER'), field('at', 'TIMESTAMP'), { ...field('tags', 'STRING'), mode: 'REPEATED' }]
    const fields = [
      field('i', 'INTEGER'),
      field('big', 'INTEGER'),
      field('f', 'FLOAT'),
      field('nan', 'FLOAT'),
      field('yes', 'BOOLEAN'),
      field('at', 'TIMESTAMP'),
      field('before', 'TIMESTAMP'),
      field('local', 'DATETIME'),
      field('day', 'DATE'),
      field('time', 'TIME'),
      field('num', 'NUMERIC'),
      field('bytes', 'BYTES'),
      field('geo', 'GEOGRAPHY'),
      field('json', 'JSON'),
      field('none', 'STRING'),
      field('empty', 'STRING'),
      field('one', 'RECORD', { fields: inner }),
      field('many', 'RECORD', { mode: 'REPEATED', fields: inner }),
      field('list', 'INTEGER', { mode: 'REPEATED' }),
      field('penstock_digest', 'STRING'),
    ]
    const record = (n: string | null) => ({
      f: [{ v: n }, { v: '1769860800000001' }, { v: [{ v: 'a' }, { v: '"' }] }] as { v: never }[],
    })
    const row = [
      '42',
      '9007199254740993',
      '0.1',
      'NaN',
      'true',
      '1769860800123456',
      '-1',
      '2026-01-31T12:00:00.5',
      '2026-01-31',
      '12:00:00',
      '1.10',
      '3q2+7w==',
      'POINT(1 2)',
      '{"a":1}',
      null,
      '',
      record('9007199254740993'),
      [{ v: record(null) as never }],
      [{ v: '1' }, { v: '2' }],
      'digest',
    ]
    // The query that examines the columns returns no digest.
    bigQuery.canned = [
      { match: /limit 0$/, result: { fields: fields.slice(0, -1), rows: [] } },
      { match: /typed/, result: { fields, rows: [row] } },
    ]
    const nested = (n: string | null) => ({ n, at: '2026-01-31T12:00:00.000001Z', tags: ['a', '"'] })
    assert.deepEqual(rowsOf(await read('select * from crm.typed')), [
      [
        42,
        '9007199254740993',
        0.1,
        'NaN',
        true,
        '2026-01-31T12:00:00.123456Z',
        '1969-12-31T23:59:59.999999Z',
        '2026-01-31T12:00:00.5',
        '2026-01-31',
        '12:00:00',
        '1.10',
        '\\xdeadbeef',
        'POINT(1 2)',
        '{"a":1}',
        null,
        '',
        JSON.stringify(nested('9007199254740993')),
        JSON.stringify([nested(null)]),
        '[1,2]',
      ],
    ])
  })

  test('stops a query at BigQuery that no one waits for any more', { timeout: 30_000 }, async () => {
    await numbers(100)
    const stop = new AbortController()
    const reader = await openReader(all, {}, { signal: stop.signal })
    bigQuery.polls = 1_000_000
    const reading = reader.read()[Symbol.asyncIterator]().next()
    while (!proxy.seen.some((seen) => /\/queries\//.test(seen))) await new Promise((resolve) => setImmediate(resolve))
    stop.abort()
    await assert.rejects(reading, (error) => error === stop.signal.reason)
    await reader.close()
    assert.equal(bigQuery.cancelled.length, 1)
  })
})

describe(`transient errors, against ${testServerName}`, () => {
  test('waits for a query that takes its time', async () => {
    await numbers(100)
    bigQuery.polls = 1
    assert.equal(rowsOf(await read(all)).length, 100)
  })

  test('asks for another token where one is not accepted any more, during reading', async () => {
    await numbers(9_000)
    const before = bigQuery.tokensGiven
    const reader = await openReader(all, byId)
    const chunks: Chunk[] = []
    for await (const chunk of reader.read()) {
      chunks.push(chunk)
      if (chunks.length === 1) bigQuery.expireTokens()
    }
    assert.deepEqual(ids(chunks), upTo(9_000))
    assert.equal(bigQuery.tokensGiven, before + 2)
    await reader.close()
  })

  test('runs a query once where the answer to it was lost', async () => {
    await numbers(100)
    const isStart = ({ body }: { body: Buffer }) => body.includes('penstock_digest')
    proxy.failure = { what: 'loses the answer', of: isStart, times: 1 }
    assert.equal(rowsOf(await read(all)).length, 100)
    assert.equal(bigQuery.executed.length, 1)
  })

  test('hands on how long to wait, and reads on from the last checkpoint', async () => {
    await numbers(12_000)
    proxy.failure = {
      what: { status: 429, headers: { 'retry-after': '9' } },
      of: ({ url }) => url.includes('pageToken=') && url.includes('9000'),
    }
    const reader = await openReader(all, byId)
    const chunks: Chunk[] = []
    const reading = async () => {
      for await (const chunk of reader.read()) chunks.push(chunk)
    }
    const [result] = await Promise.allSettled([reading()])
    proxy.failure = undefined
    await reader.close()
    assert.equal(result?.status, 'rejected')
    assert.deepEqual([result.reason.action, result.reason.afterMs], ['retry', 9000])
    const rest = await read(all, byId, asStored(chunks.at(-1)?.checkpoint))
    assert.deepEqual([...ids(chunks), ...ids(rest)], upTo(12_000))
    assert.equal(bigQuery.executed.length, 1)
  })

  test('reports what BigQuery said of a query, and never a value', async () => {
    await run(`create table crm.bad as select 'canary' as v`)
    const code = async (text: string, settings: Values = {}) => (await connectorErrorOf(read(text, settings))).join(' ')
    assert.equal(await code('selct 1'), 'reconfigure invalid_query')
    assert.equal(await code('select * from crm.absent'), 'reconfigure table_not_found')
    assert.equal(await code('select 1 as a', { dataset: 'absent' }), 'reconfigure table_not_found')
    assert.equal(await code('select 1 as a', { projectId: 'absent' }), 'reconfigure table_not_found')
    assert.equal(await code('select 1 as a', { keyColumns: 'b' }), 'reconfigure column_not_found')
    assert.equal(await code('select 0.5::double as a', { keyColumns: 'a' }), 'reconfigure invalid_setting')
    bigQuery.bytesRead = 5_000
    assert.equal(await code('select 1 as a', { maximumBytesBilled: 4_999 }), 'reconfigure invalid_setting')
    assert.equal(rowsOf(await read('select 1 as a', { maximumBytesBilled: 5_000 })).length, 1)
    const [result] = await Promise.allSettled([read('select v::int as n from crm.bad')])
    assert.equal(result?.status, 'rejected')
    assert.deepEqual([result.reason.action, result.reason.code], ['fail', 'statement_failed'])
    assert.doesNotMatch(String(result.reason.stack) + JSON.stringify(result.reason), /canary/)
  })

  test('knows what passes, by the reason that BigQuery gives', async () => {
    await numbers(10)
    for (const [status, reason, wanted] of [
      [403, 'quotaExceeded', 'retry rate_limited'],
      [400, 'jobRateLimitExceeded', 'retry rate_limited'],
      [400, 'backendError', 'retry platform_error'],
      [400, 'stopped', 'retry statement_timeout'],
      [400, 'resourcesExceeded', 'fail statement_failed'],
      [403, 'responseTooLarge', 'fail statement_failed'],
      [403, 'billingNotEnabled', 'reconfigure account_restricted'],
      [403, 'heardOfNever', 'reconfigure permission_denied'],
    ] as const) {
      const body = JSON.stringify({ error: { code: status, message: 'No.', errors: [{ reason, message: 'No.' }] } })
      proxy.failure = { what: { status, body }, of: ({ url }) => url.includes('/queries/') }
      assert.equal((await connectorErrorOf(read(all))).join(' '), wanted)
    }
    proxy.failure = undefined
  })

  test('fails on a key that is empty or not unique, instead of losing rows', async () => {
    await run('create table crm.keys as select * from (values (1, 1), (1, 2), (2, null)) as k(a, b)')
    const keys = 'select * from crm.keys'
    assert.deepEqual(await connectorErrorOf(read(keys, { keyColumns: 'a' })), ['fail', 'invalid_key'])
    assert.deepEqual(await connectorErrorOf(read(keys, { keyColumns: 'a, b' })), ['fail', 'invalid_key'])
  })

  test('checks what a connection names, and runs nothing for it', async () => {
    await numbers(1)
    const check = async (sqlQuery: string) =>
      (await googleBigquerySource.check?.(testContext(optionsOf(sqlQuery))))?.map(({ ok }) => ok)
    assert.deepEqual(await check(all), [true, true, true])
    assert.deepEqual(await check('select * from crm.absent'), [true, true, false])
    assert.deepEqual(bigQuery.executed, [])
  })
})
