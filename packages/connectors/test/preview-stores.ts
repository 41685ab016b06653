import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cell, Values } from '@penstock/connector'
import type { TestContextOptions } from '@penstock/connector/acceptance'
import { startAzureTestServer } from './azure-server.ts'
import { startBigQueryServer } from './bigquery-server.ts'
import { startClickHouseServer } from './clickhouse-server.ts'
import { startDatabricksServer } from './databricks-server.ts'
import { startDropbox } from './dropbox-server.ts'
import { startGcsServer } from './gcs-server.ts'
import { sheetsRoutes, spreadsheetId, startSheets } from './google-sheets-server.ts'
import { startKafkaBroker } from './kafka-broker.ts'
import { startMariadb } from './mariadb.ts'
import { startPostgresql } from './postgresql.ts'
import { stagingBucket, startRedshiftServer } from './redshift-server.ts'
import { startS3TestServer } from './s3-server.ts'
import { startSftpServer } from './sftp-server.ts'
import { startSnowflakeServer } from './snowflake-server.ts'
import { makeSshKey } from './ssh-keys.ts'
import { startWebhookServer } from './webhook-server.ts'

/** A destination that takes rows with any columns, and a server of it that runs here. */
export type PreviewStore = {
  readonly context: TestContextOptions
  /** Each is one way to write. */
  readonly settings: readonly Values[]
  /** A good cell of each column. */
  readonly columns: Readonly<Record<string, Cell>>
  /** Whether a row can be rejected at all. */
  readonly rejects: boolean
  /** Prepares the destination for a delivery. */
  reset(): Promise<unknown>
  close(): Promise<unknown>
}

const tableColumns = {
  id: '1',
  name: 'Ada',
  note: 'any',
  amount: '1.50',
  count: '7',
  ratio: '0.5',
  day: '2026-01-31',
  at: '2026-01-31T12:00:00Z',
  member: true,
  code: 'c1',
}

const fileFormats = (key: string): Values[] =>
  ['CSV', 'NDJSON', 'Parquet'].map((fileFormat) => ({ fileFormat, [key]: false }))

const asFiles = { columns: tableColumns, rejects: false, reset: async () => {} }

