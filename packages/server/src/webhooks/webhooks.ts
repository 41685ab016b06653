import { type EventType, limits } from '@penstock/wire'
import { requireAllAccounts, requireScopesOfEvents } from '../access.ts'
import type { Actor, Answer, Call } from '../call.ts'
import type { Config } from '../config.ts'
import type { Db, Transaction } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import { OutgoingError, parseOutgoingUrl } from '../outgoing/outgoing.ts'
import { refuse, refuseFieldErrors } from '../refusal.ts'
import { makeDataKey, openDataKey } from '../secrets/data-keys.ts'
import type { Keyring } from '../secrets/keyring.ts'
import * as queries from './queries.ts'
import { newWebhookSecret, sealWebhookSecret } from './secrets.ts'
import { etagOf, viewWebhook } from './view.ts'

/**
 * Webhooks: where events are sent. A credential that is limited to sub-accounts sees and creates only webhooks of its
 * sub-accounts. Webhooks of the whole organization need other credentials.
 */

/** Longer than a process that sends holds a lease without renewing it. */
const leaseSeconds = 30

export type WebhookDeps = { readonly config: Config; readonly keyring: Keyring }

export async function listWebhooks({
  db,
  actor: { organizationId, accountIds },
  account,
  query: { size, offset },
}: Call<'listWebhooks'>): Promise<Answer<'listWebhooks'>> {
  const visible = { organizationId, accountIds: account ? [account.id] : accountIds }
  const [rows, count] = await Promise.all([
    queries.listWebhooks.all(db, { ...visible, size, offset }),
    queries.countWebhooks.first(db, visible),
  ])
  return { reply: rows.map(viewWebhook), total: count?.total ?? 0 }
}

export async function getWebhook({ db, actor, id }: Call<'getWebhook'>): Promise<Answer<'getWebhook'>> {
  const row = await requireWebhook(db, actor, id)
  return { reply: viewWebhook(row), etag: etagOf(row) }
}

/**
 * Refuses with `quota_exceeded` if there are too many, and with `forbidden` an actor who is not allowed to read what the events
 * contain.
 */
export async function createWebhook(
  { db: tx, actor, body }: Call<'createWebhook'>,
  { config, keyring }: WebhookDeps,
): Promise<Answer<'createWebhook'>> {
  const { organizationId } = actor
  const { accountId = null, description = '', eventTypes = null, enabled = true } = body
  const url = requireUrl(body.url, config)
  requireScopesOfEvents(actor, eventTypes)
  if (accountId === null) requireAllAccounts(actor)
  else if (
    (actor.accountIds && !actor.accountIds.includes(accountId)) ||
    !(await queries.holdAccount.first(tx, { organizationId, id: accountId }))
  ) {
    refuseFieldErrors([{ field: 'body.accountId', message: 'is not a sub-account of the organization' }])
  }
  await queries.lockOrganization.first(tx, { organizationId })
  const count = await queries.countForQuota.first(tx, { organizationId, accountId })
  requireFew(count?.total ?? 0, limits.webhooksMax, 'of an organization')
  requireFew(
    count?.same ?? 0,
    limits.webhooksOfSameMax,
    accountId === null ? 'of all sub-accounts' : 'of a sub-account',
  )
  const id = newIdentifier()
  const secret = newWebhookSecret()
  const dataKey = await makeDataKey(tx, keyring)
  const secretSealed = sealWebhookSecret(dataKey.key, id, secret)
  const { id: dataKeyId } = dataKey
  await queries.insertWebhook.run(tx, {
    id,
    organizationId,
    accountId,
    url,
    description,
    eventTypes,
    enabled,
    dataKeyId,
    secretSealed,
  })
  return { reply: { ...viewWebhook(await requireWebhook(tx, actor, id)), secret } }
}

