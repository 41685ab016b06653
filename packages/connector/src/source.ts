import type { ConnectorContext } from './context.ts'
import type { Json, Row } from './rows.ts'

/**
 * How data is read. The engine opens a reader, reads chunks until they end or it has had enough, and closes the reader.
 * A reader never has more than one `read` under way. Reading is repeatable: from the same position it gives the same
 * rows in the same order, as far as the source itself stays the same; where it can tell that it did not (a file was
 * replaced), it throws `failed`.
 */
export type Source = (context: SourceContext) => Promise<SourceReader>

export type SourceContext = ConnectorContext & {
  /** What the last chunk that was confirmed in this connection had as its `marker`, in an earlier transfer. */
  readonly marker: Json | undefined
}

export type SourceReader = {
  /** How much there is, where it can be told without reading it; for the progress bar. */
  readonly total?: { readonly rows?: number; readonly bytes?: number }
  /**
   * Reads from the beginning, or what comes after a position that a chunk of this transfer had, be it in another process.
   * Throws an `Outcome`.
   */
  read(after?: Json): AsyncIterable<Chunk>
  /** Lets go of everything. Never throws. */
  close(): Promise<void>
}

/** Rows of one read, a few thousand or about a megabyte at most. */
export type Chunk = {
  /** Their columns; the same for all chunks of a transfer, and no name twice. */
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
  /** Why a row cannot be used, as a sentence without values of the row, by its index in `rows`: too many cells, bytes that are no text. It is rejected with this reason. */
  readonly faults?: ReadonlyMap<number, string>
  /** How much of the source these rows were, in bytes. */
  readonly bytes: number
  /** Where reading goes on after these rows; at most 16 KiB as JSON. */
  readonly position: Json
  /** Where the next transfer of this connection begins, if these rows are the last that were confirmed (incremental reading). */
  readonly marker?: Json
}
