import { limits } from '@penstock/wire'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { Logger } from '../log.ts'
import { MailError, type Mailer } from '../mail.ts'
import { isSuccess, type Outgoing, OutgoingError } from '../outgoing/outgoing.ts'
import { openDataKey } from '../secrets/data-keys.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { openAddress } from './addresses.ts'
import * as queries from './delivery-queries.ts'
import { mailOf, slackBodyOf, teamsBodyOf } from './forms.ts'
import { messageOf } from './messages.ts'

/**
 * Sends the messages that were written: each at least once. A process that dies between sending and writing down that it has
 * sent has another one send again; a mail has the same Message-ID then, and Slack and Teams have nothing like it.
 */

export type DeliverDeps = {
  readonly config: Pick<Config, 'publicUrl'>
  readonly database: Database
  readonly keyring: Keyring
  readonly mailer: Mailer
  readonly outgoing: Outgoing
}

const deliveriesAtOnce = 10
/** Longer than sending takes. */
const leaseSeconds = 120
const firstRetrySeconds = 30
const lastRetrySeconds = 3_600

/** Sends what is due, a few messages at a time. Resolves with how many were tried. */
export async function deliverDue(deps: DeliverDeps, log: Logger, signal: AbortSignal): Promise<number> {
  const rows = await queries.takeDeliveries.all(deps.database, { leaseSeconds, limit: deliveriesAtOnce })
  await Promise.all(rows.map((row) => deliver(deps, row, log, signal)))
  return rows.length
}

/** Why a message was not taken, as the rule shows it. */
class NotTaken extends Error {
  readonly permanent: boolean
  readonly retryAfterMs: number | null
  constructor(message: string, permanent: boolean, retryAfterMs: number | null = null) {
    super(message)
    this.permanent = permanent
    this.retryAfterMs = retryAfterMs
  }
}

async function deliver(
  deps: DeliverDeps,
  row: queries.AlertDeliveryRow,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const { database } = deps
  try {
    await send(deps, row, signal)
    await queries.endDelivery.run(database, { id: row.id, outcome: 'delivered', message: null })
  } catch (error) {
    if (signal.aborted) return
    const { message, permanent, retryAfterMs } = reasonOf(error, row)
    const { id, ruleId, channel, attempts } = row
    log.warn({ deliveryId: id, ruleId, channel, attempts, reason: message }, 'an alert could not be sent')
    const isTooOld = Date.now() - row.createdTime.getTime() > limits.alertDeliveryHours * 3_600_000
    if (permanent || isTooOld) await queries.endDelivery.run(database, { id, outcome: 'failed', message })
    else await queries.postponeDelivery.run(database, { id, seconds: waitSeconds(attempts, retryAfterMs), message })
  }
}

const waitSeconds = (attempts: number, retryAfterMs: number | null): number =>
  Math.min(Math.max(firstRetrySeconds * 2 ** Math.min(attempts - 1, 10), (retryAfterMs ?? 0) / 1_000), lastRetrySeconds)

async function send(
  { config, database, keyring, mailer, outgoing }: DeliverDeps,
  row: queries.AlertDeliveryRow,
  signal: AbortSignal,
) {
  const { id, channel, recipient } = row
  const message = messageOf(row.content, config.publicUrl)
  if (channel === 'email') {
    const messageId = `<alert-${id}@${new URL(config.publicUrl).hostname}>`
    return mailer.deliver({ to: recipient ?? '', ...mailOf(message), messageId })
  }
  const sealed = channel === 'slack' ? row.slackSealed : row.teamsSealed
  const key = row.dataKeyId === null ? undefined : await openDataKey(database, keyring, row.dataKeyId)
  if (!sealed || !key) throw new NotTaken('The address was removed from the rule.', true)
  const body = channel === 'slack' ? slackBodyOf(message) : teamsBodyOf(message)
  const answer = await outgoing.post(openAddress(key, row.ruleId, channel, sealed), {
    ...{ body, contentType: 'application/json', signal },
  })
  if (isSuccess(answer)) return
  const { status, retryAfterMs } = answer
  const isTransient = status === 408 || status === 429 || status >= 500
  const advice = isTransient ? 'it is tried again' : 'check the address of the webhook, and whether it is still there'
  throw new NotTaken(`${nameOf[channel]} answered ${status}: ${advice}.`, !isTransient, retryAfterMs)
}

const nameOf = { slack: 'Slack', teams: 'Teams', email: 'The mail server' } as const

const withoutRetry = new Set(['address_not_allowed', 'insecure_address', 'invalid_address'])

/** Nothing of an address or an answer is in it, for both are secrets of others. */
function reasonOf(
  error: unknown,
  { channel }: queries.AlertDeliveryRow,
): Pick<NotTaken, 'message' | 'permanent' | 'retryAfterMs'> {
  if (error instanceof NotTaken) return error
  if (error instanceof MailError) {
    const message = error.permanent
      ? 'The mail server refused the message: check the address.'
      : 'The mail server did not take the message: it is tried again.'
    return { message, permanent: error.permanent, retryAfterMs: null }
  }
  if (error instanceof OutgoingError) {
    const message = `${nameOf[channel]} could not be reached (${error.code}).`
    return { message, permanent: withoutRetry.has(error.code), retryAfterMs: null }
  }
  return {
    message: 'The message could not be sent because of an internal error: it is tried again.',
    permanent: false,
    retryAfterMs: null,
  }
}
