import { statement } from '../../db/statement.ts'

/** Statements of the logs of transfers. */

/** Stores the lines of an attempt. Of a transfer with many attempts, the first and the last ones are kept. */
export const saveLog = statement<{ transferId: string; attempt: number; lines: string; attemptsMax: number }>(`
  with own as (
    select id from transfers where id = :transferId and attempt = :attempt and status = 'running' for key share
  ),
  dropped as (
    delete from transfer_logs
    where transfer_id = (select id from own) and attempt > 1 and attempt <= :attempt::integer - :attemptsMax::integer + 1
  )
  insert into transfer_logs (transfer_id, attempt, lines) select id, :attempt, :lines from own
  on conflict (transfer_id, attempt) do update set lines = excluded.lines
`)

/** Adds a line to the newest log of a transfer, while that has lines to spare. */
export const addLastLine = statement<{ transferId: string; line: string; linesMax: number }>(`
  update transfer_logs set lines = lines || :line::jsonb
  where transfer_id = :transferId and jsonb_array_length(lines) < :linesMax::int
    and attempt = (select max(attempt) from transfer_logs where transfer_id = :transferId)
`)
