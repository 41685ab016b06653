import { statement } from '../db/statement.ts'

/** Statements on the times of the daily purge. */

/** At 03:15 UTC, after a time. */
const next = `(date_trunc('day', now() at time zone 'UTC' - interval '03:15') + interval '1 day 03:15') at time zone 'UTC'`

/** Claims the purge if it is due, under a lease: if this process dies, another one begins it again. */
export const takePurge = statement<{ leaseSeconds: number }, { taken: boolean }>(`
  update purges set next_time = now() + make_interval(secs => :leaseSeconds) where next_time <= now()
  returning true as taken
`)
/** Keeps the purge from other processes for longer. */
export const extendPurge = statement<{ leaseSeconds: number }>(`
  update purges set next_time = now() + make_interval(secs => :leaseSeconds) where next_time > now()
`)
/** Lets another process continue. */
export const releasePurge = statement(`update purges set next_time = now()`)
/** Says when the purge is due again: every day at 03:15 UTC. */
export const endPurge = statement(`update purges set next_time = ${next}`)

/** The days of the ledger, each as `YYYY-MM-DD`, that become sums now: after the last one that did, until the last one that is old enough. */
export const ledgerToSum = statement<{ days: number }, { after: string; until: string }>(`
  select after, until from (
    select coalesce(to_char(ledger_summed_until, 'YYYY-MM-DD'), '-infinity') as after,
      to_char((now() at time zone 'UTC')::date - :days::integer - 1, 'YYYY-MM-DD') as until
    from purges
  ) span
  where after::date < until::date
`)

/** Says that the ledger is summed until a day. */
export const endSumming = statement<{ until: string }>(`update purges set ledger_summed_until = :until::date`)
