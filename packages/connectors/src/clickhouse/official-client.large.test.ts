import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { startClickHouseServer } from '../../test/clickhouse-server.ts'

/** ClickHouse's own client makes the calls of the connectors, and understands the answers of the test server. */

const server = await startClickHouseServer()
const clientOf = (password: string) =>
  createClient({
    url: server.proxy.url,
    username: 'mover',
    password,
    database: 'crm',
    clickhouse_settings: { wait_end_of_query: 1 },
    log: { level: ClickHouseLogLevel.OFF },
  })
const client = clientOf('päss')
after(async () => {
  await client.close()
  await server.close()
})
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => assert.fail('not refused'),
    (error) => (error instanceof ClickHouseError ? Number(error.code) : assert.fail(String(error))),
  )
const readonly = { readonly: '1' } as const
const read = async (query: string) => {
  const found = await client.query({
    query,
    format: 'JSONCompactEachRowWithNamesAndTypes',
    clickhouse_settings: readonly,
  })
  const [names, types = [], ...rows] = await found.json<unknown[]>()
  return [names, types.map((type) => String(type).replace(/^Nullable\((.+)\)$/, '$1')), ...rows]
}

test('finds the server, its user and its tables', async () => {
  assert.deepEqual(await client.ping(), { success: true })
  const ask = async (query: string) =>
    ((await (await client.query({ query, format: 'JSONCompact' })).json()) as { data: unknown[] }).data
  assert.deepEqual(await ask('select currentUser(), version()'), [[server.user, server.version]])
  assert.deepEqual(await ask(`select toString(getSetting('readonly'))`), [['0']])
  const other = clientOf('another')
  assert.equal(await codeOf(other.query({ query: 'select 1' })), 516)
  await other.close()
})

test('creates a table, inserts rows once for a token, reads and deletes them', async () => {
  const columns = '`id` String, `name` Nullable(String)'
  await client.command({
    query: `create table if not exists \`crm\`.\`people\` (${columns}) engine = MergeTree order by tuple() settings non_replicated_deduplication_window = 1000`,
  })
  const insert = (token: string, values: object[]) =>
    client.insert({
      table: 'crm.people',
      columns: ['id', 'name'],
      values,
      format: 'JSONEachRow',
      clickhouse_settings: { insert_deduplicate: 1, insert_deduplication_token: token },
    })
  const rows = [
    { id: '1', name: 'Zoë "1"\\\n' },
    { id: '2', name: null },
  ]
  await insert('first', rows)
  await insert('first', rows)
  assert.deepEqual(await read('select * from people order by id'), [
    ['id', 'name'],
    ['String', 'String'],
    ['1', 'Zoë "1"\\\n'],
    ['2', null],
  ])
  await client.command({
    query: `delete from people where id = '1'`,
    clickhouse_settings: { mutations_sync: '2' },
  })
  assert.deepEqual((await read('select id from people')).slice(2), [['2']])
})

test('reports why a statement is refused', async () => {
  assert.equal(await codeOf(read('select * from absent')), 60)
  assert.equal(await codeOf(read('select nothing from people')), 47)
  assert.equal(await codeOf(read('selec 1')), 62)
  const insert = client.insert({
    table: 'crm.people',
    columns: ['id'],
    values: [{ id: '1', age: 7 }],
    format: 'JSONEachRow',
    clickhouse_settings: { insert_deduplication_token: 'second', input_format_skip_unknown_fields: 0 },
  })
  assert.equal(await codeOf(insert), 117)
})
