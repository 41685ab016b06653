import { statement } from '../../db/statement.ts'

export type TotalsRow = {
  queued: number
  running: number
  oldestWaitSeconds: number
  read: number
  sent: number
  accepted: number
  rejected: number
  ended: { status: string; code: string; transfers: number }[]
}

/**
 * Queued and running transfers are counted by an index, ended ones are read from the totals. So no ended transfer is
 * read, however many there are. One statement, so that no transfer is counted twice or not at all while it ends.
 */
export const countTransfers = statement<Record<never, never>, TotalsRow>(`
  select w.queued, w.running, w.oldest_wait_seconds,
    (w.read + e.read)::bigint as read, (w.sent + e.sent)::bigint as sent,
    (w.accepted + e.accepted)::bigint as accepted, (w.rejected + e.rejected)::bigint as rejected, e.ended
  from (
    select count(*) filter (where status = 'queued') as queued, count(*) filter (where status = 'running') as running,
      coalesce(extract(epoch from now() - min(created_time) filter (where status = 'queued')), 0)::float8
        as oldest_wait_seconds,
      coalesce(sum(read), 0) as read, coalesce(sum(sent), 0) as sent,
      coalesce(sum(accepted), 0) as accepted, coalesce(sum(rejected), 0) as rejected
    from transfers where status in ('queued', 'running')
  ) w cross join (
    select coalesce(sum(read), 0) as read, coalesce(sum(sent), 0) as sent,
      coalesce(sum(accepted), 0) as accepted, coalesce(sum(rejected), 0) as rejected,
      coalesce(
        json_agg(json_build_object('status', status, 'code', error_code, 'transfers', transfers)), '[]'
      ) as ended
    from transfer_totals
  ) e
`)
