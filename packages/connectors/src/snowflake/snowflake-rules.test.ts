import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { after, beforeEach, describe, test } from 'node:test'
import type { Chunk, Json, Values } from '@penstock/connector'
import { assertNoSecret, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { startSnowflakeServer, testServerName } from '../../test/snowflake-server.ts'
import { connectorErrorOf, cursorOf, readAll, rowsOf } from '../../test/tables.ts'
import { snowflakeSource } from './snowflake-source.ts'

const snowflake = await startSnowflakeServer()
after(() => snowflake.close())
const { proxy, routes, keyPair, run } = snowflake
const place = { warehouse: 'load_wh', database: 'sales', schema: 'public', syncMode: 'Full' }

beforeEach(async () => {
  await run('drop schema "SALES"."PUBLIC" cascade')
  await run('create schema "SALES"."PUBLIC"')
  Object.assign(snowflake, { polls: 0, partitionRows: 3000, canned: [] })
  for (const list of [snowflake.executed, snowflake.given, snowflake.cancelled, proxy.seen]) list.length = 0
})

type Asked = { after?: Json; cursor?: Json } & Pick<TestContextOptions, 'secrets'>
const optionsOf = (settings: Values, { cursor, secrets = keyPair }: Asked = {}): TestContextOptions => ({
  secrets,
  routes,
  settings: { ...place, ...settings },
  ...(cursor === undefined ? {} : { cursor }),
})
const read = (settings: Values, asked: Asked = {}) =>
  readAll(snowflakeSource, optionsOf({ dataSourceType: 'Table Reference', ...settings }, asked), asked.after)
const sql = (sqlQuery: string, settings: Values = {}) => read({ dataSourceType: 'SQL Query', sqlQuery, ...settings })
const openReader = async (settings: Values, options: TestContextOptions = {}) => {
  const reader = await snowflakeSource.source?.open?.(
    testContext({ ...optionsOf({ dataSourceType: 'Table Reference', ...settings }), ...options }),
  )
  assert.ok(reader)
  return reader
}
const numbers = (count: number, table = 'N') =>
  run(
    `create table "SALES"."PUBLIC"."${table}" as select i as "ID", 'text ' || i % 50 as "T" from range(1, ${count + 1}) as n(i)`,
  )
const ids = (chunks: readonly Chunk[]) => rowsOf(chunks).map(([id]) => id)
const upTo = (count: number, from = 1) => Array.from({ length: count - from + 1 }, (_, index) => from + index)
/** The executed statements that read rows, without the statements that prepare reading. */
const reads = () => snowflake.executed.filter((text) => text.includes(' order by '))

describe(`reading a result that Snowflake keeps, against ${testServerName}`, () => {
  test('resumes in the cached result, from the page of the last row, without another statement', async () => {
    await numbers(12_000)
    const settings = { table: 'n', keyColumns: 'ID' }
    const chunks = await read(settings)
    assert.deepEqual(ids(chunks), upTo(12_000))
    assert.equal(reads().length, 1)
    snowflake.given.length = 0
    const { checkpoint } = chunks.at(-2) ?? {}
    assert.deepEqual(ids(await read(settings, { after: checkpoint ?? null })), ids(chunks.slice(-1)))
    assert.equal(reads().length, 1)
    // The description of the columns is the first page of another statement.
    const pages = snowflake.given.map((page) => Number(page.split('?')[1]))
    assert.ok(Math.min(...pages.slice(1)) >= 2, String(pages))
  })

  test('fetches a page only when its rows are wanted', async () => {
    await numbers(12_000)
    const reader = await openReader({ table: 'N', keyColumns: 'ID' })
    snowflake.given.length = 0
    for await (const _ of reader.read()) break
    assert.ok(snowflake.given.length <= 3, String(snowflake.given))
    await reader.close()
  })

  test('runs a new statement for the rows after the last one where the result is gone, with a key and without', async () => {
    await numbers(9_000)
    await run('create view "SALES"."PUBLIC"."TWICE" as select "T", 7 as "C" from "SALES"."PUBLIC"."N"')
    for (const settings of [{ table: 'N', keyColumns: 'T, ID' }, { table: 'TWICE' }]) {
      const chunks = await read(settings)
      assert.equal(rowsOf(chunks).length, 9_000)
      assert.ok(chunks.length > 1)
      snowflake.forgetResults()
      for (const [at, { checkpoint }] of chunks.entries()) {
        const rest = await read(settings, { after: JSON.parse(JSON.stringify(checkpoint)) })
        assert.deepEqual(rowsOf(rest), rowsOf(chunks.slice(at + 1)))
      }
    }
  })

  test('continues where the result is dropped during reading', async () => {
    await numbers(9_000)
    const reader = await openReader({ table: 'N', keyColumns: 'ID' })
    const chunks: Chunk[] = []
    for await (const chunk of reader.read()) {
      chunks.push(chunk)
      if (chunks.length === 1) snowflake.forgetResults()
    }
    assert.deepEqual(ids(chunks), upTo(9_000))
    assert.equal(reads().length, 2)
    await reader.close()
  })

  test('says how many rows there are, once that is known', async () => {
    await numbers(9_000)
    const reader = await openReader({ table: 'N' })
    for await (const _ of reader.read());
    assert.equal(reader.total?.rows, 9_000)
    await reader.close()
  })

  test('waits for a statement that takes its time', async () => {
    await numbers(100)
    snowflake.polls = 2
    assert.equal(rowsOf(await read({ table: 'N' })).length, 100)
  })

  test('stops a statement at Snowflake that no one waits for any more', { timeout: 30_000 }, async () => {
    await numbers(100)
    const stop = new AbortController()
    const reader = await openReader({ table: 'N' }, { signal: stop.signal })
    snowflake.polls = 1_000_000
    const reading = reader.read()[Symbol.asyncIterator]().next()
    while (!proxy.seen.some((seen) => /^GET .*statements\/[\w-]+$/.test(seen))) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    stop.abort()
    await assert.rejects(reading, (error) => error === stop.signal.reason)
    await reader.close()
    assert.equal(snowflake.cancelled.length, 1)
  })
})

describe(`transient errors, against ${testServerName}`, () => {
  test('signs a new token where one is not accepted any more, during reading', async () => {
    await numbers(12_000)
    const reader = await openReader({ table: 'N', keyColumns: 'ID' })
    const chunks: Chunk[] = []
    for await (const chunk of reader.read()) {
      chunks.push(chunk)
      // Two tokens of the same second are the same.
      if (chunks.length === 1) proxy.failure = { what: { status: 401, body: '{"code":"390144"}' }, times: 1 }
    }
    assert.deepEqual(ids(chunks), upTo(12_000))
    await reader.close()
    proxy.failure = { what: { status: 401, body: '{"code":"390144"}' } }
    assert.deepEqual(await connectorErrorOf(read({ table: 'N' })), ['reauthenticate', 'invalid_credentials'])
    proxy.failure = { what: { status: 401, body: '{"code":"390318"}' } }
    assert.deepEqual(await connectorErrorOf(read({ table: 'N' }, { secrets: snowflake.accessToken })), [
      'reauthenticate',
      'invalid_credentials',
    ])
    proxy.failure = undefined
  })

  test('hands on how long to wait, and reads on from the last checkpoint', async () => {
    await numbers(12_000)
    const settings = { table: 'N', keyColumns: 'ID' }
    proxy.failure = {
      what: { status: 429, headers: { 'retry-after': '9' } },
      of: ({ url }) => url.includes('partition=3'),
    }
    const reader = await openReader(settings)
    const chunks: Chunk[] = []
    const [result] = await Promise.allSettled([
      (async () => {
        for await (const chunk of reader.read()) chunks.push(chunk)
      })(),
    ])
    proxy.failure = undefined
    await reader.close()
    assert.equal(result?.status, 'rejected')
    const { action, afterMs } = result.reason
    assert.deepEqual([action, afterMs], ['retry', 9000])
    const { checkpoint } = chunks.at(-1) ?? {}
    assert.ok(checkpoint)
    assert.deepEqual([...ids(chunks), ...ids(await read(settings, { after: checkpoint }))], upTo(12_000))
    assert.equal(reads().length, 1)
  })

  test('runs a statement once where the answer to it was lost', async () => {
    await numbers(100)
    proxy.failure = { what: 'loses the answer', of: ({ method }) => method === 'POST', times: 1 }
    assert.equal(rowsOf(await read({ table: 'N' })).length, 100)
    assert.equal(snowflake.executed.length, 2)
  })

  test('asks again where a page breaks off', async () => {
    await numbers(12_000)
    const settings = { table: 'N', keyColumns: 'ID' }
    proxy.failure = { what: { breaksAfterBytes: 1_000 }, of: ({ url }) => url.includes('partition=1') }
    assert.equal((await connectorErrorOf(read(settings)))[0], 'retry')
    proxy.failure = {
      what: { status: 200, body: '{"data":[["1","x"],["2' },
      of: ({ url }) => url.includes('partition='),
    }
    assert.deepEqual(await connectorErrorOf(read(settings)), ['retry', 'malformed_response'])
    proxy.failure = undefined
  })

  test('reports what Snowflake said of a statement, and never a value', async () => {
    await run(`create table "SALES"."PUBLIC"."BAD" as select 'canary' as "V"`)
    const code = async (text: string, settings: Values = {}) => (await connectorErrorOf(sql(text, settings))).join(' ')
    assert.equal(await code('selct 1'), 'reconfigure invalid_query')
    assert.equal(await code('select * from absent'), 'reconfigure table_not_found')
    const twice = [
      { name: 'A', type: 'fixed', scale: 0 },
      { name: 'A', type: 'fixed', scale: 0 },
    ]
    snowflake.canned = [{ match: /as "A", 2 as "A"/, rowType: twice, rows: [] }]
    assert.equal(await code('select 1 as "A", 2 as "A"'), 'reconfigure invalid_query')
    assert.equal(await code('select 1 as "A"', { warehouse: 'other' }), 'reconfigure object_not_found')
    const [result] = await Promise.allSettled([sql('select "V"::int as "N" from "SALES"."PUBLIC"."BAD"')])
    assert.equal(result?.status, 'rejected')
    assert.equal(result.reason.action, 'fail')
    assert.match(result.reason.message, /\(code 100038, SQL state 22018\)\.$/)
    assert.doesNotMatch(String(result.reason.stack) + JSON.stringify(result.reason), /canary/)
    proxy.failure = { what: { status: 408, body: '{"code":"000630"}' } }
    assert.equal(await code('select 1 as a'), 'retry statement_timeout')
    proxy.failure = undefined
  })

  test('fails on a key that is empty, not unique, or no key, instead of losing rows', async () => {
    await run(
      `create table "SALES"."PUBLIC"."KEYS" as select * from (values (1, 1, [1]), (1, 2, [1]), (2, null, [1])) as k("A", "B", "L")`,
    )
    const connectorError = async (keyColumns: string) =>
      (await connectorErrorOf(read({ table: 'KEYS', keyColumns }))).join(' ')
    assert.equal(await connectorError('A'), 'fail invalid_key')
    assert.equal(await connectorError('A, B'), 'fail invalid_key')
    assert.equal(await connectorError('absent'), 'reconfigure column_not_found')
  })

  test('refuses private keys that are none, without quoting them', async () => {
    await numbers(1)
    const key = createPrivateKey(String(keyPair.privateKey))
    const encrypted = key.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }).toString()
    const strange = encrypted.replace(/[A-Za-z]{8}/g, 'MIIEAAAA')
    for (const [privateKey, passphrase] of [['canary-that-is-no-key'], [encrypted], [encrypted, 'y'], [strange, 'x']]) {
      const secrets = { ...keyPair, privateKey: privateKey ?? '', ...(passphrase && { passphrase }) }
      const [result] = await Promise.allSettled([read({ table: 'N' }, { secrets })])
      assert.equal(result?.status, 'rejected')
      assert.deepEqual([result.reason.action, result.reason.code], ['reauthenticate', 'invalid_credentials'])
      assertNoSecret(result.reason, { connector: snowflakeSource, secrets })
    }
    const secrets = { ...keyPair, privateKey: encrypted, passphrase: 'x' }
    assert.deepEqual(ids(await read({ table: 'N' }, { secrets })), [1])
    const pkcs1 = key.export({ type: 'pkcs1', format: 'pem' }).toString()
    for (const privateKey of [pkcs1, String(keyPair.privateKey).replaceAll('\n', '\\n')]) {
      const secrets = { ...keyPair, privateKey, snowflakeHost: 'acme-west.snowflakecomputing.com' }
      assert.deepEqual(ids(await read({ table: 'N' }, { secrets })), [1])
    }
  })

  test('signs in with a client of OAuth, and renews its token when it is refused', async () => {
    await numbers(1)
    const secrets = snowflake.oauth
    assert.deepEqual(ids(await read({ table: 'N' }, { secrets })), [1])
    const wrong = { ...secrets, oauthRefreshToken: 'canary-of-another' }
    assert.deepEqual(await connectorErrorOf(read({ table: 'N' }, { secrets: wrong })), [
      'reauthenticate',
      'invalid_credentials',
    ])
    const body = JSON.stringify({ code: '390318', message: 'OAuth access token expired.' })
    proxy.failure = { what: { status: 401, body }, of: ({ url }) => url.startsWith('/api/'), times: 1 }
    assert.deepEqual(ids(await read({ table: 'N' }, { secrets })), [1])
    proxy.failure = undefined
  })

  test('checks what a connection names', async () => {
    await numbers(1)
    const check = (settings: Values) =>
      snowflakeSource.check?.(testContext(optionsOf({ dataSourceType: 'Table Reference', ...settings })))
    assert.deepEqual(
      (await check({ table: 'N' }))?.map(({ ok }) => ok),
      [true, true, true],
    )
    const steps = await check({ table: 'ABSENT' })
    assert.deepEqual(
      steps?.map(({ ok }) => ok),
      [true, true, false],
    )
    assert.match(steps?.[2]?.message ?? '', /no such table.*SQL state 42S02/)
  })
})