/** The destinations by their slugs. Each resolves with `undefined` if its server is not installed. */
export const previewStores: Readonly<Record<string, () => Promise<PreviewStore | undefined>>> = {
  postgresql: async () => {
    const { secrets, query, close } = await startPostgresql()
    const insert = { schema: 'crm', table: 't', writeMode: 'Insert' }
    return {
      context: { secrets },
      settings: [insert, { ...insert, writeMode: 'Upsert', keyColumns: 'id' }],
      columns: { ...tableColumns, json: '{"a":1}', bytes: '\\x00ff', tags: '{a,b}', guid: null },
      rejects: true,
      reset: () =>
        query(`drop schema crm cascade; create schema crm;
          create table crm.t (id bigint primary key, name varchar(8) not null, note text, amount numeric(6, 2) check (amount >= 0),
            count smallint, ratio double precision, day date, at timestamptz, member boolean, code char(3) unique,
            json jsonb, bytes bytea, tags text[], guid uuid, made timestamptz default now(), serial int generated always as identity);
          insert into crm.t (id, name, code) values (2, 'old', 'o2'), (3, 'old', 'o3')`),
      close,
    }
  },
  mysql: async () => {
    const server = await startMariadb()
    if (!server) return undefined
    const { secrets, query, stop } = server
    const insert = { table: 't', writeMode: 'Insert' }
    return {
      context: { secrets },
      settings: [insert, { ...insert, writeMode: 'Upsert', keyColumns: 'id' }],
      columns: { ...tableColumns, json: '{"a":1}', bytes: '\\x00ff', plan: 'basic', year: '2026', bits: '5' },
      rejects: true,
      async reset() {
        await query('drop table if exists t, penstock_batches')
        await query(`create table t (id bigint primary key, name varchar(8) not null, note text, amount decimal(6, 2) check (amount >= 0),
          count smallint, ratio double, day date, at datetime(3), member boolean, code char(3) unique,
          json json, bytes varbinary(9), plan enum('basic', 'large'), year year, bits bit(4),
          twice decimal(8, 2) as (amount * 2), serial int not null auto_increment, key (serial)) character set utf8mb4`)
        await query(`insert into t (id, name, code) values (2, 'old', 'o2'), (3, 'old', 'o3')`)
      },
      close: stop,
    }
  },
  'amazon-redshift-destination': async () => {
    const { secrets, routes, query, close } = await startRedshiftServer()
    const settings = { schema: 'crm', table: 'people', stagingPath: `s3://${stagingBucket}/` }
    return {
      context: { secrets, routes },
      settings: [
        { ...settings, writeMode: 'Append' },
        { ...settings, writeMode: 'Upsert', keyColumns: 'id' },
      ],
      columns: { ...tableColumns, bytes: '\\x00ff', json: '{"a":1}' },
      rejects: true,
      reset: () =>
        query(`drop schema crm cascade; create schema crm;
          create table crm.people (id bigint, name varchar(8) not null, note varchar(65535), amount numeric(6, 2), count smallint,
            ratio double precision, day date, at timestamp, member boolean, code character(3), bytes varbyte, json super)`),
      close,
    }
  },
  'snowflake-destination': async () => {
    const { keyPair, routes, run, close } = await startSnowflakeServer()
    const settings = { warehouse: 'load_wh', database: 'sales', schema: 'public', table: 'people', writeMode: 'Append' }
    return {
      context: { secrets: keyPair, routes },
      settings: [settings],
      columns: tableColumns,
      rejects: true,
      async reset() {
        await run('drop schema "SALES"."PUBLIC" cascade')
        await run('create schema "SALES"."PUBLIC"')
        await run(`create table "SALES"."PUBLIC"."PEOPLE" ("ID" decimal(38, 0), "NAME" varchar not null, "NOTE" varchar, "AMOUNT" decimal(6, 2),
          "COUNT" decimal(5, 0), "RATIO" double, "DAY" date, "AT" timestamp, "MEMBER" boolean, "CODE" varchar)`)
      },
      close,
    }
  },
  'clickhouse-destination': async () => {
    const { secrets, routes, run, close } = await startClickHouseServer()
    return {
      context: { secrets, routes },
      settings: [{ database: 'crm', table: 'people', writeMode: 'Append' }],
      columns: tableColumns,
      rejects: true,
      async reset() {
        await run('drop table if exists crm.people')
        await run(`create table crm.people (id bigint, name varchar not null, note varchar, amount decimal(6, 2), "count" smallint,
          ratio double, "day" date, "at" timestamp, member boolean, code varchar)`)
      },
      close,
    }
  },
  'databricks-destination': async () => {
    const { secrets, routes, run, close } = await startDatabricksServer()
    const settings = { warehouse: 'wh1', catalog: 'main', schema: 'crm', table: 'people', volume: 'landing' }
    return {
      context: { secrets, routes },
      settings: [
        { ...settings, writeMode: 'Append' },
        { ...settings, writeMode: 'Upsert', keyColumns: 'id' },
      ],
      columns: { ...tableColumns, bytes: '\\x00ff' },
      rejects: true,
      async reset() {
        await run('drop table if exists crm.people')
        await run(`create table crm.people (id bigint, name varchar not null, note varchar, amount decimal(6, 2), "count" smallint,
          ratio double, "day" date, "at" timestamp, member boolean, code varchar, bytes blob)`)
      },
      close,
    }
  },
  'google-bigquery-destination': async () => {
    const { jsonKey, routes, run, close } = await startBigQueryServer()
    const settings = { projectId: 'example-project', dataset: 'crm', table: 'people' }
    return {
      context: { secrets: { jsonKey }, routes },
      settings: [
        { ...settings, writeMode: 'Append' },
        { ...settings, writeMode: 'Upsert', keyColumns: 'id' },
      ],
      columns: { ...tableColumns, bytes: '\\x00ff' },
      rejects: true,
      async reset() {
        await run('drop table if exists crm.people')
        await run(`create table crm.people (id bigint, name varchar not null, note varchar, amount decimal(6, 2), "count" bigint,
          ratio double, "day" date, "at" timestamp, member boolean, code varchar, bytes blob)`)
      },
      close,
    }
  },
  'google-sheets': async () => {
    const server = await startSheets()
    const settings = { spreadsheet: spreadsheetId, sheet: 'People' }
    return {
      ...asFiles,
      context: { secrets: { authType: 'service-account', jsonKey: server.jsonKey }, routes: sheetsRoutes(server.url) },
      settings: [settings, { ...settings, writeMode: 'Replace' }],
      async reset() {
        server.reset()
      },
      close: () => server.close(),
    }
  },
  'local-folder': async () => {
    const folder = await mkdtemp(join(tmpdir(), 'penstock-previews-'))
    return {
      ...asFiles,
      context: { secrets: { folder }, localFolders: [folder] },
      settings: fileFormats('gzip'),
      close: () => rm(folder, { recursive: true, force: true }),
    }
  },
  'sftp-destination': async () => {
    const folder = await mkdtemp(join(tmpdir(), 'penstock-previews-'))
    const [hostKey, userKey] = [makeSshKey('ed25519', {}), makeSshKey('ed25519', {})]
    const server = await startSftpServer({ hostKey: hostKey.private, username: 'ada', keys: [userKey.public] })
    const secrets = { hostname: '127.0.0.1', port: server.port, username: 'ada', sshPrivateKey: userKey.private }
    return {
      ...asFiles,
      context: { secrets: { ...secrets, hostKeyCheck: 'first-use' } },
      settings: fileFormats('gzip').map((format) => ({ ...format, path: folder })),
      async close() {
        server.close()
        await rm(folder, { recursive: true, force: true })
      },
    }
  },
  'amazon-s3-destination': async () => {
    const server = await startS3TestServer(
      ['out'],
      [{ id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }],
    )
    return {
      ...asFiles,
      context: { secrets: server.secrets },
      settings: fileFormats('gzip').map((format) => ({ ...format, outputPath: 's3://out/exports/' })),
      close: () => server.close(),
    }
  },
  'azure-blob-storage-destination': async () => {
    const server = await startAzureTestServer(['out'])
    return {
      ...asFiles,
      context: { secrets: server.secrets, routes: server.routes },
      settings: fileFormats('gzipOutput').map((format) => ({
        ...format,
        outputPath: `${server.address('out')}exports/`,
      })),
      close: () => server.close(),
    }
  },
  'google-cloud-storage-destination': async () => {
    const server = await startGcsServer(['out'])
    return {
      ...asFiles,
      context: { secrets: { jsonKey: server.jsonKey }, routes: server.routes },
      settings: fileFormats('gzipOutput').map((format) => ({ ...format, outputPath: 'gs://out/exports/' })),
      close: () => server.close(),
    }
  },
  dropbox: async () => {
    const { secrets, routes, close } = await startDropbox()
    return {
      ...asFiles,
      context: { secrets, routes },
      settings: fileFormats('gzip').map((format) => ({ ...format, outputPath: '/exports/' })),
      close,
    }
  },
  kafka: async () => {
    const broker = await startKafkaBroker()
    return {
      context: { secrets: { brokers: broker.address, tlsMode: 'disable', saslMechanism: 'none' } },
      settings: [{ topic: 'people' }, { topic: 'people', keyColumns: 'id,name', compression: 'none' }],
      columns: tableColumns,
      rejects: false,
      reset: async () => broker.create('people', 3),
      close: () => broker.close(),
    }
  },
  webhook: async () => {
    const signingSecret = `whsec_${Buffer.from('s'.repeat(24)).toString('base64')}`
    const authorization = 'Bearer canary-of-the-webhook'
    const server = await startWebhookServer({ signingSecret, authorization, judge: () => undefined })
    return {
      ...asFiles,
      context: { secrets: { url: server.url, signingSecret, authorizationHeader: authorization } },
      settings: [{ rowsPerRequest: 30 }],
      async reset() {
        server.reset()
      },
      close: () => server.close(),
    }
  },
}
