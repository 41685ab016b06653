import type { Chunk, SourceReader } from '@penstock/connector'
import { deliveredCode } from '../../../skipped.ts'
import type { MappedChunk } from '../../filled-batch.ts'
import { recordWords, writeWhole } from '../changed-rows/row-digests.ts'
import type { StageChunk } from '../stage.ts'
import type { RecoveredRows, WantedRows } from './recovered-rows.ts'

/**
 * Finds the rows of announced batches again by their values, in a transfer that sends all rows to a destination that adds them.
 * If such a batch is repeated with a row that changed in the meantime, it cannot keep its key: a receiver that has the batch
 * would ignore the new row. But if the key changes, all of its rows are added twice. So only the unchanged rows are sent under
 * the key, and the other rows are sent in other batches.
 */
export class SentRows {
  /** Rows that the destination has from announced batches. */
  recovered: RecoveredRows | undefined
  readonly #connectionId: string
  readonly #isAlways: boolean
  #reader: Pick<SourceReader, 'fixed'> = {}

  /** @param isAlways whether all rows are found in this way, or only rows of sources without places */
  constructor(connectionId: string, isAlways: boolean) {
    this.#connectionId = connectionId
    this.#isAlways = isAlways
  }

  opened(reader: Pick<SourceReader, 'fixed'>): void {
    this.#reader = reader
  }

  /** Skips rows that the destination has from an announced batch. */
  skip(mapped: MappedChunk, { source, mapping }: StageChunk): MappedChunk {
    const isFoundByPlace = this.#reader.fixed === true || source.checkpointAfter !== undefined
    if (isFoundByPlace && !this.#isAlways && !this.recovered) return mapped
    return this.#mark(mapping.columns, source, mapped)
  }

  /** Finds the rows of an announced batch in a chunk. */
  find(
    wanted: WantedRows,
    columns: readonly string[],
    chunk: Pick<Chunk, 'errors'>,
    mapped: MappedChunk,
  ): { readonly indexes: readonly number[]; readonly records: readonly number[] } {
    const digests = this.#digestsOf(columns, mapped)
    const indexes = [...mapped.rows.keys()].filter(
      (i) => isSent(chunk, mapped, i) && wanted.take(digests, i * recordWords),
    )
    return { indexes, records: indexes.flatMap((i) => [...digests.subarray(i * recordWords, (i + 1) * recordWords)]) }
  }

  #mark(columns: readonly string[], chunk: Pick<Chunk, 'errors'>, mapped: MappedChunk): MappedChunk {
    const digests = this.#digestsOf(columns, mapped)
    if (!this.recovered) return { ...mapped, digests }
    const skipped = mapped.skipped?.slice() ?? new Uint8Array(mapped.rows.length)
    for (const i of mapped.rows.keys()) {
      if (isSent(chunk, mapped, i) && this.recovered.takeSame(digests, i * recordWords)) skipped[i] = deliveredCode
    }
    return { ...mapped, digests, skipped }
  }

  #digestsOf(columns: readonly string[], { rows }: MappedChunk): Uint32Array {
    const secret = JSON.stringify([this.#connectionId, columns])
    const digests = new Uint32Array(rows.length * recordWords)
    for (const [i, row] of rows.entries()) writeWhole(secret, row, digests, i)
    return digests
  }
}

/** Whether a row is sent, as far as its own values decide. */
const isSent = ({ errors }: Pick<Chunk, 'errors'>, mapped: MappedChunk, i: number): boolean =>
  !errors?.has(i) && !mapped.errors.has(i) && !mapped.skipped?.[i]
