import { jsonKey, person, type Side, s3, secret } from './side.ts'

/** Databases and data warehouses. */
export const databases: readonly Side[] = [
  {
    slug: 'google-bigquery-source',
    secrets: { jsonKey },
    settings: {
      projectId: 'example-project',
      dataset: 'crm',
      table: 'people',
      keyColumns: 'id',
      sqlQuery: 'select * from crm.people',
    },
  },
  {
    slug: 'clickhouse-source',
    secrets: { address: 'https://peer.example.com', user: 'reader', password: secret('click') },
    settings: { database: 'crm', table: 'people', syncMode: 'Full', keyColumns: 'id' },
  },
  {
    slug: 'clickhouse-destination',
    secrets: { address: 'https://peer.example.com', user: 'loader', password: secret('click') },
    settings: { database: 'crm', table: 'people' },
    row: person,
  },
  {
    slug: 'databricks-source',
    secrets: { host: 'peer.example.com', authType: 'access-token', accessToken: secret('dapi') },
    settings: { warehouse: 'wh1', catalog: 'main', schema: 'crm', table: 'people', syncMode: 'Full', keyColumns: 'id' },
  },
  {
    slug: 'databricks-destination',
    secrets: { host: 'peer.example.com', authType: 'access-token', accessToken: secret('dapi') },
    settings: { warehouse: 'wh1', catalog: 'main', schema: 'crm', table: 'people', volume: 'landing' },
    row: person,
  },
  {
    slug: 'google-bigquery-destination',
    secrets: { jsonKey },
    settings: { projectId: 'example-project', dataset: 'crm', table: 'people', writeMode: 'Append' },
    row: person,
  },
  {
    slug: 'amazon-redshift-source',
    secrets: { host: 'peer.example.com', database: 'crm', user: 'loader', password: secret('rs'), tlsMode: 'disable' },
    settings: { table: 'people' },
  },
  {
    slug: 'amazon-redshift-destination',
    secrets: {
      ...s3,
      host: 'peer.example.com',
      database: 'crm',
      user: 'loader',
      password: secret('rs'),
      tlsMode: 'disable',
    },
    settings: { table: 'people', stagingPath: 's3://staging/load/' },
    row: person,
  },
  {
    slug: 'snowflake-source',
    secrets: { authType: 'basic', username: 'loader', password: secret('snow'), snowflakeAccount: 'xy12345' },
    settings: {
      dataSourceType: 'Table Reference',
      warehouse: 'load_wh',
      database: 'sales',
      schema: 'public',
      table: 'people',
      syncMode: 'Full',
      keyColumns: 'id',
    },
  },
  {
    slug: 'snowflake-destination',
    secrets: { authType: 'basic', username: 'loader', password: secret('snow'), accountLocator: 'xy12345' },
    settings: { warehouse: 'load_wh', database: 'sales', schema: 'public', table: 'people', writeMode: 'Append' },
    row: person,
  },
  {
    slug: 'postgresql',
    secrets: { host: 'peer.example.com', database: 'crm', user: 'loader', password: secret('pg'), tlsMode: 'disable' },
    settings: { table: 'people' },
    row: person,
  },
  {
    slug: 'mysql',
    secrets: { host: 'peer.example.com', database: 'crm', user: 'loader', password: secret('my'), tlsMode: 'disable' },
    settings: { table: 'people' },
    row: person,
  },
  {
    slug: 'kafka',
    secrets: {
      brokers: '',
      saslMechanism: 'SCRAM-SHA-512',
      user: 'loader',
      password: secret('ka'),
      tlsMode: 'disable',
    },
    settings: { topic: 'people' },
    row: person,
  },
]
