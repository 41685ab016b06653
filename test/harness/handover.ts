import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Preview } from '@penstock/wire'
import { startBigQueryServer } from '../../packages/connectors/test/bigquery-server.ts'
import { startDatabricksServer } from '../../packages/connectors/test/databricks-server.ts'
import { startGcsServer } from '../../packages/connectors/test/gcs-server.ts'
import { makeGoogleAccounts } from '../../packages/connectors/test/google-accounts.ts'
import { clusterRole, stagingBucket, startRedshiftServer } from '../../packages/connectors/test/redshift-server.ts'
import { startS3TestServer } from '../../packages/connectors/test/s3-server.ts'
import { startSnowflakeServer } from '../../packages/connectors/test/snowflake-server.ts'
import { createCatalogue } from '../../packages/server/src/connectors/catalogue.ts'
import { type Database, openDatabase } from '../../packages/server/src/db/database.ts'
import { createLogger } from '../../packages/server/src/log.ts'
import { openKeyring } from '../../packages/server/src/secrets/keyring.ts'
import { type MasterKey, parseMasterKey } from '../../packages/server/src/secrets/seal.ts'
import { Claims } from '../../packages/server/src/transfers/supervisor/claim.ts'
import { workOnTransfers } from '../../packages/server/src/transfers/supervisor/work.ts'
import { connectorBySlug } from './fixtures.ts'
import { createInProcessRunners } from './in-process-runners.ts'
import { noSecretManagers } from './secret-managers.ts'
import { noLimits, supervision } from './supervision.ts'

/** A bucket of S3 and a warehouse of Snowflake, and workers that reach both by their addresses in the world. */

/** The bucket, which is a part of the name of its host. */
export const bucket = 'landing'
const integration = 'S3_LANDING'

export const s3Source = connectorBySlug('amazon-s3-source')
export const snowflakeDestination = connectorBySlug('snowflake-destination')

export type Stores = Awaited<ReturnType<typeof startStores>>

export async function startStores() {
  const key = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
  const s3 = await startS3TestServer([bucket], [key])
  const snowflake = await startSnowflakeServer()
  snowflake.storage = {
    integration,
    allowed: [`s3://${bucket}/`],
    read: (from, name) => s3.read(from, name).catch(() => undefined),
  }
  return {
    s3,
    snowflake,
    routes: { ...snowflake.routes, [`https://${bucket}.s3.us-east-1.amazonaws.com`]: s3.proxy.url },
    /** Configurations of both connectors. */
    s3Secrets: { accessKeyId: key.id, secretAccessKey: key.secret, region: 'us-east-1' },
    snowflakeSecrets: { ...snowflake.keyPair, storageIntegration: integration },
    async close() {
      await snowflake.close()
      await s3.close()
    },
  }
}

export const databricksDestination = connectorBySlug('databricks-destination')

/** The same bucket, and a workspace of Databricks with an external location for it. */
export async function startLake() {
  const key = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
  const s3 = await startS3TestServer([bucket], [key])
  const databricks = await startDatabricksServer()
  databricks.storage = { read: (from, name) => s3.read(from, name).catch(() => undefined) }
  return {
    s3,
    databricks,
    routes: { ...databricks.routes, [`https://${bucket}.s3.us-east-1.amazonaws.com`]: s3.proxy.url },
    s3Secrets: { accessKeyId: key.id, secretAccessKey: key.secret, region: 'us-east-1' },
    async close() {
      await databricks.close()
      await s3.close()
    },
  }
}

export const redshiftSource = connectorBySlug('amazon-redshift-source')
export const s3Destination = connectorBySlug('amazon-s3-destination')

/** Redshift, and a bucket that its role can write to. */
export async function startRedshift() {
  const redshift = await startRedshiftServer()
  const { accessKeyId, secretAccessKey, ...database } = redshift.secrets
  return {
    redshift,
    bucket: stagingBucket,
    s3Secrets: { accessKeyId, secretAccessKey, region: 'us-east-1' },
    redshiftSecrets: { ...database, unloadRoleArn: clusterRole },
  }
}

