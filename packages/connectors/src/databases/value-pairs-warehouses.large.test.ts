import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { seed } from '../../../../test/harness/seed.ts'
import { startBigQueryServer } from '../../test/bigquery-server.ts'
import { startClickHouseServer } from '../../test/clickhouse-server.ts'
import { startDatabricksServer } from '../../test/databricks-server.ts'
import { startSnowflakeServer } from '../../test/snowflake-server.ts'
import { kinds } from '../../test/value-kinds.ts'
import { openValuePairs, type Store } from '../../test/value-pairs.ts'
import { clickhouseDestination } from '../clickhouse/clickhouse-destination.ts'
import { clickhouseSource } from '../clickhouse/clickhouse-source.ts'
import { databricksDestination } from '../databricks/databricks-destination.ts'
import { databricksSource } from '../databricks/databricks-source.ts'
import { googleBigqueryDestination } from '../google-bigquery/google-bigquery-destination.ts'
import { googleBigquerySource } from '../google-bigquery/google-bigquery-source.ts'
import { snowflakeDestination } from '../snowflake/snowflake-destination.ts'
import { snowflakeSource } from '../snowflake/snowflake-source.ts'

const pairs = await openValuePairs()
const [bigQuery, databricks, clickhouse, snowflake] = await Promise.all([
  startBigQueryServer(),
  startDatabricksServer(),
  startClickHouseServer(),
  startSnowflakeServer(),
])
after(async () => {
  await pairs.close()
  for (const server of [bigQuery, databricks, clickhouse, snowflake]) await server.close()
})

type Warehouse = {
  readonly name: string
  readonly run: (statement: string) => Promise<unknown>
  /** The whole name of the table. */
  readonly table: string
  readonly columns: readonly [id: string, value: string]
  /** Types of DuckDB in the place of those of the kinds. */
  readonly types?: Readonly<Record<string, string>>
  /** By the type of the values. */
  readonly refuses?: Readonly<Record<string, Store['refuses']>>
  readonly store: Store
}

const inBigQuery = { projectId: 'example-project', dataset: 'crm', table: 'middle', keyColumns: 'id' }
const inDatabricks = { warehouse: 'wh1', catalog: 'main', schema: 'crm', table: 'middle' }
const inClickHouse = { database: 'crm', table: 'middle' }
const inSnowflake = { warehouse: 'load_wh', database: 'sales', schema: 'public', table: 'middle' }

const warehouses: readonly Warehouse[] = [
  {
    name: 'Snowflake',
    run: snowflake.run,
    table: '"SALES"."PUBLIC"."MIDDLE"',
    columns: ['"ID"', '"VALUE"'],
    store: {
      connector: snowflakeSource,
      writer: snowflakeDestination,
      secrets: snowflake.keyPair,
      routes: snowflake.routes,
      from: { ...inSnowflake, dataSourceType: 'Table Reference', keyColumns: 'id' },
      to: { ...inSnowflake, writeMode: 'Append' },
    },
  },
  {
    name: 'BigQuery',
    run: bigQuery.run,
    table: 'crm.middle',
    columns: ['id', 'value'],
    store: {
      connector: googleBigquerySource,
      writer: googleBigqueryDestination,
      secrets: { jsonKey: bigQuery.jsonKey },
      routes: bigQuery.routes,
      from: { ...inBigQuery, sqlQuery: 'select id, value from crm.middle' },
      to: { ...inBigQuery, writeMode: 'Append' },
    },
  },
  {
    name: 'Databricks',
    run: databricks.run,
    table: 'crm.middle',
    columns: ['id', 'value'],
    // It has no time of day.
    types: { time: 'varchar' },
    store: {
      connector: databricksSource,
      writer: databricksDestination,
      secrets: databricks.secrets,
      routes: databricks.routes,
      from: { ...inDatabricks, keyColumns: 'id' },
      to: { ...inDatabricks, volume: 'landing', writeMode: 'Append' },
    },
  },
  {
    name: 'ClickHouse',
    run: clickhouse.run,
    table: 'crm.middle',
    columns: ['id', 'value'],
    // It has neither; its texts are bytes.
    types: { time: 'varchar', bytea: 'varchar' },
    refuses: {
      // Date32 and DateTime64(6) hold no others.
      date: (value) => value < '1900-01-01' || value > '2299-12-31',
      timestamp: (value) => value < '1900-01-01' || value > '2262-04-11',
    },
    store: {
      connector: clickhouseSource,
      writer: clickhouseDestination,
      secrets: clickhouse.secrets,
      routes: clickhouse.routes,
      from: { ...inClickHouse, keyColumns: 'id' },
      to: { ...inClickHouse, writeMode: 'Append' },
    },
  },
]

for (const { name, run, table, columns, types = {}, refuses = {}, store } of warehouses) {
  describe(`values from PostgreSQL through ${name} to PostgreSQL`, () => {
    for (const kind of kinds) {
      test(`${kind.postgresql}: arrive as they were (PENSTOCK_TEST_SEED=${seed})`, async () => {
        const type = types[kind.postgresql] ?? kind.duckdb ?? kind.postgresql
        const cannot = refuses[kind.postgresql]
        await run(`drop table if exists ${table}`)
        await run(`create table ${table} (${columns[0]} int, ${columns[1]} ${type})`)
        await pairs.pass(kind, cannot ? { ...store, refuses: cannot } : store)
      })
    }

    test('bigint in a column of floating-point numbers: arrive as they were, or are rejected', async () => {
      const [bigint] = kinds
      assert.equal(bigint?.postgresql, 'bigint')
      await run(`drop table if exists ${table}`)
      await run(`create table ${table} (${columns[0]} int, ${columns[1]} double)`)
      await pairs.pass(bigint, { ...store, refuses: (value) => String(Number(value)) !== value })
    })
  })
}
