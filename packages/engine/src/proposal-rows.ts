import type { Chunk, Row } from '@penstock/connector'
import { limits } from '@penstock/wire/rules'
import { memoryBytesOf } from './transfer/memory-of-rows.ts'

/** Bounds of the rows from which types are proposed. Few columns allow more rows, because each value is tried in every form. */
const bounds = { rows: 50_000, values: 400_000, memoryBytes: 32 << 20, ms: 5_000 }

/**
 * The rows of a source from which types are proposed. Of a file, these are all rows within bounds, because a value that does not
 * fit can be in any row. Of other sources, these are the rows of the preview.
 */
export class ProposalRows {
  readonly rows: Row[] = []
  /** Number of rows that were read, with rows that the source could not read. */
  read = 0
  /** Whether the source has no more rows. */
  isWhole = false
  readonly #isFile: boolean
  readonly #endsAt = performance.now() + bounds.ms
  #memoryBytes = 0

  /** @param isFile whether the source is a file, so that reading more costs only time */
  constructor(isFile: boolean) {
    this.#isFile = isFile
  }

  /** @returns whether more rows are wanted */
  add({ columns, rows, errors }: Pick<Chunk, 'columns' | 'rows' | 'errors'>): boolean {
    const max = this.#isFile
      ? Math.max(limits.previewRowsMax, Math.min(bounds.rows, Math.floor(bounds.values / columns.length)))
      : limits.previewRowsMax
    const some = rows.slice(0, max - this.read)
    for (const [at, row] of some.entries()) if (!errors?.has(at)) this.rows.push(row)
    this.read += some.length
    this.#memoryBytes += rows.length === 0 ? 0 : memoryBytesOf(rows) * some.length
    return this.read < max && this.#memoryBytes < bounds.memoryBytes && performance.now() < this.#endsAt
  }
}
