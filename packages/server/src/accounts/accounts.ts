import { type AuditActor, limits } from '@penstock/wire'
import { mayActIn, requireAllAccounts } from '../access.ts'
import { record, serviceActor } from '../audit/record.ts'
import type { ActingAccount, Actor, Answer, Awaitable, Call, Precondition } from '../call.ts'
import type { Config } from '../config.ts'
import { createCache } from '../db/cache.ts'
import type { Database, Db, Transaction } from '../db/database.ts'
import { containing } from '../db/like.ts'
import type { Notices } from '../db/notices.ts'
import { newIdentifier } from '../identifiers.ts'
import { findLimit } from '../organizations/limits.ts'
import { type InEnvironment, refuse, requireEditable, requireQuota } from '../refusal.ts'
import * as queries from './queries.ts'
import { viewAccount, viewAccountEntry } from './view.ts'

/** Sub-accounts (specification, sections 2.7 and 4.3). */

/** Resources that are deleted and restored with an account, by the modules above this one. */
export type AccountContents = {
  delete(tx: Transaction, accountId: string): Promise<void>
  restore(tx: Transaction, accountId: string): Promise<void>
}

/** Dependencies of the handlers of accounts. */
export type AccountDeps = {
  readonly config: Config
  readonly accounts: ReturnType<typeof createAccountFinder>
  readonly accountContents: AccountContents
}

/** Topic of the notices about deleted accounts. */
const accountTopic = 'account'
const cachedAccountsMax = 10_000

/** One version of an account; its ETag. */
const etagOf = ({ version }: { version: number }) => String(version)

export function getAccount({ db, actor, id }: Call<'getAccount'>): Promise<Answer<'getAccount'>> {
  return findAccount(db, actor, id)
}

export async function listAccounts({
  db,
  actor: { organizationId, accountIds },
  query: { q, size, offset },
}: Call<'listAccounts'>): Promise<Answer<'listAccounts'>> {
  const filter = { organizationId, accountIds, like: containing(q) }
  const { list, count } = queries.accountList(filter)
  const [rows, counted] = await Promise.all([list.all(db, { ...filter, size, offset }), count.first(db, filter)])
  return { reply: rows.map(viewAccountEntry), total: counted?.total ?? 0 }
}

/** Creates a sub-account. Refuses with `quota_exceeded` if the organization has reached its quota of sub-accounts. */
export async function addAccount(
  { db: tx, actor, body: { name, enabled = true } }: Call<'addAccount'>,
  { config }: AccountDeps,
): Promise<Answer<'addAccount'>> {
  requireAllAccounts(actor)
  const { organizationId } = actor
  const id = newIdentifier()
  const { max, setting } = await findLimit(tx, config, organizationId, 'accounts')
  const mostKept = max * limits.quotaFactorWithDeleted
  const count = await queries.countForQuota.first(tx, { organizationId, most: max, mostKept })
  requireQuota(
    { live: (count?.live ?? 0) + 1, kept: (count?.kept ?? 0) + 1 },
    {
      field: 'account',
      what: 'sub-accounts of the organization',
      max,
      setting,
    },
  )
  const env = config.environment.name
  const row = await queries.insertAccount.first(tx, {
    id,
    organizationId,
    name: name.trim(),
    enabled,
    env,
    creatorId: actor.person ? actor.id : null,
    creatorEmail: actor.person?.email ?? null,
  })
  if (!row) throw new Error(`Account ${id} was not made`)
  return { reply: viewAccount(row), etag: etagOf(row) }
}

export async function editAccount(
  { db: tx, actor, id, body: { name, enabled }, precondition }: Call<'editAccount'>,
  deps: AccountDeps,
): Promise<Answer<'editAccount'>> {
  const was = await lockForChange(queries.lockAccount, { db: tx, actor, id, precondition }, deps)
  await queries.updateAccount.run(tx, { id, name: name?.trim() ?? null, enabled: enabled ?? null })
  const found = await findAccount(tx, actor, id)
  const changeable = (of: { name: string; enabled: boolean }) => ({ name: of.name, enabled: of.enabled })
  return { ...found, audited: { before: changeable(was), after: changeable(found.reply) } }
}

