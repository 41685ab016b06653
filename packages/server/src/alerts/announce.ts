import { type AlertChannel, limits } from '@penstock/wire'
import type { Catalogue } from '../connectors/catalogue.ts'
import type { Transaction } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import { countMails } from '../organizations/mail-limit.ts'
import { refuse } from '../refusal.ts'
import { unixSeconds } from '../time.ts'
import * as queries from './announce-queries.ts'
import type { AlertContent, AlertItem } from './content.ts'
import type { RuleRow } from './rule-queries.ts'
import { columnsOf } from './where.ts'

/**
 * Writes the messages about incidents, in the transaction that opens or resolves them: one message for each recipient,
 * which is sent afterwards. Incidents that a rule finds at the same time are one message. A rule that keeps finding
 * more sends messages of several incidents at intervals.
 */

const rulesAtOnce = 10
/** Incidents of a rule that one message covers. The next message covers the rest. */
const incidentsMax = 10_000
const itemsMax = 10
const groupsMax = 5
/** People who get a message because of their role. */
const peopleMax = 200

/** Writes the messages that are due. Resolves with the number of messages. */
export async function announce(
  tx: Transaction,
  { catalogue, mailIsSetUp }: { catalogue: Catalogue; mailIsSetUp: boolean },
): Promise<number> {
  const bounds = { atOnce: limits.alertMessagesAtOnce, minutes: limits.alertMessageMinutes }
  const rules = await queries.takeRules.all(tx, { ...bounds, limit: rulesAtOnce })
  if (rules.length === 0) return 0
  const ruleIds = rules.map(({ id }) => id)
  const pending = new Map<string, queries.PendingRow[]>()
  // One rule at a time: one statement for the incidents of all rules could exceed the statement timeout.
  for (const ruleId of ruleIds) pending.set(ruleId, await queries.takePending.all(tx, { ruleId, limit: incidentsMax }))
  const people = await peopleOf(tx, ruleIds, mailIsSetUp)
  for (const rule of rules) {
    const isMailed = recipientsOf(rule, people, mailIsSetUp).some(({ channel }) => channel === 'email')
    if (isMailed || !asksForMail(rule) || !pending.get(rule.id)?.length) continue
    await queries.noteUnsent.run(tx, { ruleId: rule.id, message: mailIsSetUp ? noPeople : noMailServer })
  }
  const deliveries = rules.flatMap((rule) => {
    const rows = pending.get(rule.id) ?? []
    return recipientsOf(rule, people, mailIsSetUp).flatMap(({ channel, recipient, accountIds }) => {
      const seen = accountIds ? rows.filter(({ accountId }) => accountIds.includes(accountId)) : rows
      const kind = seen[0]?.kind
      if (!kind) return []
      const content = contentOf(rule, kind, seen, catalogue)
      return [{ id: newIdentifier(), ruleId: rule.id, kind, channel, recipient, content }]
    })
  })
  if (deliveries.length > 0) await queries.insertDeliveries.run(tx, { deliveries: JSON.stringify(deliveries) })
  return deliveries.length
}

/**
 * Queues a test message to every recipient of a rule. Resolves with the number of queued messages. Email recipients beyond the
 * limit get no message, and the rule shows that. Refuses with `rate_limited` if no one else is left.
 */
export async function queueTests(tx: Transaction, rule: RuleRow, mailIsSetUp: boolean): Promise<number> {
  const wait = await queries.testWait.first(tx, { ruleId: rule.id, perHour: limits.alertTestsPerHour })
  if (wait?.seconds) refuse('rate_limited', [], wait.seconds)
  const people = await peopleOf(tx, [rule.id], mailIsSetUp)
  const has = { hasSlack: rule.slackSealed !== null, hasTeams: rule.teamsSealed !== null }
  const content: AlertContent = { kind: 'test', ...ruleOf(rule), total: 0, items: [], groups: [] }
  const recipients = recipientsOf({ ...rule, ...has }, people, mailIsSetUp)
  const { organizationId } = rule
  const emails = recipients.flatMap(({ recipient }) => (recipient === null ? [] : [recipient]))
  const counted = await countMails(tx, { organizationId, kind: 'alertTest', recipients: emails })
  const limited = new Set(counted.limited)
  if (limited.size > 0 && limited.size === recipients.length) refuse('rate_limited', [], counted.retrySeconds)
  if (limited.size > 0) {
    const minutes = Math.ceil(counted.retrySeconds / 60)
    const message = `No test was sent to ${limited.size} of ${emails.length} addresses: the limit of e-mails in an hour, of the organization or of a recipient, is reached. Try again in ${minutes} minutes.`
    await queries.noteUnsent.run(tx, { ruleId: rule.id, message })
  }
  const queued = recipients.filter(({ recipient }) => recipient === null || !limited.has(recipient))
  const deliveries = queued.map(({ channel, recipient }) => ({
    id: newIdentifier(),
    ruleId: rule.id,
    kind: 'test',
    channel,
    recipient,
    content,
  }))
  if (deliveries.length > 0) await queries.insertDeliveries.run(tx, { deliveries: JSON.stringify(deliveries) })
  return deliveries.length
}

