import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Transfer } from '@penstock/wire'
import pg from 'pg'
import { createLogger } from '../../packages/server/src/log.ts'
import { startWorker, type Worker } from '../../packages/server/src/worker/worker.ts'
import { createTestDatabase } from './database.ts'
import { type Caller, callerOf, connectorBySlug } from './fixtures.ts'
import { startServiceOn, startTestService, type TestService } from './service.ts'
import { until } from './until.ts'

/** Data that really moves: a folder of files, a PostgreSQL to load into, a service, and a worker. */

export const localFolder = connectorBySlug('local-folder')
export const postgresql = connectorBySlug('postgresql')

export type Fixture = {
  readonly service: TestService
  readonly caller: Caller
  /** The caller's own. */
  readonly token: string
  readonly accountId: string
  /** The folder that the local folder's connector reads and writes. */
  readonly folder: string
  /** The database that the PostgreSQL connector reads and writes. */
  readonly target: pg.Pool
  readonly targetUrl: string
  startWorker(env?: Record<string, string>): Promise<Worker>
  /** A connection between two of the connectors that are there, active. */
  connect(
    source: { id: string },
    srcConnectionConfig: Record<string, string | boolean | number>,
    destination: { id: string },
    destConnectionConfig: Record<string, string | boolean | number>,
  ): Promise<string>
  start(connectionId: string, body?: object): Promise<Transfer>
  get(connectionId: string, transferId: string): Promise<Transfer>
  /** The transfer once it has ended. */
  ended(connectionId: string, transferId: string): Promise<Transfer>
  /** Closes everything. It can be called again. */
  close(): Promise<void>
}

const endsWithinMs = 120_000

/**
 * Starts a service with an account that has a local folder and a PostgreSQL, both configured.
 * @param databaseUrl a migrated database for the service; by default a separate one
 * @param afterClose called after the service has closed, or if it could not start
 */
export async function startFixture(
  env: Record<string, string> = {},
  databaseUrl?: string,
  afterClose?: () => Promise<void>,
): Promise<Fixture> {
  // Closed in the reverse order, each although another one fails to close.
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'penstock-transfers-'))
  opened.defer(() => rm(folder, { recursive: true }))
  const targetDatabase = await createTestDatabase()
  const target = new pg.Pool({ connectionString: targetDatabase.url, max: 3 })
  target.on('error', () => {})
  target.on('connect', (client) => client.on('error', () => {}))
  opened.defer(async () => {
    // Waits for clients that a failed test did not release: dropping the database ends them.
    void target.end()
    await targetDatabase.drop()
  })
  const settings = { PENSTOCK_LOCAL_FOLDERS: folder, ...env }
  const service = databaseUrl
    ? await startServiceOn(databaseUrl, settings, afterClose)
    : await startTestService(settings)
  opened.defer(service.close)
  const organization = await service.addOrganization()
  const caller = callerOf(service, organization)
  const { id: accountId } = await caller.addAccount()
  await caller.addConnectors(accountId, localFolder, postgresql)
  const configure = (id: string, secretConfig: Record<string, string | number>) =>
    caller.expect(caller.call('configureConnector', { accountId, id, body: { secretConfig } }))
  await configure(localFolder.id, { folder })
  await configure(postgresql.id, postgresqlSecrets(targetDatabase.url))
  const workers: Worker[] = []
  opened.defer(async () => void (await Promise.all(workers.map((worker) => worker.stop()))))
  const get = (id: string, transferId: string): Promise<Transfer> =>
    caller.expect(caller.call('getTransfer', { accountId, id, transferId }))
  const open = opened.move()
  return {
    service,
    caller,
    token: organization.token,
    accountId,
    folder,
    target,
    targetUrl: targetDatabase.url,
    startWorker: async () => {
      const { config, databaseUrl, logLines, runners } = service
      assert(config.masterKey)
      const log = createLogger('info', { write: (line) => void logLines.push(line) })
      const worker = await startWorker(config, { databaseUrl, masterKey: config.masterKey, runners }, log)
      workers.push(worker)
      return worker
    },
    connect: async (source, srcConnectionConfig, destination, destConnectionConfig) => {
      const body = {
        name: 'Orders',
        srcConnectorId: source.id,
        destConnectorId: destination.id,
        srcConnectionConfig,
        destConnectionConfig,
      }
      const { id } = await caller.expect(caller.call('createConnection', { accountId, body }))
      await caller.expect(caller.call('updateConnectionStatus', { accountId, id, body: { action: 'activate' } }))
      return id
    },
    start: (id, body = {}) => caller.expect(caller.call('startTransfer', { accountId, id, body })),
    get,
    ended: (id, transferId) =>
      until(
        'the transfer has ended',
        async () => {
          const transfer = await get(id, transferId)
          return transfer.finishedTime === null ? undefined : transfer
        },
        endsWithinMs,
      ),
    close: () => open.disposeAsync(),
  }
}

/** The settings of the connector of PostgreSQL, from an address. */
export function postgresqlSecrets(address: string): Record<string, string | number> {
  const { hostname, port, pathname, username, password } = new URL(address)
  return {
    host: hostname,
    port: Number(port || 5432),
    database: pathname.slice(1),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    tlsMode: 'disable',
  }
}