describe(`reading what is new, against ${testServerName}`, () => {
  test('gives an incremental run the numbers that grew since the last one', async () => {
    await numbers(8_000)
    const settings = { table: 'N', syncMode: 'Incremental', markerColumn: 'id', markerType: 'Numeric' }
    const chunks = await read(settings)
    assert.deepEqual(ids(chunks), upTo(8_000))
    const cursor = cursorOf(chunks)
    assert.deepEqual(await read(settings, { cursor }), [])
    await run(`insert into "SALES"."PUBLIC"."N" values (8001, 'late')`)
    const { checkpoint } = chunks[0] ?? {}
    snowflake.forgetResults()
    assert.deepEqual(ids(await read(settings, { after: checkpoint ?? null })), ids(chunks.slice(1)))
    assert.deepEqual(ids(await read(settings, { cursor })), [8001])
    assert.deepEqual(ids(await read(settings, { cursor: cursorOf(chunks.slice(0, 1)) })), [
      ...ids(chunks.slice(1)),
      8001,
    ])
    assert.deepEqual(await connectorErrorOf(read({ ...settings, markerType: 'Datetime' })), [
      'reconfigure',
      'invalid_setting',
    ])
    assert.deepEqual(await connectorErrorOf(read({ ...settings, markerColumn: 't' })), [
      'reconfigure',
      'invalid_setting',
    ])
  })

  test('reads times up to the lag, in the time zone of the cursor, and days when they are over', async () => {
    const now = `current_timestamp::timestamp`
    await run(`create table "SALES"."PUBLIC"."NEWS" as select * from (values
      (1, ${now} - interval 3 hour), (2, ${now} - interval 30 minute), (3, null), (4, ${now} - interval 5 minute),
      (5, ${now} + interval 110 minute)) as n("ID", "AT")`)
    const settings = { table: 'NEWS', syncMode: 'Incremental', markerColumn: 'AT', markerType: 'Datetime' }
    const first = await read({ ...settings, lagSeconds: 600 })
    assert.deepEqual(ids(first), [1, 2])
    const cursor = cursorOf(first)
    assert.deepEqual(ids(await read({ ...settings, lagSeconds: 0 }, { cursor })), [4])
    const ahead = { ...settings, lagSeconds: 0, timezone: 'Africa/Johannesburg' }
    assert.deepEqual(ids(await read(ahead, { cursor })), [4, 5])
    await run(
      `create table "SALES"."PUBLIC"."DAYS" as select current_timestamp::timestamp::date - i::int as "DAY" from range(3) as d(i)`,
    )
    const days = await read({ ...settings, table: 'DAYS', markerColumn: 'DAY', lagSeconds: 0 })
    assert.equal(rowsOf(days).length, 2)
    await run('delete from "SALES"."PUBLIC"."NEWS"')
    await numbers(0, 'NONE')
    const none = { ...settings, table: 'NONE', markerColumn: 'ID', markerType: 'Numeric' }
    assert.deepEqual(await read(none), [])
  })
})
