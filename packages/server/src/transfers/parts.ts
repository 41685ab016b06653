import type { Answer, Call } from '../call.ts'
import * as queries from './parts-queries.ts'
import { requireTransfer } from './transfers.ts'
import { viewPart } from './view.ts'

/** The parts of a transfer that was divided, in the order of the source. */
export async function listTransferParts({
  db,
  account,
  id,
  transferId,
  query: { size, offset },
}: Call<'listTransferParts'>): Promise<Answer<'listTransferParts'>> {
  await requireTransfer(db, account, id, transferId)
  const [rows, count] = await Promise.all([
    queries.listParts.all(db, { transferId, size, offset }),
    queries.countParts.first(db, { transferId }),
  ])
  return { reply: rows.map(viewPart), total: count?.total ?? 0 }
}
