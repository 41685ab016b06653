import type { FastifyInstance } from 'fastify'
import { createAccountFinder } from './accounts/accounts.ts'
import { createAuditLinker } from './audit/link.ts'
import { createRequestAudit } from './audit/requests.ts'
import { createFailedSignIns } from './audit/sign-ins.ts'
import { createAuthorizationFlow } from './authorizations/flow.ts'
import type { Config } from './config.ts'
import { createConnectPageAuthenticator, embeddingOrigins, isLinkOpen } from './connect-links/page.ts'
import { connectionsOfAccounts } from './connections/connections.ts'
import { createCatalogue } from './connectors/catalogue.ts'
import { watchDefinitions } from './connectors/watch-definitions.ts'
import type { DatabaseUrl } from './db/addresses.ts'
import { databaseNow } from './db/clock.ts'
import { type Database, openDatabase } from './db/database.ts'
import { createNotices, type Notices } from './db/notices.ts'
import { openReplica } from './db/replica.ts'
import { createShares } from './db/shares.ts'
import { type Deps, handlers } from './handlers.ts'
import { createApp } from './http/app.ts'
import { serveAuthorizations } from './http/authorizations.ts'
import { serveConnectPage } from './http/connect-page.ts'
import { serveConsole } from './http/console.ts'
import { serveDocuments } from './http/documents.ts'
import { serveEvents } from './http/events.ts'
import { serveHealth } from './http/health.ts'
import { once } from './http/idempotency.ts'
import { serveIdentityTokens } from './http/identity-tokens.ts'
import type { Timeouts } from './http/listener.ts'
import { serveMcp } from './http/mcp.ts'
import { serveOauthMetadata } from './http/oauth-metadata.ts'
import { serveOauthToken } from './http/oauth-token.ts'
import { observe } from './http/observe.ts'
import { connectionsWithin, readOpenFilesMax } from './http/open-files.ts'
import { serveScim } from './http/scim.ts'
import { type AccessControl, serveOperations } from './http/serve.ts'
import { serveSingleSignOn } from './http/single-sign-on.ts'
import { serveTriggers } from './http/triggers.ts'
import { createIdentityTokens } from './identity-tokens/identity-tokens.ts'
import type { Logger } from './log.ts'
import { createMailer } from './mail.ts'
import { disksOf } from './metrics/disks.ts'
import { createRegistry } from './metrics/registry.ts'
import { findClientsNamed } from './organizations/credentials.ts'
import { registerEnvironment } from './organizations/organizations.ts'
import { limitOrganizationRequests } from './organizations/request-limit.ts'
import type { Runners } from './runners/runner-pool.ts'
import { watchSamples } from './samples/watch.ts'
import { createSecretManagers } from './secret-managers/secret-managers.ts'
import { openKeyring } from './secrets/keyring.ts'
import type { MasterKey } from './secrets/seal.ts'
import { createSingleSignOnFlow } from './single-sign-on/flow.ts'
import { createEventReceiver } from './streams/receive.ts'
import { trackingPaths } from './streams/tracking.ts'
import type { Telemetry } from './telemetry/telemetry.ts'
import { unixSeconds } from './time.ts'
import { createAttempts, createRequestLimit, type RequestLimit } from './tokens/attempts.ts'
import { authenticateBySecret } from './tokens/secret-bearers.ts'
import { createAuthenticator, createCredentialCheck, issueToken } from './tokens/tokens.ts'
import { Discoveries } from './transfers/discoveries.ts'
import { createInteractiveJobs } from './transfers/interactive.ts'
import { createTriggerUse } from './transfers/use-trigger.ts'
import { createFileReceiver } from './uploads/receiver.ts'
import { createPasswords, type Passwords } from './users/passwords.ts'
import { answerScim, requireProvisioning } from './users/scim/scim.ts'
import { createSessionAuthenticator } from './users/sessions.ts'
import { findUsersNamed } from './users/sign-ins.ts'
import { databaseFigures } from './worker/figures.ts'
import type { Worker } from './worker/worker.ts'

