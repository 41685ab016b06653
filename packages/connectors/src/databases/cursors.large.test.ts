import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Values } from '@penstock/connector'
import { startClickHouseServer } from '../../test/clickhouse-server.ts'
import { startDatabricksServer } from '../../test/databricks-server.ts'
import { startSnowflakeServer } from '../../test/snowflake-server.ts'
import { cursorOf, readAll, rowsOf } from '../../test/tables.ts'
import { clickhouseSource } from '../clickhouse/clickhouse-source.ts'
import { databricksSource } from '../databricks/databricks-source.ts'
import { snowflakeSource } from '../snowflake/snowflake-source.ts'

/** Cursors that many rows have, that are finer than milliseconds, or that rows do not have, in warehouses that are read by pages. */

const [databricks, clickhouse, snowflake] = await Promise.all([
  startDatabricksServer(),
  startClickHouseServer(),
  startSnowflakeServer(),
])
after(async () => {
  for (const server of [databricks, clickhouse, snowflake]) await server.close()
})

const incremental = { syncMode: 'Incremental', keyColumns: 'id', lagSeconds: 0 }
const stores = [
  {
    name: 'Snowflake',
    run: snowflake.run,
    table: '"SALES"."PUBLIC"."CURSORS"',
    columns: ['"ID"', '"AT"', '"N"'],
    connector: snowflakeSource,
    secrets: snowflake.keyPair as Values,
    routes: snowflake.routes,
    settings: { dataSourceType: 'Table Reference', warehouse: 'load_wh', database: 'sales', schema: 'public' },
    typed: true,
  },
  {
    name: 'Databricks',
    run: databricks.run,
    table: 'crm.cursors',
    columns: ['id', 'at', 'n'],
    connector: databricksSource,
    secrets: databricks.secrets as Values,
    routes: databricks.routes,
    settings: { warehouse: 'wh1', catalog: 'main', schema: 'crm' },
    typed: false,
  },
  {
    name: 'ClickHouse',
    run: clickhouse.run,
    table: 'crm.cursors',
    columns: ['id', 'at', 'n'],
    connector: clickhouseSource,
    secrets: clickhouse.secrets as Values,
    routes: clickhouse.routes,
    settings: { database: 'crm' },
    typed: false,
  },
] as const

for (const { name, run, table, columns, connector, secrets, routes, settings, typed } of stores) {
  test(`${name}: rows with one cursor are read across pages, each microsecond counts, and rows without a cursor are left out`, async () => {
    const [id, at, n] = columns
    // 6,000 rows with one cursor, 6 that follow it by a microsecond each, and 3 without one.
    await run(`create table ${table} as select i as ${id},
        case when i <= 6000 then timestamp '2026-01-31 12:00:00.123456'
             when i <= 6006 then timestamp '2026-01-31 12:00:00.123456' + interval (i - 6000) microsecond end as ${at},
        case when i <= 6000 then 7 when i <= 6006 then i end as ${n}
      from range(1, 6010) as numbers(i)`)
    for (const marker of ['at', 'n'] as const) {
      const markerType = marker === 'at' ? 'Datetime' : 'Numeric'
      const own = { ...settings, ...incremental, table: 'cursors', markerColumn: marker, ...(typed && { markerType }) }
      const options = { routes, secrets, settings: own }
      const idsOf = (chunks: Awaited<ReturnType<typeof readAll>>) => rowsOf(chunks).map(([first]) => Number(first))
      const first = await readAll(connector, options)
      assert.deepEqual(
        idsOf(first),
        Array.from({ length: 6006 }, (_, i) => i + 1),
      )
      assert.ok(first.length > 1)
      const rest = await readAll(connector, options, first[0]?.checkpoint)
      assert.deepEqual(idsOf(rest), idsOf(first.slice(1)))
      // The next transfer may begin behind any row.
      for (const count of [1, 4_999]) {
        const cursor = first[0]?.cursorAfter?.(count)
        assert.ok(cursor !== undefined)
        assert.deepEqual(idsOf(await readAll(connector, { ...options, cursor })), idsOf(first).slice(count))
      }
      const cursor = cursorOf(first)
      assert.deepEqual(idsOf(await readAll(connector, { ...options, cursor })), [])
      const time = `timestamp '2026-01-31 12:00:00.123456'`
      const added = marker === 'at' ? `${time} + interval 7 microsecond, null` : `null, 6007`
      // One of them has the cursor of the last row.
      await run(
        `insert into ${table} values (7001, ${added}), (7002, ${marker === 'at' ? `${time} + interval 6 microsecond, null` : 'null, 6006'})`,
      )
      assert.deepEqual(idsOf(await readAll(connector, { ...options, cursor })), [7002, 7001])
      await run(`delete from ${table} where ${id} > 7000`)
    }
    await run(`drop table ${table}`)
  })
}
