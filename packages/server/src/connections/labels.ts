import type { Answer, Call } from '../call.ts'
import { violates } from '../db/errors.ts'
import { containing } from '../db/like.ts'
import { refuse, requireEditable } from '../refusal.ts'
import type { ConnectionDeps } from './connections.ts'
import * as queries from './label-queries.ts'
import { keyOfTag } from './tags.ts'
import { viewLabels } from './view.ts'

/** Tags and owners of connections. They have no version, and changing them keeps the version of the connection. */

/** The labels of connections that have any. */
export async function listConnectionLabels({
  db,
  actor,
  account,
  query: { connectionIds, size, offset },
}: Call<'listConnectionLabels'>): Promise<Answer<'listConnectionLabels'>> {
  const { organizationId, accountIds } = actor
  const filter = {
    organizationId,
    accountId: account?.id ?? null,
    accountIds,
    connectionIds: connectionIds?.split(',') ?? null,
  }
  const [rows, count] = await Promise.all([
    queries.listLabels.all(db, { ...filter, size, offset }),
    queries.countLabels.first(db, filter),
  ])
  return { reply: rows.map(viewLabels), total: count?.total ?? 0 }
}

/** The tags that connections carry, by name, in the spelling of the newest connection of each. */
export async function listConnectionTags({
  db,
  actor,
  account,
  query: { q, size, offset },
}: Call<'listConnectionTags'>): Promise<Answer<'listConnectionTags'>> {
  const { organizationId, accountIds } = actor
  const filter = { organizationId, accountId: account?.id ?? null, accountIds, like: containing(q) }
  const [rows, count] = await Promise.all([
    queries.listTags.all(db, { ...filter, size, offset }),
    queries.countTags.first(db, filter),
  ])
  return { reply: rows.map(({ tag, connections }) => ({ tag, connections })), total: count?.total ?? 0 }
}

/** Answers 404 if there is no such connection. */
export async function getConnectionLabels({
  db,
  account,
  id,
}: Call<'getConnectionLabels'>): Promise<Answer<'getConnectionLabels'>> {
  const row = await queries.findLabels.first(db, { accountId: account.id, id })
  return { reply: viewLabels(row ?? refuse('not_found')) }
}

/**
 * Sets tags, owner or both. Refuses with `invalid_request` if two tags differ only by letter case. Refuses also if no person
 * whom the actor can see, and who can see the sub-account, has the address.
 */
export async function setConnectionLabels(
  { db: tx, actor, account, id, body }: Call<'setConnectionLabels'>,
  deps: ConnectionDeps,
): Promise<Answer<'setConnectionLabels'>> {
  const of = { accountId: account.id, id }
  const before = (await queries.lockLabels.first(tx, of)) ?? refuse('not_found')
  requireEditable(before, deps)
  if (before.status === 'deleted') refuse('connection_deleted')
  const current = viewLabels((await queries.findLabels.first(tx, of)) ?? refuse('not_found'))
  const tags = (body.tags ?? current.tags).map((tag) => tag.trim())
  const keys = tags.map(keyOfTag)
  const repeated = keys.findIndex((key, at) => keys.indexOf(key) !== at)
  if (repeated !== -1)
    refuse('invalid_request', [{ field: `body.tags.${repeated}`, message: 'is there already, in any letter case' }])

  const notThere = (): never =>
    refuse('invalid_request', [
      {
        field: 'body.ownerEmail',
        message: 'is not the address of a person whom you can see and who can see the sub-account',
      },
    ])
  const email = body.ownerEmail === undefined ? current.owner?.email : body.ownerEmail?.trim().toLowerCase()
  let ownerId = current.owner?.id ?? null
  if (email !== current.owner?.email) {
    const { organizationId, accountIds, id: actorId } = actor
    const owner = email && { organizationId, accountIds, actorId, accountId: account.id, email }
    ownerId = owner ? ((await queries.findOwner.first(tx, owner)) ?? notThere()).id : null
  }
  try {
    await queries.putLabels.run(tx, { id, tags, tagKeys: keys, ownerId })
  } catch (error) {
    if (violates(error, 'connections_owner')) notThere()
    throw error
  }
  const reply = viewLabels((await queries.findLabels.first(tx, of)) ?? refuse('not_found'))
  return { reply, audited: { before: current, after: reply } }
}
