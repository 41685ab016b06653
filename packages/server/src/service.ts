import type { OperationId } from '@penstock/wire'
import type { FastifyInstance } from 'fastify'
import { createAccountFinder } from './accounts/accounts.ts'
import { accountRoutes } from './accounts/routes.ts'
import type { Config } from './config.ts'
import { connectionsOfAccounts } from './connections/connections.ts'
import { connectionRoutes } from './connections/routes.ts'
import { createCatalogue } from './connectors/catalogue.ts'
import { connectorRoutes } from './connectors/routes.ts'
import { findUnknownConnectors } from './connectors/unknown.ts'
import type { Database } from './db/database.ts'
import { createNotices } from './db/notices.ts'
import type { Deps } from './deps.ts'
import { createApp } from './http/app.ts'
import type { Gate, Handlers } from './http/call.ts'
import { serveConsole } from './http/console.ts'
import { serveDocuments } from './http/documents.ts'
import { serveHealth } from './http/health.ts'
import { observe } from './http/observe.ts'
import { serveOperations } from './http/serve.ts'
import type { Logger } from './log.ts'
import { registerEnvironment } from './organizations/organizations.ts'
import { reportRoutes } from './reports/routes.ts'
import { openKeyring } from './secrets/keyring.ts'
import type { MasterKey } from './secrets/seal.ts'
import { createAttempts, createRequestLimit } from './tokens/attempts.ts'
import { tokenRoutes } from './tokens/routes.ts'
import { createAuthenticator } from './tokens/tokens.ts'
import { createReach } from './transfers/reach.ts'
import { transferRoutes } from './transfers/routes.ts'
import { transfersUnderWay } from './transfers/transfers.ts'
import { waitingJobs } from './worker/worker.ts'

/** The service without a port: everything is put together here and nowhere else. */
export type Service = {
  readonly app: FastifyInstance
  readonly deps: Deps
  /** Takes no new connections, answers what is in flight, and lets go of the database. */
  close(): Promise<void>
}

export async function createService(
  config: Config,
  {
    database,
    databaseUrl,
    masterKey,
    log,
  }: { database: Database; databaseUrl: string; masterKey: MasterKey; log: Logger },
): Promise<Service> {
  await registerEnvironment(database, config)
  const unknown = await findUnknownConnectors(database)
  if (unknown) throw new Error(unknown)
  const notices = createNotices(databaseUrl, (err) => log.warn({ err }, 'cannot hear other processes; trying again'))
  const keyring = await openKeyring(database, masterKey, notices)
  const accounts = createAccountFinder(database, notices)
  const catalogue = createCatalogue(config.publicUrl)
  const reach = createReach(config)
  const deps: Deps = {
    config,
    database,
    notices,
    keyring,
    attempts: createAttempts(),
    accounts,
    accountContents: connectionsOfAccounts,
    catalogue,
    reach,
  }
  const limit = createRequestLimit(config.rateLimitPerMinute)
  const gate: Gate = {
    authenticate: createAuthenticator(database, notices),
    findAccount: accounts.find,
    limit: ({ clientId }) => limit(clientId),
  }
  const handlers: Handlers<OperationId> = {
    ...tokenRoutes(deps),
    ...connectorRoutes(deps),
    ...accountRoutes(deps),
    ...connectionRoutes(deps),
    ...transferRoutes(deps),
    ...reportRoutes(),
  }
  await notices.start()

  const { publicUrl, corsOrigins, trustedProxies } = config
  const app = await createApp({ log, publicUrl, corsOrigins, trustedProxies })
  let draining = false
  // A connection that stays open for more requests would hold up the end.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (draining) reply.header('connection', 'close')
    done(null, payload)
  })
  observe(app, {
    ...{ database, log },
    waitingJobs: () => waitingJobs(database),
    transfersUnderWay: () => transfersUnderWay(database),
  })
  serveHealth(app, database, () => draining)
  serveDocuments(app, config.publicUrl)
  await serveConsole(app, config.publicUrl)
  serveOperations(app, { gate, database, publicUrl: config.publicUrl, handlers })
  return {
    app,
    deps,
    close: async () => {
      draining = true
      await app.close()
      await notices.close()
      await reach.close()
    },
  }
}
