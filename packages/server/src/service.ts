import type { FastifyInstance } from 'fastify'
import { createAccountFinder } from './accounts/accounts.ts'
import { alertFigures } from './alerts/keep.ts'
import { createAuditLinker } from './audit/link.ts'
import { createRequestAudit } from './audit/requests.ts'
import { createFailedSignIns } from './audit/sign-ins.ts'
import { createAuthorizationFlow } from './authorizations/flow.ts'
import type { Config } from './config.ts'
import { createConnectPageAuthenticator, embeddingOrigins, isLinkOpen } from './connect-links/page.ts'
import { connectionsOfAccounts, countConnections } from './connections/connections.ts'
import { createCatalogue, installedConnectors } from './connectors/catalogue.ts'
import { findUnknownConnectors } from './connectors/unknown.ts'
import type { DatabaseUrl } from './db/addresses.ts'
import { databaseNow } from './db/clock.ts'
import type { Database } from './db/database.ts'
import { createNotices, type Notices } from './db/notices.ts'
import { openReplica } from './db/replica.ts'
import { type Deps, handlers } from './handlers.ts'
import { createApp } from './http/app.ts'
import { serveAuthorizations } from './http/authorizations.ts'
import { serveConnectPage } from './http/connect-page.ts'
import { serveConsole } from './http/console.ts'
import { serveDocuments } from './http/documents.ts'
import { serveHealth } from './http/health.ts'
import { once } from './http/idempotency.ts'
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
import type { Logger } from './log.ts'
import { createMailer } from './mail.ts'
import { findClientsNamed } from './organizations/credentials.ts'
import { registerEnvironment } from './organizations/organizations.ts'
import type { Runners } from './runners/runner-pool.ts'
import { openKeyring } from './secrets/keyring.ts'
import type { MasterKey } from './secrets/seal.ts'
import { createSingleSignOnFlow } from './single-sign-on/flow.ts'
import type { Telemetry } from './telemetry/telemetry.ts'
import { unixSeconds } from './time.ts'
import { createAttempts, createRequestLimit } from './tokens/attempts.ts'
import { authenticateBySecret } from './tokens/secret-bearers.ts'
import { createAuthenticator, createCredentialCheck, issueToken } from './tokens/tokens.ts'
import { Discoveries } from './transfers/discoveries.ts'
import { createInteractiveJobs } from './transfers/interactive.ts'
import { readTransferTotals } from './transfers/totals/totals.ts'
import { createTriggerUse } from './transfers/use-trigger.ts'
import { createFileReceiver } from './uploads/receiver.ts'
import { createPasswords } from './users/passwords.ts'
import { answerScim, requireProvisioning } from './users/scim/scim.ts'
import { createSessionAuthenticator } from './users/sessions.ts'
import { findUsersNamed } from './users/sign-ins.ts'
import { readWebhookTotals } from './webhooks/totals.ts'
import { readOverdueWork } from './worker/figure-queries.ts'

/** The service without a port: everything is put together here and nowhere else. */
export type Service = {
  readonly app: FastifyInstance
  readonly deps: Deps
  readonly notices: Notices
  /** Brings into the audit log what is queued for it, and refusals and failed sign-ins, which wait for a while otherwise. */
  settleAudit(): Promise<void>
  /** Takes no new connections, answers what is in flight, and lets go of the database. */
  close(): Promise<void>
}

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
    telemetry,
    embedded = config.databaseUrl === undefined,
  }: {
    database: Database
    databaseUrl: DatabaseUrl
    masterKey: MasterKey
    runners: Runners
    log: Logger
    /** In place of the usual ones. */
    timeouts?: Partial<Timeouts>
    /** Where traces and metrics go. */
    telemetry?: Telemetry | undefined
    /** Whether the database is the embedded PostgreSQL, which can have databases for samples beside it. */
    embedded?: boolean
  },
): Promise<Service> {
  await registerEnvironment(database, config)
  const installed = installedConnectors(config)
  for (const problem of installed.problems) log.warn(problem)
  const catalogue = createCatalogue(config.publicUrl, installed)
  const unknown = await findUnknownConnectors(database, catalogue)
  if (unknown) throw new Error(unknown)
  // Closed here where putting together fails, and by the service's `close` otherwise: in the reverse order.
  await using opened = new AsyncDisposableStack()
  const notices = createNotices(databaseUrl, (err) => log.warn({ err }, 'LISTEN connection lost; reconnecting'))
  opened.defer(notices.close)
  const keyring = await openKeyring(database, masterKey, notices)
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
  const deps: Deps = {
    config,
    keyring,
    attempts: createAttempts(),
    requestLimit: createRequestLimit(config.rateLimitPerMinute),
    tokens,
    failedSignIns,
    auditLinker,
    userSessions,
    passwords: createPasswords(),
    mailer,
    areCredentialsRight: createCredentialCheck(database, notices),
    accounts,
    accountContents: connectionsOfAccounts,
    catalogue,
    sampleServer: embedded ? { url: databaseUrl } : undefined,
    interactive: createInteractiveJobs(runners, config.interactive),
    discoveries: new Discoveries(),
  }
  const authenticatePage = createConnectPageAuthenticator(database)
  const accessControl: AccessControl = {
    authenticate: (token) => authenticatePage(token) ?? tokens.authenticate(token),
    authenticateSession: userSessions.authenticate,
    findAccount: accounts.find,
    limit: ({ id }) => deps.requestLimit(id),
  }
  await notices.start()

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
  opened.defer(async () => void (await app.close()))
  let draining = false
  observe(app, {
    database,
    log,
    connections: listener.counts,
    figures: {
      transfers: () => readTransferTotals(database),
      connections: () => countConnections(database),
      webhooks: () => readWebhookTotals(database),
      alerts: () => alertFigures(database),
      overdue: () => readOverdueWork(database),
    },
    runners: () => runners.stats(),
    telemetry,
    publicUrl,
  })
  serveHealth(app, database, () => draining)
  serveDocuments(app, config.publicUrl, catalogue)
  await serveConsole(app, config.publicUrl)
  await serveConnectPage(app, config.publicUrl, (id) => embeddingOrigins(database, id))
  serveAuthorizations(app, config.publicUrl, createAuthorizationFlow({ ...deps, database, isLinkOpen }))
  serveSingleSignOn(app, config.publicUrl, createSingleSignOnFlow({ ...deps, database }))
  const files = createFileReceiver({ database, keyring, config })
  serveOperations(app, { accessControl, audit, database, replica, files, publicUrl: config.publicUrl, handlers, deps })
  serveOauthToken(app, (request) => issueToken(database, request, deps))
  serveOauthMetadata(app, publicUrl)
  serveTriggers(app, createTriggerUse({ ...deps, database, once }))
  serveScim(app, {
    authenticate: async (request) => {
      const actor = await authenticateBySecret(database, request, { ...deps, tokens })
      if (actor) requireProvisioning(actor)
      return actor
    },
    answer: (request) => answerScim(request, { database, publicUrl, userSessions }),
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
    close: async () => {
      draining = true
      listener.drain()
      await open.disposeAsync()
    },
  }
}