export async function updateWebhook(
  { db: tx, actor, id, body, precondition }: Call<'updateWebhook'>,
  { config }: WebhookDeps,
): Promise<Answer<'updateWebhook'>> {
  const row = await lockWebhook(tx, actor, id)
  precondition.check(etagOf(row))
  const { description = row.description, eventTypes = row.eventTypes, enabled = row.enabled } = body
  const url = body.url === undefined ? row.url : requireUrl(body.url, config)
  const before = viewWebhook(row)
  const isMoved = url !== row.url
  const sendsTheSame = !isMoved && String(eventTypes) === String(row.eventTypes)
  const isSame = sendsTheSame && description === row.description && enabled === row.enabled
  if (isSame) return { reply: before, etag: etagOf(row), audited: { unchanged: true } }
  // Changing the description and disabling send no events. After other changes, earlier events can be sent again or are
  // pending.
  if (isMoved || (enabled && !row.enabled)) requireScopesOfEvents(actor, either(eventTypes, row.takenEventTypes))
  else if (!sendsTheSame) requireScopesOfEvents(actor, eventTypes)
  await queries.updateWebhook.run(tx, { id, url, description, eventTypes, enabled })
  if (isMoved) await queries.endPending.run(tx, { id, leaseSeconds })
  const now = await requireWebhook(tx, actor, id)
  return { reply: viewWebhook(now), etag: etagOf(now), audited: { before } }
}

export async function deleteWebhook({
  db: tx,
  actor,
  id,
  precondition,
}: Call<'deleteWebhook'>): Promise<Answer<'deleteWebhook'>> {
  const row = await lockWebhook(tx, actor, id)
  precondition.check(etagOf(row))
  await queries.deleteWebhook.run(tx, { id })
  return { reply: { done: true }, audited: { before: viewWebhook(row), after: null } }
}

export async function rotateWebhookSecret(
  {
    db: tx,
    actor,
    id,
    body: { overlapHours = limits.rotationOverlapHoursDefault },
    precondition,
  }: Call<'rotateWebhookSecret'>,
  { keyring }: WebhookDeps,
): Promise<Answer<'rotateWebhookSecret'>> {
  const row = await lockWebhook(tx, actor, id)
  precondition.check(etagOf(row))
  const { dataKeyId } = row
  const key = await openDataKey(tx, keyring, dataKeyId)
  if (!key) throw new Error(`The data key ${dataKeyId} is gone`)
  const secret = newWebhookSecret()
  await queries.replaceSecret.run(tx, { id, secretSealed: sealWebhookSecret(key, id, secret), overlapHours })
  const now = await requireWebhook(tx, actor, id)
  return { reply: { ...viewWebhook(now), secret }, etag: etagOf(now), audited: { details: { overlapHours } } }
}

/** The types of both lists. Null means every type. */
const either = (some: readonly EventType[] | null, others: readonly EventType[] | null): EventType[] | null =>
  some && others && [...new Set([...some, ...others])]

const requireWebhook = async (db: Db, { organizationId, accountIds }: Actor, id: string): Promise<queries.WebhookRow> =>
  (await queries.findWebhook.first(db, { organizationId, accountIds, id })) ?? refuse('not_found')

/** The webhook, locked. Refuses with `not_found` a webhook that the actor cannot see. */
export const lockWebhook = async (tx: Transaction, { organizationId, accountIds }: Actor, id: string) =>
  (await queries.lockWebhook.first(tx, { organizationId, accountIds, id })) ?? refuse('not_found')

/** The webhook, if the actor can see it. Refuses with `not_found` otherwise. */
export { requireWebhook }

function requireUrl(address: string, { plainHttp }: Config): string {
  try {
    return parseOutgoingUrl(address.trim(), plainHttp).href
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error
    return refuse('invalid_request', [{ field: 'body.url', message: error.message }])
  }
}

function requireFew(count: number, most: number, whose: string): void {
  if (count < most) return
  refuse('quota_exceeded', [
    { field: 'webhooks', message: `at most ${most} ${whose}: delete webhooks that are not used` },
  ])
}
