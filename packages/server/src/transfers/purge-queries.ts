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
