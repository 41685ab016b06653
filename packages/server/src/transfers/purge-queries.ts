import { statement } from '../db/statement.ts'

/** Statements of the purge. Each removes a part, so that none takes long, and skips rows that another one removes already. */

const isOld = `
  t.data_key_id is not null and t.finished_time < now() - make_interval(days => :days)
  and not exists (
    select from transfers r where r.connection_id = t.connection_id and r.replay_of = t.id and r.status in ('queued', 'running')
  )`

/** Rejected records of transfers that ended so long ago, unless they are being sent again. */
export const purgeRejects = statement<{ days: number; limit: number }>(`
  delete from rejects where (transfer_id, number) in (
    select r.transfer_id, r.number from transfers t join rejects r on r.transfer_id = t.id
    where ${isOld}
    limit :limit for update of r skip locked
  )
`)

/** Drops the reference to the data key from such transfers, once all their rejected records are gone. */
export const forgetDataKeys = statement<{ days: number; limit: number }>(`
  update transfers set data_key_id = null where id in (
    select t.id from transfers t
    where ${isOld} and not exists (select from rejects r where r.transfer_id = t.id)
    limit :limit for update of t skip locked
  )
`)

/** Transfers of connections that were deleted so long ago, with their rejected records. Their ledger stays. */
export const purgeTransfers = statement<{ windowDays: number; limit: number }>(`
  delete from transfers where id in (
    select t.id from connections c join transfers t on t.connection_id = c.id
    where c.status = 'deleted' and c.deleted_time < now() - make_interval(days => :windowDays)
    limit :limit for update of t skip locked
  )
`)

/** The ledger of accounts that were deleted so long ago. */
export const purgeLedger = statement<{ windowDays: number; limit: number }>(`
  delete from ledger where (transfer_id, number) in (
    select l.transfer_id, l.number from accounts a join ledger l on l.account_id = a.id
    where a.deleted_time < now() - make_interval(days => :windowDays)
    limit :limit for update of l skip locked
  )
`)

/**
 * Replaces entries of the ledger by one for each connection and day that has their sums, in one statement; those of tests, which
 * no volume contains, are removed. Entries of active transfers stay: a worker may need them to continue. The key of a sum is no
 * transfer's, so it is in the way of no confirmation. A sum stays below what an integer holds.
 * @param account where to begin, in the order of the identifiers of accounts
 * @returns how many entries it removed, and the account to continue with: null after the last one. It looks at 1,000 accounts at most.
 */
export const sumLedger = statement<
  { after: string; until: string; account: string; limit: number },
  { removed: number; account: string | null }
>(`
  with page as (select id, organization_id from accounts where id >= :account order by id limit 1000),
  old as (
    select a.id, l.transfer_id, l.number from page a
    cross join lateral (
      select e.transfer_id, e.number from ledger e
      where e.organization_id = a.organization_id and e.account_id = a.id and e.day > :after::date and e.day <= :until::date
        and e.transfer_id not like 'sum-%' and e.read <= 1000000000
        and not exists (select from active_transfers t where t.transfer_id = e.transfer_id)
      limit :limit
    ) l
    order by a.id limit :limit
  ),
  taken as (
    delete from ledger e using old o where e.transfer_id = o.transfer_id and e.number = o.number returning e.*
  ),
  placed as (
    select *, (sum(read) over (partition by account_id, connection_id, day order by transfer_id, number) - read) / 1000000000 as sum_number
    from taken where not test
  ),
  summed as (
    insert into ledger
      (transfer_id, number, organization_id, account_id, connection_id, day, read, accepted, rejected, replayed, bytes, created_time)
    select 'sum-' || gen_random_uuid(), 1, organization_id, account_id, connection_id, day, sum(read), sum(accepted),
      sum(rejected), sum(replayed), sum(bytes), min(created_time)
    from placed group by organization_id, account_id, connection_id, day, sum_number
  )
  select (select count(*)::int from taken) as removed, case
      when (select count(*) from old) = :limit then (select max(id) from old)
      when (select count(*) from page) = 1000 then (select max(id) from page)
    end as account
`)
