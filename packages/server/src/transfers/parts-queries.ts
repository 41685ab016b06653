import type { Role, TransferPartStatus } from '@penstock/wire'
import { statement } from '../db/statement.ts'

/** Statements that read the parts of a transfer. One that was not divided shows none. */

export type PartRow = {
  number: number
  status: TransferPartStatus
  attempt: number
  read: number
  accepted: number
  rejected: number
  progress: number
  errorCode: string | null
  errorMessage: string | null
  errorSide: Role | null
  startedTime: Date | null
  finishedTime: Date | null
  /** Of a transfer of many tables. */
  table: string | null
  srcConnectorId: string
  destConnectorId: string
}

export const listParts = statement<{ transferId: string; size: number; offset: number }, PartRow>(`
  select case when p.table_name is null then p.number else p.number - 1 end as number, p.table_name as "table", p.status, p.attempt, p.read, p.accepted, p.rejected, p.progress, p.error_code, p.error_message,
    p.error_side, p.started_time, p.finished_time, t.src_connector_id, t.dest_connector_id
  from transfer_parts p join transfers t on t.id = p.transfer_id
  where p.transfer_id = :transferId and t.parts > 1 and p.table_name is distinct from '' order by p.number limit :size offset :offset
`)
export const countParts = statement<{ transferId: string }, { total: number }>(`
  select case when t.parts = 1 then 0 when p.table_name is null then t.parts else t.parts - 1 end as total
  from transfers t join transfer_parts p on p.transfer_id = t.id and p.number = 1 where t.id = :transferId
`)
