import type { Connector, Values } from '@penstock/connector'
import { clickhouseDestination } from '../src/clickhouse/clickhouse-destination.ts'
import { databricksDestination } from '../src/databricks/databricks-destination.ts'
import { googleBigqueryDestination } from '../src/google-bigquery/google-bigquery-destination.ts'
import { snowflakeDestination } from '../src/snowflake/snowflake-destination.ts'
import { startBigQueryServer } from './bigquery-server.ts'
import { startClickHouseServer } from './clickhouse-server.ts'
import { startDatabricksServer } from './databricks-server.ts'
import type { FailingProxy } from './failing-proxy.ts'
import { startSnowflakeServer } from './snowflake-server.ts'
import type { EngineResult } from './warehouse-engine.ts'

/** A warehouse over HTTP, with a table `t` for a connector to write to. */
export type Warehouse = {
  readonly connector: Connector
  readonly options: { readonly secrets: Values; readonly routes: Readonly<Record<string, string>> }
  readonly settings: Values
  /** As statements name the table. */
  readonly table: string
  /** Runs a statement of DuckDB in it. */
  readonly run: (statement: string) => Promise<EngineResult>
  readonly proxy: FailingProxy
  /** How many tables and files are left beside the table. */
  readonly left: () => Promise<number>
}

/** Starts a server for each warehouse over HTTP. */
export async function startWarehouses(): Promise<{
  readonly warehouses: readonly Warehouse[]
  close(): Promise<void>
}> {
  const [bigQuery, databricks, clickhouse, snowflake] = await Promise.all([
    startBigQueryServer(),
    startDatabricksServer(),
    startClickHouseServer(),
    startSnowflakeServer(),
  ])
  const runInBigQuery = bigQuery.run as Warehouse['run']
  const tablesLike = async (run: Warehouse['run'], pattern: string): Promise<number> => {
    const { rows } = await run(`select count(*) from information_schema.tables where table_name like '${pattern}'`)
    return Number(rows[0]?.[0])
  }
  const warehouses: readonly Warehouse[] = [
    {
      connector: googleBigqueryDestination,
      options: { secrets: { jsonKey: bigQuery.jsonKey }, routes: bigQuery.routes },
      settings: { projectId: 'example-project', dataset: 'crm', table: 't' },
      table: 'crm.t',
      run: runInBigQuery,
      proxy: bigQuery.proxy,
      left: () => tablesLike(runInBigQuery, 'penstock%'),
    },
    {
      connector: databricksDestination,
      options: { secrets: databricks.secrets, routes: databricks.routes },
      settings: { warehouse: 'wh1', catalog: 'main', schema: 'crm', table: 't', volume: 'landing' },
      table: 'crm.t',
      run: databricks.run,
      proxy: databricks.proxy,
      left: async () => databricks.files.size,
    },
    {
      connector: clickhouseDestination,
      options: { secrets: clickhouse.secrets, routes: clickhouse.routes },
      settings: { database: 'crm', table: 't' },
      table: 'crm.t',
      run: clickhouse.run,
      proxy: clickhouse.proxy,
      left: () => tablesLike(clickhouse.run, 'penstock%'),
    },
    {
      connector: snowflakeDestination,
      options: { secrets: snowflake.keyPair, routes: snowflake.routes },
      settings: { warehouse: 'load_wh', database: 'sales', schema: 'public', table: 't' },
      table: '"SALES"."PUBLIC"."T"',
      run: snowflake.run,
      proxy: snowflake.proxy,
      left: async () => {
        if ((await tablesLike(snowflake.run, 'PENSTOCK_WINDOW_KEYS')) === 0) return 0
        const { rows } = await snowflake.run('select count(*) from "SALES"."PUBLIC"."PENSTOCK_WINDOW_KEYS"')
        return Number(rows[0]?.[0])
      },
    },
  ]
  return {
    warehouses,
    async close() {
      for (const server of [bigQuery, databricks, clickhouse, snowflake]) await server.close()
    },
  }
}