/** Deletes a sub-account immediately, with everything in it. An operator can restore it within 30 days. */
export async function deleteAccount(
  { db: tx, actor, id, precondition }: Call<'deleteAccount'>,
  deps: AccountDeps,
): Promise<Answer<'deleteAccount'>> {
  await lockForChange(queries.lockAccountForDeletion, { db: tx, actor, id, precondition }, deps)
  await deps.accountContents.delete(tx, id)
  await queries.deleteAccount.run(tx, { id })
  await queries.announceAccount.run(tx, { topic: accountTopic, value: id })
  const row = await queries.findDeletedAccount.first(tx, { id })
  tx.afterCommit(() => deps.accounts.forget(id))
  const reply = viewAccount(row ?? refuse('not_found'))
  return { reply, audited: { before: reply, after: null } }
}

/**
 * Restores a deleted sub-account with the connections that were deleted with it. The operator's command calls this. Throws if
 * the sub-account is not deleted or was deleted more than 30 days ago.
 */
export async function restoreAccount(
  tx: Transaction,
  id: string,
  contents: AccountContents,
  actor: AuditActor = serviceActor,
): Promise<void> {
  const account = await queries.lockDeletedAccount.first(tx, { id, windowDays: limits.restoreWindowDays })
  if (!account) {
    throw new Error(
      `No account ${id} was deleted within the last ${limits.restoreWindowDays} days. penstock account list --deleted shows all deleted accounts.`,
    )
  }
  await contents.restore(tx, id)
  await queries.restoreAccount.run(tx, { id })
  const { organizationId, name } = account
  record(tx, { organizationId, actor, action: 'account restore', accountId: id, targetId: id, after: { name } })
}

/** The sub-accounts of an organization, or of all organizations if it is null. The operator's command calls this. */
export const accountsOf = (db: Db, organizationId: string | null) => queries.selectAccounts.all(db, { organizationId })

/** The same of deleted accounts that can still be restored. */
export const deletedAccountsOf = (db: Db, organizationId: string | null) =>
  queries.selectDeletedAccounts.all(db, { organizationId, windowDays: limits.restoreWindowDays })

async function findAccount(db: Db, actor: Actor, id: string) {
  if (!mayActIn(actor, id)) refuse('not_found')
  const { organizationId } = actor
  const row = (await queries.findAccount.first(db, { organizationId, id })) ?? refuse('not_found')
  return { reply: viewAccount(row), etag: etagOf(row) }
}

async function lockForChange(
  lock: typeof queries.lockAccount,
  { db, actor, id, precondition }: { db: Db; actor: Actor; id: string; precondition: Precondition },
  deps: InEnvironment,
): Promise<queries.OwnAccountRow> {
  if (!mayActIn(actor, id)) refuse('not_found')
  const { organizationId } = actor
  const row = (await lock.first(db, { organizationId, id })) ?? refuse('not_found')
  requireEditable(row, deps)
  precondition.check(etagOf(row))
  return row
}

/** Finds the account of an operation: cached for reads, locked against deletion for writes. */
export function createAccountFinder(database: Database, notices: Notices) {
  const cached = createCache<ActingAccount>(notices, accountTopic, cachedAccountsMax, ({ id }) => id)
  return {
    find: (db: Db, organizationId: string, id: string, forWrite: boolean): Awaitable<ActingAccount | undefined> => {
      if (forWrite) return queries.holdActingAccount.first(db, { organizationId, id })
      // Sub-accounts of other organizations are treated as missing, even if they are cached.
      const load = () => queries.findActingAccount.first(database, { organizationId, id })
      return cached.get(`${organizationId} ${id}`, load)
    },
    /** This process forgets the sub-account immediately, without waiting for its own notice. */
    forget: cached.forget,
  }
}
