import { limits, type SavedFilter } from '@penstock/wire'
import { requireScope } from '../access.ts'
import type { Actor, Answer, Call } from '../call.ts'
import type { Transaction } from '../db/database.ts'
import { containing } from '../db/like.ts'
import { newIdentifier } from '../identifiers.ts'
import { requireAccounts } from '../organizations/clients.ts'
import { refuse } from '../refusal.ts'
import { unixSeconds } from '../time.ts'
import * as queries from './saved-filter-queries.ts'

/**
 * Filters of the list of connections that people save: for themselves, or shared. People who can change connections can save,
 * rename and delete shared filters. People who are limited to sub-accounts see and share only filters of these.
 */

const visibleTo = ({ organizationId, id, accountIds }: Actor) => ({ organizationId, userId: id, accountIds })

const viewFilter = (row: queries.SavedFilterRow): SavedFilter => ({
  id: row.id,
  name: row.name,
  query: row.query,
  accountId: row.accountId,
  shared: row.userId === null,
  createdTime: unixSeconds(row.createdTime),
})

export async function listSavedFilters({
  db,
  actor,
  query: { q, size, offset },
}: Call<'listSavedFilters'>): Promise<Answer<'listSavedFilters'>> {
  requireScope(actor, 'connections:read')
  const filter = { ...visibleTo(actor), like: containing(q) }
  const [rows, count] = await Promise.all([
    queries.listFilters.all(db, { ...filter, size, offset }),
    queries.countFilters.first(db, filter),
  ])
  return { reply: rows.map(viewFilter), total: count?.total ?? 0 }
}

/** Refuses with `quota_exceeded` if the person, or for a shared filter the organization, has reached the limit. */
export async function createSavedFilter({
  db: tx,
  actor,
  body,
}: Call<'createSavedFilter'>): Promise<Answer<'createSavedFilter'>> {
  const { shared = false, accountId = null } = body
  requireScope(actor, shared ? 'connections:write' : 'connections:read')
  const { organizationId, accountIds } = actor
  if (accountId !== null) {
    await requireAccounts(tx, actor, [accountId], () => 'body.accountId')
  } else if (shared && accountIds !== null) {
    refuse('invalid_request', [
      { field: 'body.accountId', message: 'is required: you can share only filters of your sub-accounts' },
    ])
  }
  const userId = shared ? null : actor.id
  await queries.holdOrganization.first(tx, { organizationId })
  const count = await queries.countForBound.first(tx, { organizationId, userId })
  if ((count?.total ?? 0) >= limits.savedFiltersMax) {
    const of = shared ? 'shared filters' : 'filters of a person'
    refuse('quota_exceeded', [
      { field: 'savedFilters', message: `at most ${limits.savedFiltersMax} ${of}: delete one` },
    ])
  }
  const made = await queries.insertFilter.first(tx, {
    id: newIdentifier(),
    organizationId,
    accountId,
    userId,
    name: body.name.trim(),
    query: body.query,
  })
  if (!made) throw new Error('The filter was not inserted')
  const reply = viewFilter(made)
  return { reply, audited: { after: reply } }
}

/** Renames a filter, or replaces what it keeps. */
export async function updateSavedFilter({
  db: tx,
  actor,
  id,
  body,
}: Call<'updateSavedFilter'>): Promise<Answer<'updateSavedFilter'>> {
  const row = await lockForChange(tx, actor, id)
  const after = { ...row, name: body.name?.trim() ?? row.name, query: body.query ?? row.query }
  await queries.updateFilter.run(tx, { id, name: after.name, query: after.query })
  return { reply: viewFilter(after), audited: { before: viewFilter(row) } }
}

export async function deleteSavedFilter({
  db: tx,
  actor,
  id,
}: Call<'deleteSavedFilter'>): Promise<Answer<'deleteSavedFilter'>> {
  const row = await lockForChange(tx, actor, id)
  await queries.deleteFilter.run(tx, { id })
  return { reply: { done: true }, audited: { before: viewFilter(row), after: null } }
}

async function lockForChange(tx: Transaction, actor: Actor, id: string): Promise<queries.SavedFilterRow> {
  requireScope(actor, 'connections:read')
  const row = (await queries.lockFilter.first(tx, { ...visibleTo(actor), id })) ?? refuse('not_found')
  if (row.userId === null) requireScope(actor, 'connections:write')
  return row
}