export const bigQuerySource = connectorBySlug('google-bigquery-source')
export const gcsDestination = connectorBySlug('google-cloud-storage-destination')
export const gcsSource = connectorBySlug('google-cloud-storage-source')
export const bigQueryDestination = connectorBySlug('google-bigquery-destination')

export type GoogleStores = Awaited<ReturnType<typeof startGoogleStores>>

/** BigQuery, whose extracts are written to a bucket of Cloud Storage, and whose loads read from it. */
export async function startGoogleStores() {
  const accounts = makeGoogleAccounts(['bigquery', 'devstorage.read_write', 'cloud-platform'])
  const bigQuery = await startBigQueryServer(accounts)
  const gcs = await startGcsServer([bucket], accounts)
  bigQuery.storage = gcs
  return {
    bigQuery,
    gcs,
    routes: { ...gcs.routes, ...bigQuery.routes },
    async close() {
      await bigQuery.close()
      await gcs.close()
    },
  }
}

export const tableSettings = {
  warehouse: 'load_wh',
  database: 'sales',
  schema: 'public',
  table: 'people',
  writeMode: 'Append',
  loadFiles: true,
}

/** The argument of a worker process. */
export type HandoverWorker = {
  readonly databaseUrl: string
  readonly masterKey: string
  readonly routes: Readonly<Record<string, string>>
}

/** Works on transfers until no transfer can be claimed. */
export async function workWith(
  database: Database,
  masterKey: MasterKey,
  routes: Readonly<Record<string, string>>,
  write: (line: string) => void,
): Promise<void> {
  const runners = createInProcessRunners(
    { localFolders: [], loadConnector: async (slug) => connectorBySlug(slug) },
    routes,
  )
  await workOnTransfers(
    {
      database,
      runners,
      keyring: await openKeyring(database, masterKey),
      secretManagers: noSecretManagers,
      catalogue: createCatalogue('http://localhost'),
      settings: supervision,
    },
    new Claims(noLimits),
    createLogger('info', { write }),
    new AbortController().signal,
  )
  await runners.close()
}

/** The route in a preview. */
export async function previewRouteOf(
  { routes, s3Secrets, snowflakeSecrets }: Stores,
  reading: Record<string, string>,
  writing: Record<string, string | boolean>,
): Promise<Preview['route']> {
  const runners = createInProcessRunners(
    { localFolders: [], loadConnector: async (slug) => connectorBySlug(slug) },
    routes,
  )
  const source = { slug: s3Source.slug, secrets: s3Secrets, settings: reading }
  const destination = { slug: snowflakeDestination.slug, secrets: snowflakeSecrets, settings: writing }
  const times = { noAnswerMs: 20_000, inspectionMs: 20_000, deadlineMs: 60_000 }
  const result = await runners.run(
    { kind: 'preview', source, destination, unmapped: false, showing: 'masked', ...times },
    { owner: 'test', watch: {}, signal: new AbortController().signal },
  )
  await runners.close()
  assert(result.ok && result.value && 'preview' in result.value, JSON.stringify(result))
  return result.value.preview.route
}

/** The whole life of such a process. @param argument JSON of a `HandoverWorker` */
export async function workAsProcess(argument: string): Promise<void> {
  const { databaseUrl, routes, ...given } = JSON.parse(argument) as HandoverWorker
  const masterKey = parseMasterKey(given.masterKey)
  assert(masterKey)
  const database = openDatabase({ url: databaseUrl, poolSize: 3 })
  await workWith(database, masterKey, routes, (line) => void process.stderr.write(line))
  await database.close()
}

/** Starts such a process, which can be killed. `ended` resolves when it has ended. */
export function spawnHandoverWorker(given: HandoverWorker) {
  const script = join(import.meta.dirname, 'handover-worker.ts')
  const child = spawn(process.execPath, [script, JSON.stringify(given)], { stdio: ['ignore', 'pipe', 'inherit'] })
  return Object.assign(child, { ended: once(child, 'exit') })
}
