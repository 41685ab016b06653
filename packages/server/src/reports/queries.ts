import { isKept as isKeptIn } from '../db/kept.ts'
import { statement } from '../db/statement.ts'

/**
 * Reports read the ledger without tests, by the index that begins with the account. A page of accounts or connections is picked
 * first.
 */

export type VolumeRow = {
  id: string
  day: string
  read: number
  accepted: number
  rejected: number
  replayed: number
  bytes: number
}
const sums = `
  to_char(l.day, 'YYYY-MM-DD') as day, sum(case when l.replay then 0 else l.read end)::bigint as read,
  sum(l.accepted)::bigint as accepted, sum(case when l.replay then 0 else l.rejected end)::bigint as rejected, sum(l.replayed)::bigint as replayed, sum(l.bytes)::bigint as bytes`

type Page = { size: number; offset: number }
export type NamedRow = { id: string; name: string }

const isAsked = 'and id = any(:ids)'
type AccountFilter = {
  organizationId: string
  /** The sub-accounts that the actor is limited to. Null means all. */
  accountIds: readonly string[] | null
  like: string | null
  ids: readonly string[] | null
}
const accountPages = (condition: string) => {
  const kept = `
    from accounts
    where organization_id = :organizationId ${condition} and deleted_time is null
      and (:like::text is null or name ilike :like)`
  return {
    list: statement<AccountFilter & Page, NamedRow>(
      `select id, name ${kept} order by lower(name), id limit :size offset :offset`,
    ),
    count: statement<AccountFilter, { total: number }>(`select count(*) as total ${kept}`),
  }
}
const isAllowed = 'and id = any(:accountIds)'
const pagesOfAccounts = {
  all: accountPages(''),
  /** Some that are named by their identifiers, by which they are found. */
  asked: accountPages(isAsked),
  /** The accounts that the actor is limited to. */
  limited: accountPages(isAllowed),
  limitedAsked: accountPages(`${isAsked} ${isAllowed}`),
}
/** Picks the statements of a page of accounts and of their number: one plan would not fit all. */
export const accountsByName = ({ ids, accountIds }: AccountFilter) =>
  pagesOfAccounts[accountIds === null ? (ids ? 'asked' : 'all') : ids ? 'limitedAsked' : 'limited']

export const volumeOfAccounts = statement<
  { organizationId: string; ids: readonly string[]; startDate: string; endDate: string },
  VolumeRow
>(`
  select l.account_id as id, ${sums} from ledger l
  where l.organization_id = :organizationId and l.account_id = any(:ids)
    and l.day between :startDate::date and :endDate::date and not l.test
  group by l.account_id, l.day order by l.account_id, l.day
`)

/** Connections that can still be requested, including deleted ones. */
const isKept = isKeptIn('connections')

type ConnectionFilter = { accountId: string; like: string | null; ids: readonly string[] | null }
const ofConnections = (condition = '') => `
  from connections
  where account_id = :accountId ${condition} and not account_deleted and ${isKept}
    and (:like::text is null or (name || '') ilike :like)`
const pageOfConnections = (condition?: string) =>
  `select id, name ${ofConnections(condition)} order by lower(name), id limit :size offset :offset`
const countOfConnections = (condition?: string) =>
  statement<ConnectionFilter, { total: number }>(`select count(*) as total ${ofConnections(condition)}`)

/** Whether its own index in the order of names, or that with all a filter asks, reads less depends on the account. */
export const connectionsByName = statement<ConnectionFilter & Page, NamedRow>(pageOfConnections(), {
  plannedEachTime: true,
})
export const countConnections = countOfConnections()
/** The same of some that are named by their identifiers, by which they are found. */
export const connectionsAsked = statement<ConnectionFilter & Page, NamedRow>(pageOfConnections(isAsked))
export const countConnectionsAsked = countOfConnections(isAsked)
/** The number of all connections without a filter, which is stored, less the connections that wait to be purged. */
export const countAllConnections = statement<{ accountId: string }, { total: number }>(`
  select k.in_progress + k.active + k.disabled + k.deleted + k.broken + k.offline - (
    select count(*) from connections
    where organization_id = k.organization_id and account_id = :accountId
      and status = 'deleted' and not account_deleted and not ${isKept}
  ) as total
  from connection_counts k where k.account_id = :accountId
`)
export const volumeOfConnections = statement<
  { accountId: string; ids: readonly string[]; startDate: string; endDate: string },
  VolumeRow
>(`
  select l.connection_id as id, ${sums} from ledger l
  where l.account_id = :accountId and l.connection_id = any(:ids)
    and l.day between :startDate::date and :endDate::date and not l.test
  group by l.connection_id, l.day order by l.connection_id, l.day
`)
