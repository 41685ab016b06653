import { type Json, Outcome, type Row, type SourceReader } from '@penstock/connector'
import type { Db } from '../../db/database.ts'
import { openDataKey } from '../../secrets/data-keys.ts'
import type { Keyring } from '../../secrets/keyring.ts'
import { unseal } from '../../secrets/seal.ts'
import * as queries from './queries.ts'

/** The rejected records of an earlier transfer, read like any other source. */

const rowsAtOnce = 1_000

/** What a rejected record is sealed for. */
export const rejectPlace = (transferId: string, number: number) => ['reject', transferId, String(number)]

export async function openReplay(db: Db, keyring: Keyring, transferId: string): Promise<SourceReader> {
  const replayed = await queries.replayedTransfer.first(db, { id: transferId })
  if (!replayed?.dataKeyId || !replayed.sourceColumns) {
    throw new Outcome(
      'failed',
      'nothing_to_replay',
      'The rejected records are no longer kept: start a new transfer instead.',
    )
  }
  const key = await openDataKey(db, keyring, replayed.dataKeyId)
  const columns = replayed.sourceColumns
  return {
    total: { rows: replayed.rejects },
    async *read(after: Json = 0) {
      for (let number = Number(after); ; ) {
        const kept = await queries.replayedRejects.all(db, { transferId, number, limit: rowsAtOnce })
        const last = kept.at(-1)
        if (!last) return
        number = last.number
        const sealed = kept.map((row) => unseal(key, rejectPlace(transferId, row.number), row.sealed).toString('utf8'))
        const rows = sealed.map((text) => JSON.parse(text) as Row)
        const faults = new Map(
          rows.flatMap((row, i) =>
            row.length === columns.length ? [] : [[i, 'has not as many cells as there are columns'] as const],
          ),
        )
        yield { columns, rows, faults, bytes: sealed.reduce((sum, text) => sum + text.length, 0), position: number }
      }
    },
    close: async () => {},
  }
}
