import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { type Connector, ConnectorError, type Values } from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { startBigQueryServer } from '../../test/bigquery-server.ts'
import { startClickHouseServer } from '../../test/clickhouse-server.ts'
import { startDatabricksServer } from '../../test/databricks-server.ts'
import type { FailingProxy } from '../../test/failing-proxy.ts'
import { stagingBucket, startRedshiftServer } from '../../test/redshift-server.ts'
import { rogueBodies } from '../../test/rogue-answers.ts'
import { startSnowflakeServer } from '../../test/snowflake-server.ts'
import { batchOf, deliver, inspect, readAll } from '../../test/tables.ts'
import { clickhouseDestination } from '../clickhouse/clickhouse-destination.ts'
import { clickhouseSource } from '../clickhouse/clickhouse-source.ts'
import { databricksDestination } from '../databricks/databricks-destination.ts'
import { databricksSource } from '../databricks/databricks-source.ts'
import { googleBigqueryDestination } from '../google-bigquery/google-bigquery-destination.ts'
import { googleBigquerySource } from '../google-bigquery/google-bigquery-source.ts'
import { amazonRedshiftDestination } from '../redshift/amazon-redshift-destination.ts'
import { snowflakeDestination } from '../snowflake/snowflake-destination.ts'
import { snowflakeSource } from '../snowflake/snowflake-source.ts'

const seed = 20_260_131
const [snowflake, bigQuery, databricks, clickhouse, redshift] = await Promise.all([
  startSnowflakeServer(),
  startBigQueryServer(),
  startDatabricksServer(),
  startClickHouseServer(),
  startRedshiftServer(),
])
after(() =>
  Promise.all([snowflake.close(), bigQuery.close(), databricks.close(), clickhouse.close(), redshift.close()]),
)
await clickhouse.run('create table crm.people (id bigint, name varchar)')
await databricks.run('create table crm.people (id bigint, name varchar)')
await redshift.query('create table crm.people (id bigint, name varchar(20))')
await snowflake.run(
  `create table "SALES"."PUBLIC"."PEOPLE" as select i as "ID", 'a' as "NAME" from range(1, 10) as t(i)`,
)
await bigQuery.run(`create table crm.people as select i as id, 'a' as name from range(1, 10) as t(i)`)

type Side = {
  readonly connector: Connector
  readonly proxy: FailingProxy
  readonly routes: Readonly<Record<string, string>>
  readonly secrets: Values
  readonly settings: Values
  /** Answers as the platform gives them. */
  readonly good: readonly object[]
  /** Tries one of so many answers; by default all. Each takes a connection to a database besides. */
  readonly oneOf?: number
}

const snowflakeAnswer = {
  code: '090001',
  statementHandle: '01b2-4711',
  message: 'Statement executed successfully.',
  resultSetMetaData: {
    numRows: 2,
    format: 'jsonv2',
    partitionInfo: [{ rowCount: 2 }],
    rowType: [
      { name: 'ID', type: 'fixed', scale: 0 },
      { name: 'NAME', type: 'text' },
    ],
  },
  data: [
    ['1', 'a'],
    ['2', null],
  ],
}

