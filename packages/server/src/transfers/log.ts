import type { Answer, Call } from '../call.ts'
import * as queries from './log-queries.ts'
import { requireTransfer } from './transfers.ts'
import { viewLogLine } from './view.ts'

/** The log of a transfer, oldest line first. The worker of the transfer writes it. */
export async function listTransferLog({
  db,
  account,
  id,
  transferId,
  query: { size, offset },
}: Call<'listTransferLog'>): Promise<Answer<'listTransferLog'>> {
  await requireTransfer(db, account, id, transferId)
  const [rows, count] = await Promise.all([
    queries.listLog.all(db, { transferId, size, offset }),
    queries.countLog.first(db, { transferId }),
  ])
  return { reply: rows.map(viewLogLine), total: count?.total ?? 0 }
}
