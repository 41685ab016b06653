import type { Db } from '../../db/database.ts'
import * as queries from './queries.ts'

/** Metrics of transfers, over all workers and organizations. */
export type TransferTotals = {
  readonly queued: number
  readonly running: number
  /** How long the oldest queued transfer has waited. */
  readonly oldestWaitSeconds: number
  /** Records of all transfers, running ones included. */
  readonly records: Readonly<Record<'read' | 'sent' | 'accepted' | 'rejected', number>>
  /** Transfers that have ended, by their status and the code of their error; empty if they have none. */
  readonly ended: readonly { readonly status: string; readonly code: string; readonly transfers: number }[]
}

export async function readTransferTotals(db: Db): Promise<TransferTotals> {
  const row = await queries.countTransfers.first(db, {})
  if (!row) throw new Error('The totals of transfers were not read')
  const { queued, running, oldestWaitSeconds, read, sent, accepted, rejected, ended } = row
  return { queued, running, oldestWaitSeconds, records: { read, sent, accepted, rejected }, ended }
}
