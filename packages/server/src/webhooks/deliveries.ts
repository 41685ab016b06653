import { isEventType, limits } from '@penstock/wire'
import { requireScopesOfEvents } from '../access.ts'
import type { Answer, Call } from '../call.ts'
import { writeEvent } from '../events/events.ts'
import { newIdentifier } from '../identifiers.ts'
import { refuse } from '../refusal.ts'
import { openDataKey } from '../secrets/data-keys.ts'
import * as queries from './log-queries.ts'
import { openAnswer, type SealedAnswer } from './secrets.ts'
import { viewAttempt, viewDelivery } from './view.ts'
import { lockWebhook, requireWebhook, type WebhookDeps } from './webhooks.ts'

/** The log of deliveries, and replays. A replayed event keeps its identifier and its bytes. */

export async function listWebhookDeliveries({
  db,
  actor,
  id,
  query: { status: wanted, size, offset },
}: Call<'listWebhookDeliveries'>): Promise<Answer<'listWebhookDeliveries'>> {
  const { id: webhookId } = await requireWebhook(db, actor, id)
  const status = wanted ?? null
  const [rows, count] = await Promise.all([
    queries.listDeliveries.all(db, { webhookId, status, size, offset }),
    queries.countDeliveries.first(db, { webhookId, status }),
  ])
  return { reply: rows.map(viewDelivery), total: count?.total ?? 0 }
}

/** Requires the read scope of the event. */
export async function getWebhookDelivery(
  { db, actor, id }: Call<'getWebhookDelivery'>,
  { keyring }: WebhookDeps,
): Promise<Answer<'getWebhookDelivery'>> {
  const { organizationId, accountIds } = actor
  const row = await queries.findDeliveryDetails.first(db, { organizationId, accountIds, id })
  if (!row) return refuse('not_found')
  requireScopesOfEvents(actor, [row.eventType].filter(isEventType))
  const attempts = await queries.listAttempts.all(db, { deliveryId: id, limit: limits.webhookAttemptsMax })
  const key = attempts.some(({ answerSealed }) => answerSealed)
    ? await openDataKey(db, keyring, row.dataKeyId)
    : undefined
  const none: SealedAnswer = { headers: {}, body: '' }
  const log = attempts.map((attempt) =>
    viewAttempt(
      attempt,
      key && attempt.answerSealed ? openAnswer(key, id, attempt.number, attempt.answerSealed) : none,
    ),
  )
  return { reply: { ...viewDelivery(row), payload: row.payload, log } }
}

/** Sends it to the current address of the webhook. Requires the read scope of the event. */
export async function replayWebhookDelivery({
  db: tx,
  actor,
  id,
}: Call<'replayWebhookDelivery'>): Promise<Answer<'replayWebhookDelivery'>> {
  const { organizationId, accountIds } = actor
  const found = { organizationId, accountIds, id }
  const row = (await queries.findDelivery.first(tx, found)) ?? refuse('not_found')
  requireScopesOfEvents(actor, [row.eventType].filter(isEventType))
  await queries.replayDelivery.run(tx, { id })
  await queries.lookNow.run(tx, { id: row.webhookId })
  const reply = viewDelivery((await queries.findDelivery.first(tx, found)) ?? refuse('not_found'))
  return { reply, audited: { details: { webhookId: row.webhookId, eventId: row.eventId } } }
}

/** All or none: if the actor is not allowed to read one of the events, the request is refused and nothing is queued. */
export async function replayWebhook({
  db: tx,
  actor,
  id,
  body: { since, status: wanted },
}: Call<'replayWebhook'>): Promise<Answer<'replayWebhook'>> {
  await lockWebhook(tx, actor, id)
  const status = wanted ?? null
  const limit = limits.webhookReplayMax
  const ofTypes = await queries.replayDeliveries.all(tx, { webhookId: id, since, status, limit })
  requireScopesOfEvents(actor, ofTypes.map(({ eventType }) => eventType).filter(isEventType))
  const replayed = ofTypes.reduce((sum, { count }) => sum + count, 0)
  await queries.lookNow.run(tx, { id })
  const reply = { replayed, complete: replayed < limit }
  return { reply, audited: { details: { since, status, replayed } } }
}

/** Only this webhook gets the event. */
export async function testWebhook({ db: tx, actor, id }: Call<'testWebhook'>): Promise<Answer<'testWebhook'>> {
  const { accountId } = await lockWebhook(tx, actor, id)
  const { organizationId, accountIds } = actor
  const event = { type: 'webhook.test', organizationId, accountId, connectionId: null, data: { webhookId: id } }
  const eventId = await writeEvent(tx, event)
  const deliveryId = newIdentifier()
  // With a separate ordering key, so that waiting events of a connection do not delay it.
  await queries.insertDelivery.run(tx, { id: deliveryId, webhookId: id, eventId, orderingKey: eventId })
  await queries.lookNow.run(tx, { id })
  const row =
    (await queries.findDelivery.first(tx, { organizationId, accountIds, id: deliveryId })) ?? refuse('not_found')
  const reply = viewDelivery(row)
  return { reply, audited: { after: reply } }
}