const sides: readonly Side[] = [
  {
    connector: snowflakeSource,
    proxy: snowflake.proxy,
    routes: snowflake.routes,
    secrets: snowflake.accessToken,
    settings: {
      dataSourceType: 'Table Reference',
      warehouse: 'load_wh',
      database: 'sales',
      schema: 'public',
      table: 'people',
      syncMode: 'Full',
      keyColumns: 'id',
    },
    good: [snowflakeAnswer],
  },
  {
    connector: snowflakeDestination,
    proxy: snowflake.proxy,
    routes: snowflake.routes,
    secrets: snowflake.accessToken,
    settings: { warehouse: 'load_wh', database: 'sales', schema: 'public', table: 'people', writeMode: 'Replace' },
    good: [snowflakeAnswer],
  },
  {
    connector: googleBigquerySource,
    proxy: bigQuery.proxy,
    routes: bigQuery.routes,
    secrets: { jsonKey: bigQuery.jsonKey },
    settings: {
      projectId: 'example-project',
      dataset: 'crm',
      table: 'people',
      keyColumns: 'id',
      sqlQuery: 'select * from crm.people',
    },
    good: [
      { access_token: 'a-token', expires_in: 3600, token_type: 'Bearer' },
      {
        jobReference: { projectId: 'example-project', jobId: 'penstock_1', location: 'EU' },
        status: { state: 'DONE' },
        statistics: {
          query: {
            schema: {
              fields: [
                { name: 'id', type: 'INTEGER', mode: 'NULLABLE' },
                { name: 'name', type: 'RECORD', mode: 'REPEATED', fields: [{ name: 'x', type: 'STRING' }] },
              ],
            },
          },
        },
        jobComplete: true,
        totalRows: '1',
        rows: [{ f: [{ v: '1' }, { v: [{ v: { f: [{ v: 'x' }] } }] }] }],
      },
    ],
  },
  {
    connector: clickhouseDestination,
    proxy: clickhouse.proxy,
    routes: clickhouse.routes,
    secrets: clickhouse.secrets,
    settings: { database: 'crm', table: 'people', writeMode: 'Replace' },
    good: [
      {
        meta: [{ name: 'name', type: 'String' }],
        data: [
          ['id', 'Nullable(Int64)', ''],
          ['name', 'Array(String)', 'DEFAULT'],
        ],
        rows: 2,
      },
    ],
  },
  {
    connector: clickhouseSource,
    proxy: clickhouse.proxy,
    routes: clickhouse.routes,
    secrets: clickhouse.secrets,
    settings: { database: 'crm', table: 'people', syncMode: 'Full', keyColumns: 'id' },
    good: [{ meta: [{ name: 'name', type: 'String' }], data: [['0', '26.3.1.1']], rows: 1 }],
  },
  {
    connector: databricksDestination,
    proxy: databricks.proxy,
    routes: databricks.routes,
    secrets: databricks.secrets,
    settings: {
      warehouse: 'wh1',
      catalog: 'main',
      schema: 'crm',
      table: 'people',
      volume: 'landing',
      writeMode: 'Upsert',
      keyColumns: 'id',
    },
    good: [
      { access_token: 'a-token', expires_in: 3600, token_type: 'Bearer' },
      {
        columns: [
          { name: 'id', type_text: 'bigint', nullable: false },
          { name: 'name', type_text: 'array<string>', nullable: true },
        ],
        statement_id: '01b2-4711',
        status: { state: 'FAILED', error: { error_code: 'BAD_REQUEST', message: '[CAST_INVALID_INPUT] canary' } },
        result: { data_array: [['2', '2', '0']] },
      },
    ],
  },
  {
    connector: databricksSource,
    proxy: databricks.proxy,
    routes: databricks.routes,
    secrets: databricks.secrets,
    settings: { warehouse: 'wh1', catalog: 'main', schema: 'crm', table: 'people', syncMode: 'Full', keyColumns: 'id' },
    good: [
      { access_token: 'a-token', expires_in: 3600, token_type: 'Bearer' },
      {
        columns: [{ name: 'id', type_text: 'bigint', nullable: false }],
        statement_id: '01b2-4711',
        status: { state: 'SUCCEEDED' },
        manifest: {
          schema: {
            columns: [
              { name: 'id', type_text: 'BIGINT', position: 0 },
              { name: 'name', type_text: 'ARRAY<STRING>', position: 1 },
            ],
          },
          total_chunk_count: 1,
          total_row_count: 1,
          truncated: false,
        },
        result: {},
        external_links: [
          {
            chunk_index: 0,
            external_link: 'https://results.storage.example.com/1/0?signature=s1',
            http_headers: { 'x-key': 'k1' },
            next_chunk_index: 1,
          },
        ],
      },
      [['1', '["a"]']],
    ],
  },
  // The bucket of its staged files; `redshift/rogue.large.test.ts` is about Redshift itself.
  {
    connector: amazonRedshiftDestination,
    proxy: redshift.s3.proxy,
    routes: redshift.routes,
    secrets: redshift.secrets,
    settings: { schema: 'crm', table: 'people', stagingPath: `s3://${stagingBucket}/`, writeMode: 'Append' },
    good: [{ ListBucketResult: { Contents: [{ Key: 'penstock/x', Size: 1, ETag: 'e' }], IsTruncated: false } }],
    oneOf: 6,
  },
  {
    connector: googleBigqueryDestination,
    proxy: bigQuery.proxy,
    routes: bigQuery.routes,
    secrets: { jsonKey: bigQuery.jsonKey },
    settings: { projectId: 'example-project', dataset: 'crm', table: 'people', writeMode: 'Upsert', keyColumns: 'id' },
    good: [
      { access_token: 'a-token', expires_in: 3600, token_type: 'Bearer' },
      {
        type: 'TABLE',
        location: 'EU',
        creationTime: '1750000000000',
        schema: {
          fields: [
            { name: 'id', type: 'INTEGER', mode: 'REQUIRED' },
            { name: 'name', type: 'RECORD', mode: 'REPEATED', fields: [{ name: 'x', type: 'STRING' }] },
          ],
        },
        jobReference: { projectId: 'example-project', jobId: 'penstock_1', location: 'EU' },
        status: {
          state: 'DONE',
          errorResult: { reason: 'invalid', message: 'too many errors' },
          errors: [{ reason: 'invalid', message: 'JSON parsing error in row starting at position 0: no' }],
        },
      },
    ],
  },
]

const batch = batchOf(
  ['id', 'name'],
  [
    [1, 'a'],
    [2, null],
  ],
)
const deliveries = (connector: Connector, context: TestContextOptions) => [
  () => inspect(connector, { ...context, columns: batch.columns, rows: batch.rows }),
  () => deliver(connector, context, batch),
]

describe('answers of a data warehouse that are not what they should be', () => {
  for (const { connector, proxy, routes, secrets, settings, good, oneOf = 1 } of sides) {
    const bodies = rogueBodies(good, seed, 120)
    for (const status of [200, 400, 401, 404, 422, 500]) {
      for (const [from, name] of ['the first', 'the second', 'the third', 'the fourth'].entries()) {
        test(`${connector.name}, status ${status}, from ${name} answer on`, { timeout: 120_000 }, async () => {
          // Not each of them with each status and place, which would take minutes.
          for (const [at, body] of bodies.entries()) {
            if ((at + from) % ((status === 200 ? 2 : 12) * oneOf) > 0) continue
            let seen = 0
            proxy.failure = { what: { status, body }, of: () => seen++ >= from }
            const signal = AbortSignal.timeout(20_000)
            const context = { routes, secrets, settings, signal }
            const { source } = connector
            const works = [
              () => connector.check?.(testContext(context)),
              ...(source ? [() => readAll(connector, context)] : deliveries(connector, context)),
            ]
            for (const work of works) {
              seen = 0
              const [result] = await Promise.allSettled([work()])
              if (result?.status !== 'rejected') continue
              const reason: unknown = result.reason
              const what = `${connector.slug} got ${status} ${body.slice(0, 2000)}`
              assert.ok(reason instanceof ConnectorError, `${what}: ${String((reason as Error)?.stack)}`)
              assert.notEqual(reason.code, 'internal')
              assert.ok(reason.message.length < 1000, `${what}: a message of ${reason.message.length} characters`)
            }
          }
          proxy.failure = undefined
        })
      }
    }
  }
})
