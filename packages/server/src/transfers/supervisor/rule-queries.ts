import { statement } from '../../db/statement.ts'
import type { Fence } from './queries.ts'

/** Statements of the rules that judge a transfer. */

/** The median of the records read by the newest transfers before one that ended without failure. */
export const usualRows = statement<
  { id: string; connectionId: string; transfers: number },
  { rows: number | null; transfers: number }
>(`
  select percentile_cont(0.5) within group (order by read) as rows, count(*)::int as transfers
  from (
    select read from transfers
    where connection_id = :connectionId and id <> :id and status in ('succeeded', 'partial')
      and test_rows is null and backfill is null and trigger <> 'replay'
    order by created_time desc, id desc limit :transfers
  ) newest
`)

export const saveResults = statement<Fence & { results: string }>(`
  update transfers set rule_results = :results
  where id = :id and attempt = :attempt and status = 'running' and parts = 1
`)