/** The service without a port: everything is put together here and nowhere else. */
export type Service = {
  readonly app: FastifyInstance
  readonly deps: Deps
  readonly notices: Notices
  /** Writes queued events to the audit log, with refusals and failed sign-ins, which are otherwise written after a delay. */
  settleAudit(): Promise<void>
  /** Reports on `/readyz` that the service stops, and ends each connection with its next answer. It still serves. */
  drain(): void
  /** Accepts no new connections, answers the requests in flight, and closes the database connections. */
  close(): Promise<void>
}

/** Database connections for events: two for commits, and more to look up what the next commits need. */
const eventsConnections = 4
/** How long requests in flight can take after the service stops accepting connections. */
const finishMs = 30_000

/** Creates the service. If that fails, it closes the resources that it opened. */
export async function createService(
  config: Config,
  {
    database,
    databaseUrl,
    masterKey,
    runners,
    log,
    timeouts = {},
    passwords = createPasswords(),
    telemetry,
    worker,
    embedded = config.databaseUrl === undefined,
  }: {
    database: Database
    databaseUrl: DatabaseUrl
    masterKey: MasterKey
    runners: Runners
    log: Logger
    /** Replaces the default timeouts. */
    timeouts?: Partial<Timeouts>
    /** Replaces the default password hashing, whose digests are slow to compute. */
    passwords?: Passwords
    /** Receives traces and metrics. */
    telemetry?: Telemetry | undefined
    /** The worker of this process, for its metrics. */
    worker?: Worker | undefined
    /** Whether the database is the embedded PostgreSQL. It can have additional databases for samples. */
    embedded?: boolean
  },
): Promise<Service> {
  await registerEnvironment(database, config)
  // Closed here where putting together fails, and by the service's `close` otherwise: in the reverse order.
  await using opened = new AsyncDisposableStack()
  const notices = createNotices(databaseUrl, (err) => log.warn({ err }, 'LISTEN connection lost; reconnecting'))
  opened.defer(notices.close)
  const catalogue = createCatalogue(config.publicUrl)
  const definitions = await watchDefinitions(catalogue, { database, notices, config }, log)
  opened.defer(definitions.close)
  const keyring = await openKeyring(database, masterKey, notices)
  const identityTokens = createIdentityTokens({ database, keyring }, config.publicUrl)
  const secretManagers = createSecretManagers(config)
  opened.defer(secretManagers.close)
  const accounts = createAccountFinder(database, notices)
  const replica =
    config.replicaUrl === undefined
      ? undefined
      : openReplica(database, config.replicaUrl, {
          poolSize: config.databasePoolSize,
          onError: (err) => log.warn({ err }, 'the replica cannot be used; reading from the database itself'),
        })
  if (replica) opened.defer(replica.close)
  const tokens = createAuthenticator(database, notices)
  const auditLinker = createAuditLinker(database, keyring, log)
  opened.defer(auditLinker.close)
  const audit = createRequestAudit(database, auditLinker, log)
  opened.defer(audit.close)
  const failedSignIns = createFailedSignIns(database, { client: findClientsNamed, user: findUsersNamed }, log)
  opened.defer(failedSignIns.close)
  const userSessions = createSessionAuthenticator(database, notices)
  const mailer = createMailer(config, log)
  opened.defer(mailer.close)
  const clientLimit = createRequestLimit(config.rateLimitPerMinute)
  const organizationLimit = await limitOrganizationRequests({ database, notices, config }, (err) =>
    log.warn({ err }, 'the limits of organizations could not be read'),
  )
  const requestLimit: RequestLimit = (id, organizationId) => {
    clientLimit(id)
    if (organizationId !== undefined) organizationLimit(organizationId)
  }
  // Events use separate connections, so that a flood of events does not take the connections of the API.
  const eventsDatabase = openDatabase({
    url: databaseUrl,
    poolerUrl: config.poolerUrl,
    poolSize: eventsConnections,
    onIdleError: (err) => log.warn({ err }, 'a database connection of the events broke'),
  })
  opened.defer(eventsDatabase.close)
  const receiver = createEventReceiver({ database: eventsDatabase, notices, keyring, config, runners, log })
  opened.defer(receiver.close)

  const deps: Deps = {
    config,
    keyring,
    secretManagers,
    identityTokens,
    attempts: createAttempts(),
    requestLimit,
    tokens,
    failedSignIns,
    auditLinker,
    userSessions,
    passwords,
    mailer,
    areCredentialsRight: createCredentialCheck(database, notices),
    accounts,
    accountContents: connectionsOfAccounts,
    catalogue,
    receiveTest: (streamId, event) => receiver.test(streamId, event),
    sampleServer: embedded ? { url: databaseUrl } : undefined,
    interactive: createInteractiveJobs(runners, config.interactive),
    discoveries: new Discoveries(),
  }
  const authenticatePage = createConnectPageAuthenticator(database)
  const accessControl: AccessControl = {
    authenticate: (token) => authenticatePage(token) ?? tokens.authenticate(token),
    authenticateSession: userSessions.authenticate,
    findAccount: accounts.find,
    limit: ({ id, organizationId }) => deps.requestLimit(id, organizationId),
  }
  await notices.start()
  if (deps.sampleServer) opened.defer(watchSamples({ database, server: deps.sampleServer, log }).close)

  const { total, perAddress } = config.httpConnections
  const openFilesMax = readOpenFilesMax()
  const connections = { total: connectionsWithin(total, openFilesMax), perAddress }
  if (connections.total < total) {
    log.warn(
      { openFilesMax, connections: connections.total },
      'accepting fewer connections than PENSTOCK_HTTP_CONNECTIONS: raise the limit of open files (ulimit -n)',
    )
  }
  const { publicUrl, corsOrigins, trustedProxies } = config
  const { app, listener } = await createApp({ log, publicUrl, corsOrigins, trustedProxies, connections, timeouts })
  opened.defer(async () => {
    const late = setTimeout(() => {
      log.warn(`answers that took longer than ${finishMs / 1000} seconds after the end of the drain were cut off`)
      listener.cut()
    }, finishMs)
    await app.close()
    clearTimeout(late)
  })
  let draining = false
  const drain = () => {
    draining = true
    listener.drain()
  }
  const registry = createRegistry({
    pools: { api: database.pool, events: eventsDatabase.pool, ...worker?.pools },
    figures: databaseFigures(database),
    disks: disksOf(config),
    runners: () => runners.stats(),
    worker: worker?.stats,
    telemetry,
  })
  observe(app, { registry, log, connections: listener.counts, telemetry, publicUrl })
  serveHealth(app, database, () => draining)
  serveDocuments(app, config.publicUrl, catalogue)
  await serveConsole(app, config.publicUrl)
  await serveConnectPage(app, config.publicUrl, (id) => embeddingOrigins(database, id))
  serveAuthorizations(app, config.publicUrl, createAuthorizationFlow({ ...deps, database, isLinkOpen }))
  serveSingleSignOn(app, config.publicUrl, createSingleSignOnFlow({ ...deps, database }))
  const shareOf = createShares(config.databasePoolSize)
  const files = createFileReceiver({ database, keyring, config })
  const serving = { accessControl, audit, database, shareOf, replica, files, publicUrl, handlers, deps }
  serveOperations(app, serving)
  serveOauthToken(app, (request) => issueToken(database, request, deps))
  serveOauthMetadata(app, publicUrl)
  serveIdentityTokens(app, identityTokens)
  serveEvents(app, { receiver, calls: trackingPaths, publicUrl })
  serveTriggers(app, createTriggerUse({ ...deps, database, shareOf, once }))
  serveScim(app, {
    authenticate: async (request) => {
      const actor = await authenticateBySecret(database, request, { ...deps, tokens })
      if (actor) requireProvisioning(actor)
      return actor
    },
    answer: (request) => {
      const own = shareOf(database, request.actor.organizationId)
      return answerScim(request, { database: own, publicUrl, userSessions })
    },
  })
  const confirmationClock = async () => unixSeconds(await databaseNow(database))
  serveMcp(app, { accessControl, publicUrl: config.publicUrl, corsOrigins, confirmationClock })
  const open = opened.move()
  return {
    app,
    deps,
    notices,
    settleAudit: async () => {
      await Promise.all([audit.flush(), failedSignIns.flush()])
      await auditLinker.settle(null)
    },
    drain,
    close: async () => {
      drain()
      await open.disposeAsync()
    },
  }
}
