import { type AlertChannel, limits } from '@penstock/wire'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { Logger } from '../log.ts'
import { MailError, type Mailer } from '../mail.ts'
import { countMails, uncountMail } from '../organizations/mail-limit.ts'
import { isSuccess, type Outgoing, OutgoingError } from '../outgoing/outgoing.ts'
import { openDataKey } from '../secrets/data-keys.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { openAddress } from './addresses.ts'
import * as queries from './delivery-queries.ts'
import { mailOf, slackBodyOf, teamsBodyOf } from './forms.ts'
import { messageOf } from './messages.ts'

/**
 * Sends queued messages, each at least once. If a process dies after it sent a message and before it recorded that, another
 * process sends the message again. The Message-ID of a mail stays the same, but Slack and Teams have nothing similar.
 */

export type DeliverDeps = {
  readonly config: Pick<Config, 'publicUrl'>
  readonly database: Database
  readonly keyring: Keyring
  readonly mailer: Mailer
  readonly outgoing: Outgoing
}

/** The mailer has two connections to the mail server. If the server does not respond, more mails would only wait. */
const atOnce: Readonly<Record<AlertChannel, number>> = { email: 2, slack: 10, teams: 10 }
/** Of one organization. */
const mostOfOne = 3
/** Longer than sending one message can take. */
const leaseSeconds = 120
const firstRetrySeconds = 30
const lastRetrySeconds = 3_600

/** Sends the due messages of a channel, a few at a time. Resolves with the number of messages that it tried to send. */
export async function deliverDue(deps: DeliverDeps, channel: AlertChannel, log: Logger): Promise<number> {
  const bounds = { limit: atOnce[channel], most: mostOfOne }
  const rows = await queries.takeDeliveries.all(deps.database, { channel, leaseSeconds, ...bounds })
  await Promise.all(rows.map((row) => deliver(deps, row, log)))
  return rows.length
}

/** Why a message was not taken, as the rule shows it, without what happens next. */
class NotTaken extends Error {
  /** Advice for the user. Null means that the message is retried. */
  readonly advice: string | null
  readonly retryAfterMs: number | null
  constructor(message: string, advice: string | null, retryAfterMs: number | null = null) {
    super(message)
    this.advice = advice
    this.retryAfterMs = retryAfterMs
  }
}

async function deliver(deps: DeliverDeps, row: queries.AlertDeliveryRow, log: Logger): Promise<void> {
  const { database } = deps
  const { id, ruleId, channel, attempts } = row
  // A worker that stops waits for the answer: the message may have been delivered already, and another worker would send it
  // again.
  const failure = await send(deps, row).then(
    () => undefined,
    (error: unknown) => reasonOf(error, row),
  )
  // Deadlocks with a deletion of the rule are retried.
  if (!failure) {
    await database.transaction((tx) => queries.endDelivery.run(tx, { id, outcome: 'delivered', message: null }))
    return
  }
  const { message, advice, retryAfterMs } = failure
  log.warn({ deliveryId: id, ruleId, channel, attempts, reason: message }, 'an alert could not be sent')
  const isTooOld = row.ageSeconds > limits.alertDeliveryHours * 3_600
  const next = advice ?? (isTooOld ? `it was given up after ${limits.alertDeliveryHours} hours` : 'it is tried again')
  const said = { id, message: `${message}: ${next}.` }
  await database.transaction((tx) =>
    advice !== null || isTooOld
      ? queries.endDelivery.run(tx, { ...said, outcome: 'failed' })
      : queries.postponeDelivery.run(tx, { ...said, seconds: waitSeconds(attempts, retryAfterMs) }),
  )
}

const waitSeconds = (attempts: number, retryAfterMs: number | null): number =>
  Math.min(Math.max(firstRetrySeconds * 2 ** Math.min(attempts - 1, 10), (retryAfterMs ?? 0) / 1_000), lastRetrySeconds)

async function send({ config, database, keyring, mailer, outgoing }: DeliverDeps, row: queries.AlertDeliveryRow) {
  const { id, channel, recipient } = row
  const message = messageOf(row.content, config.publicUrl)
  if (channel === 'email') {
    const mail = {
      to: recipient ?? '',
      ...mailOf(message),
      messageId: `<alert-${id}@${new URL(config.publicUrl).hostname}>`,
    }
    // Tests were counted as they were requested.
    if (row.content.kind === 'test') return mailer.deliver(mail)
    const { organizationId } = row
    const counted = { organizationId, kind: 'alert' } as const
    const { limited, retrySeconds } = await database.transaction((tx) =>
      countMails(tx, { ...counted, recipients: [mail.to] }),
    )
    if (limited.length > 0) throw new NotTaken(limitReached, null, retrySeconds * 1_000)
    return mailer.deliver(mail).catch(async (error) => {
      await database.transaction((tx) => uncountMail(tx, { ...counted, recipient: mail.to }))
      throw error
    })
  }
  const sealed = channel === 'slack' ? row.slackSealed : row.teamsSealed
  const key = row.dataKeyId === null ? undefined : await openDataKey(database, keyring, row.dataKeyId)
  if (!sealed || !key) throw new NotTaken('The address was removed from the rule', 'no message is sent there')
  const body = channel === 'slack' ? slackBodyOf(message) : teamsBodyOf(message)
  const answer = await outgoing.post(openAddress(key, row.ruleId, channel, sealed), {
    body,
    contentType: 'application/json; charset=utf-8',
  })
  if (isSuccess(answer)) return
  const { status, retryAfterMs } = answer
  const isTransient = status === 408 || status === 429 || status >= 500
  const advice = isTransient ? null : 'check the address of the webhook, and whether it is still there'
  throw new NotTaken(`${nameOf[channel]} answered ${status}`, advice, retryAfterMs)
}

const limitReached = 'The limit of e-mails in an hour, of the organization or of a recipient, is reached'
const nameOf = { slack: 'Slack', teams: 'Teams', email: 'The mail server' } as const

const withoutRetry = new Set(['address_not_allowed', 'insecure_address', 'invalid_address'])

/** Nothing of an address or an answer is in it, for both are secrets of others. */
function reasonOf(error: unknown, { channel }: queries.AlertDeliveryRow): NotTaken {
  if (error instanceof NotTaken) return error
  if (error instanceof MailError) {
    return error.permanent
      ? new NotTaken('The mail server refused the message', 'check the address')
      : new NotTaken('The mail server did not take the message', null)
  }
  if (error instanceof OutgoingError) {
    const advice = withoutRetry.has(error.code) ? 'check the address' : null
    return new NotTaken(`${nameOf[channel]} could not be reached (${error.code})`, advice)
  }
  return new NotTaken('The message could not be sent because of an internal error', null)
}
