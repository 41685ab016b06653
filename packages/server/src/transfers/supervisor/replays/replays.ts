import type { Confirmation, KeptReject } from '@penstock/engine'
import type { Transaction } from '../../../db/database.ts'
import * as queries from './queries.ts'

/** The rejects of a transfer that are sent again by another one. */
export type Replay = {
  /** The transfer that rejected them. */
  readonly transferId: string
  /** Their numbers there; the first one is record 1 of the replay. */
  readonly numbers: readonly number[]
}

/**
 * Stores the results of replayed records. Accepted records are marked, so that no replay sends them a second time.
 * Records that were rejected again do not change and can be replayed again, from here or from the new reject. If the
 * destination reports only the number of rejected records, any record can be an accepted one, so all are marked.
 * @param id of the replay
 * @param read its records that were confirmed before
 * @param after its rejects that were kept before
 */
export async function settleReplay(
  tx: Transaction,
  id: string,
  { transferId, numbers }: Replay,
  { read, after }: { read: number; after: number },
  confirmation: Pick<Confirmation, 'read' | 'rejected'>,
  rejects: readonly KeptReject[],
): Promise<void> {
  const rejected = new Set(rejects.flatMap(({ row }) => row ?? []))
  const sent = numbers.slice(read, read + confirmation.read).map((number, i) => ({ number, row: read + i + 1 }))
  const again = sent.filter(({ row }) => rejected.has(row))
  if (again.length > 0) {
    const places = { rows: again.map(({ row }) => row), numbers: again.map(({ number }) => number) }
    await queries.keepOrigins.run(tx, { id, after, transferId, ...places })
  }
  if (confirmation.rejected === confirmation.read) return
  const accepted = sent.filter(({ row }) => !rejected.has(row)).map(({ number }) => number)
  await queries.markReplayed.run(tx, { replay: id, transferId, numbers: accepted })
}
