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
  update transfers set data_key_id = null, kept_bytes = 0 where id in (
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
 * Sums entries of the ledger by connection and day, those of tests left out, which no volume contains. The key of a sum is no
 * transfer's, so it is in the way of no confirmation. A sum stays below what an integer holds.
 * @param taken the part of the statement that removed the entries
 */
const summed = (taken: string) => `
  placed as (
    select *, (sum(read) over (partition by account_id, connection_id, day order by transfer_id, number) - read) / 1000000000 as sum_number
    from ${taken} where not test
  ),
  summed as (
    insert into ledger
      (transfer_id, number, organization_id, account_id, connection_id, day, read, accepted, rejected, replayed, bytes, created_time)
    select 'sum-' || gen_random_uuid(), 1, organization_id, account_id, connection_id, day, sum(case when replay then 0 else read end),
      sum(accepted), sum(case when replay then 0 else rejected end), sum(replayed), sum(bytes), min(created_time)
    from placed group by organization_id, account_id, connection_id, day, sum_number
  )`

/** Counters of months before the last one, which no limit needs. */
export const purgeRowCounts = statement(`
  delete from organization_rows where month < to_char(now() at time zone 'UTC' - interval '1 month', 'YYYY-MM')
`)

/** Successes that are kept of each connection: rules compare with them. */
const endedWell = `status in ('succeeded', 'partial') and test_rows is null and backfill is null and trigger <> 'replay'`

/** Whether a later transfer needs nothing of the transfer `t`, and no one can do anything with it. */
const isDispensable = `
  t.finished_time < now() - make_interval(days => :days) and not t.latest and t.data_key_id is null
  and not exists (select from rejects r where r.transfer_id = t.id)
  and not exists (select from connection_digests d where d.transfer_id = t.id)
  and not exists (select from transfers o where o.id = t.replay_of and o.data_key_id is not null)
  and not exists (select from samples s where s.account_id = t.account_id and s.transfer_id = t.id)
  and not exists (
    select from alert_incidents i where i.connection_id = t.connection_id and i.transfer_id = t.id and i.resolved_time is null
  )
  and not exists (
    select from rejecting_transfers e where e.transfer_id = t.id and (
      -- The next position follows from the last one.
      not exists (select from rejecting_transfers l where l.connection_id = e.connection_id and l.position > e.position)
      or exists (select from connection_states s where s.rejects_of = e.connection_id and s.rejects_read < e.position)
    )
  )
  and (t.accepted = 0 or exists (
    select from transfers n
    where n.connection_id = t.connection_id and n.accepted > 0 and n.test_rows is null and n.created_time > t.created_time
  ))
  and (t.status not in ('succeeded', 'partial') or 10 = (
    select count(*) from (
      select from transfers n where n.connection_id = t.connection_id and n.created_time > t.created_time and ${endedWell} limit 10
    ) newer
  ))`

/**
 * Removes transfers that ended long ago, with their logs and parts, but not the newest of a connection and none that anything still
 * needs. Volumes and reports stay: the ledger keeps its entries. Those of parts are numbered by the transfer, so they become sums.
 * @param connection where to begin, in the order of the identifiers of connections
 * @returns how many it removed, and the connection to continue with: null after the last one. It looks at 200 connections at most.
 */
export const purgeOldTransfers = statement<
  { days: number; kept: number; connection: string; limit: number },
  { removed: number; connection: string | null }
>(`
  with page as (select id from connections where id >= :connection order by id limit 200),
  old as (
    select c.id as connection_id, o.id from page c
    cross join lateral (
      select t.id from (
        select * from transfers where connection_id = c.id order by created_time desc, id desc offset :kept
      ) t
      where ${isDispensable} limit :limit
    ) o
    order by c.id limit :limit
  ),
  held as (
    select id, parts from transfers
    where id in (select id from old) and finished_time is not null and not latest order by id for update skip locked
  ),
  taken as (
    delete from ledger e using held h where h.parts > 1 and e.transfer_id = h.id returning e.*
  ),
  ${summed('taken')},
  removed as (delete from transfers t using held h where t.id = h.id returning t.id)
  select (select count(*)::int from removed) as removed, case
      when (select count(*) from removed) > 0 and (select count(*) from old) = :limit then (select max(connection_id) from old)
      when (select count(*) from page) = 200 then (select max(id) from page)
    end as connection
`)

/**
 * Replaces entries of the ledger by one for each connection and day that has their sums, in one statement; those of tests, which
 * no volume contains, are removed. Entries of active transfers stay: a worker may need them to continue.
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
  ${summed('taken')}
  select (select count(*)::int from taken) as removed, case
      when (select count(*) from old) = :limit then (select max(id) from old)
      when (select count(*) from page) = 1000 then (select max(id) from page)
    end as account
`)
