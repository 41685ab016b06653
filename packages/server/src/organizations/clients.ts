import { limits } from '@penstock/wire'
import { mayActIn, requireGrantable } from '../access.ts'
import type { Actor, Answer, Call, Grants } from '../call.ts'
import { databaseNow } from '../db/clock.ts'
import type { Db, Transaction } from '../db/database.ts'
import { containing } from '../db/like.ts'
import { refuse, refuseFieldErrors, requireShare } from '../refusal.ts'
import type { ClientRow } from './client-queries.ts'
import * as queries from './client-queries.ts'
import { addClient, changeName, endClient, replaceSecret } from './credentials.ts'
import { viewClient } from './view.ts'

/**
 * Client credentials with scopes. Actors see only clients that are limited to the same sub-accounts or fewer. They can change
 * or create only clients that can do no more than they can themselves.
 */

/**
 * Dependencies of the handlers of clients: this process drops cached tokens immediately, without waiting for its own
 * notice.
 */
export type ClientDeps = { readonly tokens: { forget(clientId: string): void } }

export async function listClients({
  db,
  actor: { organizationId, accountIds },
  query: { q, size, offset },
}: Call<'listClients'>): Promise<Answer<'listClients'>> {
  const filter = { organizationId, accountIds, like: containing(q) }
  const [rows, count] = await Promise.all([
    queries.listClients.all(db, { ...filter, size, offset }),
    queries.countClients.first(db, filter),
  ])
  return { reply: rows.map(viewClient), total: count?.total ?? 0 }
}

export async function getClient({ db, actor, id }: Call<'getClient'>): Promise<Answer<'getClient'>> {
  return { reply: viewClient(await requireClient(db, actor, id)) }
}

/** Refuses with `forbidden` what the actor does not have, and with `quota_exceeded` if there are too many clients. */
export async function createClient({ db: tx, actor, body }: Call<'createClient'>): Promise<Answer<'createClient'>> {
  const grants: Grants = { scopes: body.scopes ?? null, accountIds: body.accountIds ?? null }
  requireGrantable(actor, grants)
  await requireAccounts(tx, actor, grants.accountIds ?? [], (index) => `body.accountIds.${index}`)
  const expiresTime = body.expiresTime ? new Date(body.expiresTime * 1_000) : null
  if (expiresTime && expiresTime <= (await databaseNow(tx))) {
    refuse('invalid_request', [{ field: 'body.expiresTime', message: 'must be in the future' }])
  }
  const { organizationId } = actor
  await queries.lockOrganization.first(tx, { organizationId })
  const count = await queries.countForQuota.first(tx, { organizationId, accountIds: grants.accountIds ?? [] })
  requireShare(
    count ?? { total: 0, ofAccount: 0 },
    { total: limits.clientsMax, ofAccount: limits.clientsOfAccountMax },
    {
      field: 'clients',
      what: 'that are not revoked',
      ofAccount: 'that are limited to a sub-account and not revoked',
      advice: 'revoke credentials that are not used',
    },
  )
  const { clientId, clientSecret } = await addClient(tx, organizationId, {
    name: body.name.trim(),
    grants,
    expiresTime,
  })
  return { reply: { ...viewClient(await requireClient(tx, actor, clientId)), clientSecret } }
}

export async function renameClient({
  db: tx,
  actor,
  id,
  body: { name },
}: Call<'renameClient'>): Promise<Answer<'renameClient'>> {
  const was = await lockForChange(tx, actor, id)
  await changeName(tx, id, name.trim())
  const reply = viewClient(await requireClient(tx, actor, id))
  return { reply, audited: { before: { name: was.name }, after: { name: reply.name } } }
}

export async function rotateClient(
  { db: tx, actor, id, body: { overlapHours = limits.rotationOverlapHoursDefault } }: Call<'rotateClient'>,
  { tokens }: ClientDeps,
): Promise<Answer<'rotateClient'>> {
  await lockForChange(tx, actor, id)
  const { clientSecret } = await replaceSecret(tx, id, overlapHours)
  tx.afterCommit(() => tokens.forget(id))
  const reply = { ...viewClient(await requireClient(tx, actor, id)), clientSecret }
  return { reply, audited: { details: { overlapHours } } }
}

/** Repeating it changes nothing. */
export async function revokeClient(
  { db: tx, actor, id }: Call<'revokeClient'>,
  { tokens }: ClientDeps,
): Promise<Answer<'revokeClient'>> {
  const row = await lockGrantable(tx, actor, id)
  if (!row.revokedTime) await endClient(tx, id)
  tx.afterCommit(() => tokens.forget(id))
  return { reply: viewClient(await requireClient(tx, actor, id)), audited: { before: viewClient(row) } }
}

async function requireClient(db: Db, { organizationId, accountIds }: Actor, id: string): Promise<ClientRow> {
  return (await queries.findClient.first(db, { organizationId, accountIds, id })) ?? refuse('not_found')
}

/** Locks a client that can do no more than the actor. Refuses with `forbidden` a client that can do more. */
async function lockGrantable(tx: Transaction, actor: Actor, id: string): Promise<ClientRow> {
  const { organizationId, accountIds } = actor
  const row = (await queries.lockClient.first(tx, { organizationId, accountIds, id })) ?? refuse('not_found')
  requireGrantable(actor, row)
  return row
}

async function lockForChange(tx: Transaction, actor: Actor, id: string): Promise<ClientRow> {
  const row = await lockGrantable(tx, actor, id)
  if (row.revokedTime) refuse('client_revoked')
  return row
}

/** Refuses identifiers that are not sub-accounts of the organization, or are not accessible to the actor. */
export async function requireAccounts(
  db: Db,
  actor: Actor,
  ids: readonly string[],
  fieldOf: (index: number) => string,
): Promise<void> {
  if (ids.length === 0) return
  const found = await queries.findAccounts.all(db, { organizationId: actor.organizationId, ids })
  const known = new Set(found.map(({ id }) => id).filter((id) => mayActIn(actor, id)))
  const message = 'is not a sub-account of the organization'
  refuseFieldErrors(ids.flatMap((id, index) => (known.has(id) ? [] : [{ field: fieldOf(index), message }])))
}
