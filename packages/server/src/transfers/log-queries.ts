import type { TransferLogKind } from '@penstock/wire'
import { statement } from '../db/statement.ts'

/** Statements that read the log of a transfer. */

export type LogRow = { number: number; attempt: number; ms: number; kind: TransferLogKind; text: string }

/** Number, attempt and content of the lines; a transfer has a bounded number of them. */
export const listLog = statement<{ transferId: string; size: number; offset: number }, LogRow>(`
  select (row_number() over (order by l.attempt, line.at))::integer as number, l.attempt,
    (line.value ->> 'ms')::float8 as ms, line.value ->> 'kind' as kind, line.value ->> 'text' as text
  from transfer_logs l cross join lateral jsonb_array_elements(l.lines) with ordinality as line (value, at)
  where l.transfer_id = :transferId order by l.attempt, line.at limit :size offset :offset
`)
export const countLog = statement<{ transferId: string }, { total: number }>(`
  select coalesce(sum(jsonb_array_length(lines)), 0)::bigint as total from transfer_logs where transfer_id = :transferId
`)
