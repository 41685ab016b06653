import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Connector, Json, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { startPostgresql } from '../../test/postgresql.ts'
import { startSnowflakeServer } from '../../test/snowflake-server.ts'
import { cursorOf, readAll, rowsOf } from '../../test/tables.ts'
import { postgresql } from '../postgresql/postgresql.ts'
import { snowflakeSource } from '../snowflake/snowflake-source.ts'

/**
 * Values of a cursor column that are no place to continue from, such as NaN, which is greater than all numbers: whatever a table has of them, later
 * rows are read. Rows whose value is greater than all others are reported by a preview, as rows without a cursor are.
 */

const server = await startPostgresql()
const snowflake = await startSnowflakeServer()
after(() => Promise.all([server.close(), snowflake.close()]))
const version = Number.parseInt(server.version, 10)

type Case = {
  readonly type: string
  /** In the order in which they are read. */
  readonly usual: readonly string[]
  /** Without the ones that are greater than all others. */
  readonly special: readonly string[]
  readonly endless: readonly string[]
  readonly later: string
}
const floats = { usual: ['1', '3'], special: ['-Infinity', '-0'], endless: ['NaN', 'Infinity'], later: '6' }
const times = {
  usual: ['2020-01-01', '2020-01-03'],
  special: ['-infinity', '0044-03-15 BC'],
  endless: ['infinity'],
  later: '2020-01-06',
}
const cases: readonly Case[] = [
  { ...floats, type: 'real' },
  { ...floats, type: 'double precision' },
  { ...floats, type: 'crm.ratio' },
  { ...floats, type: 'crm.share' },
  {
    ...floats,
    type: 'numeric',
    special: version >= 14 ? ['-Infinity'] : [],
    endless: version >= 14 ? floats.endless : ['NaN'],
  },
  { ...floats, type: 'numeric(20, 3)', special: [], endless: ['NaN'] },
  { ...times, type: 'date' },
  { ...times, type: 'timestamp' },
  { ...times, type: 'timestamptz' },
  { ...times, type: 'crm.moment' },
  ...(version >= 17
    ? [{ type: 'interval', usual: ['P1D'], special: ['-infinity'], endless: ['infinity'], later: 'P9D' }]
    : []),
]

async function unreadOf(connector: Connector, options: { secrets: Values; settings: Values }): Promise<number> {
  const reader = await connector.source?.open?.(testContext(options))
  const [finding] = (await reader?.findings?.(10_000)) ?? []
  await reader?.close()
  return Number(/^\d+/.exec(finding?.message ?? '0')?.[0])
}

for (const { type, usual, special, endless, later } of cases)
  test(`PostgreSQL ${version}, ${type}: no value hides later rows`, async () => {
    const { secrets, query } = server
    await query('drop schema crm cascade; create schema crm')
    await query(
      'create domain crm.ratio as double precision; create domain crm.share as crm.ratio; create domain crm.moment as timestamptz',
    )
    await query(`create table crm.readings (id int primary key, at ${type})`)
    const insert = (id: number, value: string | null) =>
      query(`insert into crm.readings values ($1, $2::text::${type})`, [id, value])
    const values = [...usual, ...special]
    for (const [at, value] of values.entries()) await insert(at + 1, value)
    for (const [at, value] of [...endless, null].entries()) await insert(at + 100, value)
    const settings = { schema: 'crm', table: 'readings', syncMode: 'Incremental', markerColumn: 'at', lagSeconds: 0 }
    const read = (cursor?: Json) => readAll(postgresql, { secrets, settings, ...(cursor && { cursor }) })
    const ids = (chunks: Awaited<ReturnType<typeof read>>) => rowsOf(chunks).map(([id]) => Number(id))
    const first = await read()
    assert.deepEqual(
      ids(first).sort((a, b) => a - b),
      values.map((_, at) => at + 1),
    )
    await insert(50, later)
    assert.deepEqual(ids(await read(cursorOf(first))), [50])
    assert.equal(await unreadOf(postgresql, { secrets, settings }), endless.length + 1)
    // A cursor that an earlier version kept at such a value.
    for (const value of endless) {
      const stuck = { order: ['at', 'id'], after: [value, '100'], skip: 1 }
      assert.equal(ids(await read(stuck)).length, values.length + 1, value)
    }
  })

test('Snowflake, a float: no value hides later rows', async () => {
  const { run, routes } = snowflake
  await run(`create table "SALES"."PUBLIC"."READINGS" as
    select * from (values (1, 1.0::double), (2, 'NaN'::double), (3, 3.0::double), (4, null), (5, 'inf'::double), (6, '-inf'::double)) as v ("ID", "AT")`)
  const settings = {
    dataSourceType: 'Table Reference',
    warehouse: 'load_wh',
    database: 'sales',
    schema: 'public',
    table: 'readings',
    syncMode: 'Incremental',
    keyColumns: 'id',
    markerColumn: 'at',
    markerType: 'Numeric',
    lagSeconds: 0,
  }
  const options = { routes, secrets: snowflake.keyPair as Values, settings }
  const read = (cursor?: Json) => readAll(snowflakeSource, { ...options, ...(cursor && { cursor }) })
  const ids = (chunks: Awaited<ReturnType<typeof read>>) => rowsOf(chunks).map(([id]) => Number(id))
  const first = await read()
  assert.deepEqual(ids(first), [1, 3])
  await run(`insert into "SALES"."PUBLIC"."READINGS" values (7, 6.0)`)
  assert.deepEqual(ids(await read(cursorOf(first))), [7])
})