/** Error of a rule that names e-mail as a channel if no mail can be sent. */
export const noMailServer =
  'No e-mail is sent, because no mail server is set up. Ask the operator to set PENSTOCK_SMTP_URL, or add Slack or Teams to the rule.'
const noPeople =
  'No e-mail was sent, because no person has the roles of the rule. Choose other roles, or add an address.'

export const asksForMail = ({ emails, emailRoles }: Pick<RuleRow, 'emails' | 'emailRoles'>): boolean =>
  emails.length + emailRoles.length > 0

type Recipient = { channel: AlertChannel; recipient: string | null; accountIds: readonly string[] | null }

const peopleOf = (tx: Transaction, ruleIds: readonly string[], mailIsSetUp: boolean) =>
  mailIsSetUp ? queries.recipientsOf.all(tx, { ruleIds, limit: peopleMax }) : []

/** Recipients of the messages of a rule. An address that is named and belongs to a person gets one message. */
function recipientsOf(
  rule: queries.AnnouncingRow,
  people: readonly queries.RecipientRow[],
  mailIsSetUp: boolean,
): Recipient[] {
  const mails = new Map<string, Recipient>()
  for (const { ruleId, email, accountIds } of people) {
    if (ruleId === rule.id) mails.set(email.toLowerCase(), { channel: 'email', recipient: email, accountIds })
  }
  for (const email of mailIsSetUp ? rule.emails : []) {
    mails.set(email.toLowerCase(), { channel: 'email', recipient: email, accountIds: null })
  }
  const posts = [rule.hasSlack ? 'slack' : null, rule.hasTeams ? 'teams' : null].filter((channel) => channel !== null)
  return [
    ...mails.values(),
    ...posts.map((channel): Recipient => ({ channel: channel as AlertChannel, recipient: null, accountIds: null })),
  ]
}

const ruleOf = ({ id, name, accountId }: Pick<queries.AnnouncingRow, 'id' | 'name' | 'accountId'>) => ({
  ruleId: id,
  ruleName: name,
  accountId,
})

function contentOf(
  rule: queries.AnnouncingRow,
  kind: 'opened' | 'resolved',
  rows: readonly queries.PendingRow[],
  catalogue: Catalogue,
): AlertContent {
  const items = rows.map((row) => itemOf(row, catalogue))
  const groups = Map.groupBy(items, ({ reasons, errorCode, platform }) =>
    JSON.stringify([reasons[0], errorCode, platform]),
  )
  return {
    kind,
    ...ruleOf(rule),
    total: items.length,
    items: items.slice(0, itemsMax),
    groups: [...groups.values()]
      .sort((a, b) => b.length - a.length)
      .slice(0, groupsMax)
      .flatMap(([first, ...more]) => (first ? [{ count: more.length + 1, like: first }] : [])),
  }
}

function itemOf(row: queries.PendingRow, catalogue: Catalogue): AlertItem {
  const failing = { Source: row.srcConnectorId, Destination: row.destConnectorId, none: null }[row.errorSide ?? 'none']
  return {
    incidentId: row.id,
    accountId: row.accountId,
    accountName: row.accountName,
    connectionId: row.connectionId,
    connectionName: row.connectionName,
    ownerName: row.ownerName,
    reasons: row.reasons,
    numbers: row.numbers,
    errorCode: row.errorCode,
    platform: (failing && catalogue.find(failing)?.name) ?? null,
    table: row.tableName,
    columns: columnsOf(row),
    transferId: row.transferId,
    since: unixSeconds(row.openedTime),
    resolution: row.resolution,
    until: row.resolvedTime && unixSeconds(row.resolvedTime),
  }
}
