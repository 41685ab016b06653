import { type Account, type AccountEntry, type BodyOf, limits, type QueryOf } from '@penstock/wire'
import type { Database, Db, Transaction } from '../db/database.ts'
import { containing } from '../db/like.ts'
import type { Notices } from '../db/notices.ts'
import { createRemembered } from '../db/remembered.ts'
import { requireEditable } from '../environment.ts'
import type { ActingAccount, Actor } from '../http/call.ts'
import type { Precondition } from '../http/precondition.ts'
import { newIdentifier } from '../identifiers.ts'
import { refuse, requireQuota } from '../refusal.ts'
import * as queries from './queries.ts'
import { viewAccount, viewAccountEntry } from './view.ts'

/** Sub-accounts (specification, sections 2.7 and 4.3). */

/** What goes and comes back with an account; the rooms above this one see to it. */
export type AccountContents = {
  delete(tx: Transaction, accountId: string): Promise<void>
  restore(tx: Transaction, accountId: string): Promise<void>
}

/** What notices about accounts that are gone are called. */
export const accountTopic = 'account'
const rememberedAccountsMax = 10_000

/** One version of an account; its ETag. */
const etagOf = ({ version }: { version: number }) => String(version)

export async function getAccount(
  db: Db,
  { organizationId }: Actor,
  id: string,
): Promise<{ reply: Account; etag: string }> {
  const row = (await queries.findAccount.first(db, { organizationId, id })) ?? refuse('not_found')
  return { reply: viewAccount(row), etag: etagOf(row) }
}

export async function listAccounts(
  db: Db,
  { organizationId }: Actor,
  { q, size, offset }: QueryOf<'listAccounts'>,
): Promise<{ reply: AccountEntry[]; total: number }> {
  const like = containing(q)
  const [rows, count] = await Promise.all([
    queries.listAccounts.all(db, { organizationId, like, size, offset }),
    queries.countAccounts.first(db, { organizationId, like }),
  ])
  return { reply: rows.map(viewAccountEntry), total: count?.total ?? 0 }
}

/** Creates a sub-account. Refuses with `quota_exceeded` where the organization has as many as `quota` allows. */
export async function addAccount(
  tx: Transaction,
  actor: Actor,
  { env, quota }: { env: string; quota: number },
  { name, enabled = true }: BodyOf<'addAccount'>,
): Promise<{ reply: Account; etag: string }> {
  const id = newIdentifier()
  const { organizationId } = actor
  // Accounts of one organization are created one after another, so that each counts those before it.
  await queries.lockOrganization.first(tx, { organizationId })
  const count = await queries.countForQuota.first(tx, { organizationId })
  requireQuota(
    { live: (count?.live ?? 0) + 1, kept: (count?.kept ?? 0) + 1 },
    {
      ...{ field: 'account', what: 'sub-accounts of the organization' },
      ...{ max: quota, setting: 'PENSTOCK_QUOTA_ACCOUNTS' },
    },
  )
  const row = await queries.insertAccount.first(tx, { id, organizationId, name: name.trim(), enabled, env })
  if (!row) throw new Error(`Account ${id} was not made`)
  return { reply: viewAccount(row), etag: etagOf(row) }
}

export async function editAccount(
  tx: Transaction,
  actor: Actor,
  env: string,
  id: string,
  { name, enabled }: BodyOf<'editAccount'>,
  precondition: Precondition,
): Promise<{ reply: Account; etag: string }> {
  await lockForChange(queries.lockAccount, tx, actor, env, id, precondition)
  await queries.updateAccount.run(tx, { id, name: name?.trim() ?? null, enabled: enabled ?? null })
  return getAccount(tx, actor, id)
}

/** Deletes an account with all it holds, at once; an operator can restore it within 30 days. */
export async function deleteAccount(
  tx: Transaction,
  actor: Actor,
  env: string,
  id: string,
  precondition: Precondition,
  contents: AccountContents,
): Promise<Account> {
  await lockForChange(queries.lockAccountForDeletion, tx, actor, env, id, precondition)
  await contents.delete(tx, id)
  await queries.deleteAccount.run(tx, { id })
  await queries.announceAccount.run(tx, { topic: accountTopic, value: id })
  const row = await queries.findDeletedAccount.first(tx, { id })
  return viewAccount(row ?? refuse('not_found'))
}

/**
 * Restores a deleted account with the connections that were deleted with it; the operator's command.
 * Throws where it is not deleted or was deleted more than 30 days ago.
 */
export async function restoreAccount(tx: Transaction, id: string, contents: AccountContents): Promise<void> {
  if (!(await queries.lockDeletedAccount.first(tx, { id, windowDays: limits.restoreWindowDays }))) {
    throw new Error(
      `There is no account ${id} that was deleted within the last ${limits.restoreWindowDays} days: penstock account list --deleted shows those there are.`,
    )
  }
  await contents.restore(tx, id)
  await queries.restoreAccount.run(tx, { id })
}

/** The accounts of an organization, or of all where it is null; the operator's command. */
export const accountsOf = (db: Db, organizationId: string | null) => queries.selectAccounts.all(db, { organizationId })

/** The same of deleted accounts that can still be restored. */
export const deletedAccountsOf = (db: Db, organizationId: string | null) =>
  queries.selectDeletedAccounts.all(db, { organizationId, windowDays: limits.restoreWindowDays })

async function lockForChange(
  lock: typeof queries.lockAccount,
  tx: Transaction,
  { organizationId }: Actor,
  env: string,
  id: string,
  precondition: Precondition,
): Promise<void> {
  const row = (await lock.first(tx, { organizationId, id })) ?? refuse('not_found')
  requireEditable(row, env)
  precondition.check(etagOf(row))
}

/** Finds the account that an operation acts in: remembered for reads, held against deletion for writes. */
export function createAccountFinder(database: Database, notices: Notices) {
  const remembered = createRemembered<ActingAccount>(notices, accountTopic, rememberedAccountsMax)
  return {
    find: async (db: Db, organizationId: string, id: string, forWrite: boolean): Promise<ActingAccount | undefined> => {
      if (forWrite) return queries.holdActingAccount.first(db, { organizationId, id })
      const account = await remembered.get(id, () => queries.findActingAccount.first(database, { organizationId, id }))
      return account?.organizationId === organizationId ? account : undefined
    },
    /** This process knows at once, without waiting for its own notice. */
    forget: remembered.forget,
  }
}
