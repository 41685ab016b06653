import assert from 'node:assert/strict'
import { type AlertIncident, type AlertRule, alertChannels, type BodyOf } from '@penstock/wire'
import { deliverDue } from '../../packages/server/src/alerts/deliver.ts'
import { createLogger } from '../../packages/server/src/log.ts'
import type { Mailer } from '../../packages/server/src/mail.ts'
import { createOutgoing } from '../../packages/server/src/outgoing/outgoing.ts'
import { lookAtAlerts } from './alerts.ts'
import { type ChatServer, startSlack, startTeams } from './chat-servers.ts'
import { addConnection, addFolder, type Connection, type Inbox, makeInbox } from './connections.ts'
import { type Caller, callerOf } from './fixtures.ts'
import { type MailServer, startMailServer } from './mail-server.ts'
import { startTestService, type TestService } from './service.ts'

/**
 * A service, a mail server, and webhooks of Slack and Teams, for tests of alert messages. No worker runs. A test evaluates and
 * sends itself, and simulates time by moving stored times into the past.
 */
export type AlertStage = {
  readonly inbox: Inbox
  readonly mail: MailServer
  readonly slack: ChatServer
  readonly teams: ChatServer
  readonly service: TestService
  /** Begins with an organization and a sub-account, without any rule or message. */
  reset(): Promise<Party>
  sql(text: string, ...values: unknown[]): Promise<Record<string, unknown>[]>
  look(): Promise<void>
  /** Sends everything that is due at every channel. @param mailer replaces the mailer of the service */
  send(mailer?: Mailer): Promise<void>
  lookAndSend(): Promise<void>
  /** Claims the Slack messages that one process would claim together, and sends them. */
  sendSome(): Promise<number>
  /** Has time pass for rules, incidents, messages, sweeps, transfers and connections. */
  pass(seconds: number): Promise<void>
  /** The titles of the messages that Slack took. */
  titles(): string[]
  /** Fails if something waits to be looked at, announced or sent. */
  assertNothingWaits(): Promise<void>
  close(): Promise<void>
}

/** Caller of the service in a test. */
export type Party = {
  readonly caller: Caller
  readonly accountId: string
  addRule(body?: Partial<BodyOf<'createAlertRule'>>): Promise<AlertRule>
  rule(rule: { readonly id: string }): Promise<AlertRule>
  incidents(query?: Record<string, string | boolean>): Promise<AlertIncident[]>
  connect(name: string, accountId?: string): Promise<Connection>
  /** Runs a transfer as a worker leaves it. */
  end(connection: Connection, status: 'failed' | 'succeeded', code?: string): Promise<void>
  /** A connection whose transfer failed. */
  failing(name?: string, accountId?: string): Promise<Connection>
}

export const failures = { transferFailed: true, connectionBroken: true }
export const silent = createLogger('silent', { write: () => {} })

export async function startAlertStage(): Promise<AlertStage> {
  const closing: (() => unknown)[] = []
  const t = { after: (work: () => unknown) => void closing.push(work) }
  const [inbox, mail, slack, teams] = [
    await makeInbox(),
    await startMailServer(),
    await startSlack(t),
    await startTeams(t),
  ] as const
  const service = await startTestService({
    ...inbox.env,
    PENSTOCK_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    PENSTOCK_MAIL_FROM: 'penstock@example.com',
  })
  const outgoing = createOutgoing(service.config)
  closing.push(inbox.remove, mail.close, service.close, outgoing.close)
  const { config, database } = service
  const { keyring, mailer: ownMailer } = service.service.deps
  const sql = async (text: string, ...values: unknown[]) => (await database.pool.query(text, values)).rows
  const look = () => lookAtAlerts(service)
  const deliver = (channel: (typeof alertChannels)[number], mailer: Mailer) =>
    deliverDue({ config, database, keyring, mailer, outgoing }, channel, silent)
  const send = async (mailer = ownMailer) => {
    for (const channel of alertChannels) while ((await deliver(channel, mailer)) > 0);
  }
  return {
    inbox,
    mail,
    slack,
    teams,
    service,
    sql,
    look,
    send,
    reset: async () => {
      const caller = callerOf(service, await service.addOrganization())
      for (const table of ['alert_rules', 'alert_checks']) await sql(`delete from ${table}`)
      const { id: accountId } = await caller.addAccount('Acme')
      await addFolder(caller, accountId, inbox.folder)
      for (const chat of [slack, teams]) {
        chat.messages.length = chat.statuses.length = 0
        chat.answer = undefined
      }
      mail.mails.length = 0
      return partyOf({ caller, accountId, slack, sql })
    },
    lookAndSend: async () => {
      await look()
      await send()
    },
    sendSome: () => deliver('slack', ownMailer),
    pass: async (seconds) => {
      for (const [table, ...columns] of times) {
        const earlier = columns.map((column) => `${column} = ${column} - make_interval(secs => ${seconds})`)
        await sql(`update ${table} set ${earlier.join(', ')}`)
      }
    },
    titles: () => slack.messages.map(({ text }) => String(text)),
    assertNothingWaits: async () =>
      assert.deepEqual(
        await sql(
          `select 'check' as what from alert_checks union all select 'pending' from alert_incidents where pending is not null
           union all select 'message' from alert_deliveries where outcome is null`,
        ),
        [],
      ),
    close: async () => {
      for (const close of closing.toReversed()) await close()
    },
  }
}

const times = [
  ['alert_rules', 'message_time', 'muted_until'],
  ['alert_incidents', 'opened_time', 'resolved_time'],
  ['alert_deliveries', 'created_time', 'next_time', 'finished_time'],
  ['alert_sweeps', 'next_time'],
  ['transfers', 'created_time', 'finished_time'],
  ['connections', 'created_time'],
  ['connection_events', 'created_time'],
] as const

function partyOf({
  caller,
  accountId,
  slack,
  sql,
}: Pick<Party, 'caller' | 'accountId'> & Pick<AlertStage, 'slack' | 'sql'>): Party {
  const connect: Party['connect'] = (name, account = accountId) => addConnection(caller, account, name)
  const end: Party['end'] = async (connection, status, code) => {
    const started = await caller.expect(caller.call('startTransfer', { ...connection, body: {} }))
    await sql(
      `update transfers set status = $2, error_code = $3, error_message = $3, finished_time = clock_timestamp() where id = $1`,
      ...[started.id, status, code ?? null],
    )
  }
  return {
    caller,
    accountId,
    connect,
    end,
    addRule: (body = {}) => {
      const rule = { name: 'Failures', conditions: failures, slackUrl: slack.url, ...body }
      return caller.expect(caller.call('createAlertRule', { body: rule }))
    },
    rule: ({ id }) => caller.expect(caller.call('getAlertRule', { id })),
    incidents: (query = {}) => caller.expect(caller.call('listAlertIncidents', { query })),
    failing: async (name = 'Orders', account = accountId) => {
      const connection = await connect(name, account)
      await end(connection, 'failed', 'unreachable')
      return connection
    },
  }
}
