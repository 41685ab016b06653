import type { ColumnType } from '@penstock/parquet'
import type { ConnectorContext } from './context.ts'
import type { Finding } from './destination.ts'
import type { RawFormat, RawOffer } from './raw-rows/raw-layout.ts'
import type { RowPlaces } from './row-places.ts'
import type { Json, Row } from './rows.ts'
import type { ChunkWindow } from './windows.ts'

/**
 * How data is read. The engine opens a reader, reads chunks until they end or it has enough, and closes the reader. A reader
 * never has more than one active `read`. Reading is repeatable: from the same checkpoint it returns the same rows in the same
 * order, as long as the source does not change. If it detects a change (a file was replaced), it throws `source_changed`.
 */
export type Source = (context: SourceContext) => Promise<SourceReader>

export type SourceContext = ConnectorContext & {
  /**
   * The place where an earlier transfer of this connection ended: the result of `cursorAfter` for the last confirmed row, or
   * `cursor` of the last chunk that was completely confirmed. After a transfer in parts, `cursorsOf` returns the cursor of each
   * part.
   */
  readonly cursor: Json | undefined
  /**
   * Present if only some rows are read for a preview. The reader can skip waits that only ensure that no row is missed. A file
   * store can be silent for `noAnswerMs`, in answers that `egress` streams as usual.
   */
  readonly sample?: { readonly noAnswerMs: number }
  /**
   * The range to read, instead of rows after the cursor; only for a source with `backfill`. There is no cursor then, and the
   * chunks have no `cursorAfter`.
   */
  readonly range?: SourceRange
  /**
   * The cursor of the last confirmed chunk of this transfer, or of this part, that had a cursor; absent before that. It is
   * present when an interrupted transfer continues.
   */
  readonly reached?: Json
  /** The part to read of a divided source; absent if all of it is read. */
  readonly part?: SourcePart
  /** The `plan` of the first reader of this transfer; absent if it had no plan, or no data was moved yet. */
  readonly plan?: Json
  /**
   * Answers whether this reader can return such raw rows: its chunks can have a list of `RawRows` as `rows`. Absent if values are
   * needed.
   */
  readonly takesRaw?: (offer: RawOffer) => Promise<boolean>
}

/** Days (YYYY-MM-DD), including both, or times in UTC (YYYY-MM-DDTHH:MM:SSZ), without `to`. */
export type SourceRange = { readonly from: string; readonly to: string }

/** A part of a source. */
export type SourcePart = {
  /** As `divide` returned it. */
  readonly key: Json
  /** The columns of all parts, in their order. */
  readonly columns: readonly string[]
}

/** The minimum size of a part in bytes, and the maximum number of parts. */
export type DivisionBounds = { readonly bytesMin: number; readonly partsMax: number }

/** A source in two or more parts, which workers read concurrently and in any order. Each row is in exactly one part. */
export type Division = {
  readonly parts: readonly {
    readonly key: Json
    /** Its name for people: `data-001.csv to data-004.csv`. */
    readonly name: string
    /** Its share of the source, from 0 to 1. */
    readonly share: number
  }[]
  /** Rows of different parts differ in at least one of these columns, so that several writers can upsert by them. */
  readonly apart?: readonly string[]
  /** The columns of all parts; empty if the source has no columns. Throws a `ConnectorError`. */
  columns(): Promise<readonly string[]>
}

export type SourceReader = {
  /** The size of the source, if it is known without reading; for the progress bar. */
  readonly total?: { readonly rows?: number; readonly bytes?: number }
  /**
   * Whether later readers of this transfer return the same rows after the same checkpoint, even if the source changes in the
   * meantime (for example because versions of files are checked). Batches of all other sources are recognised by their rows.
   */
  readonly fixed?: boolean
  /**
   * Data that later readers of this transfer need to return the same rows, for example the current list of files. It is stored
   * before rows are delivered. At most a few MiB as JSON.
   */
  readonly plan?: Json
  /**
   * Present if the source returns all rows once, and only changes in later transfers: `whole` if this reader returns all rows,
   * and then the changes since; `changes` if it continues after an earlier transfer.
   */
  readonly follows?: 'whole' | 'changes'
  /** The form of its raw rows, if the context allows one and it returns no values. */
  readonly rawFormat?: RawFormat
  /**
   * Reads from the beginning, or after a checkpoint of a chunk of this transfer, also of another process. Throws a
   * `ConnectorError`.
   * @param until a checkpoint of `checkpointAfter` after `after`: no row after it is read, even if the source has changed in
   *   between
   */
  read(after?: Json, until?: Json): AsyncIterable<Chunk>
  /**
   * Findings for a preview, such as rows that are never read. Called while no read is active. Must end within `boundMs`, and
   * omits findings that need longer. Never throws.
   */
  findings?(boundMs: number): Promise<readonly Finding[]>
  /**
   * Divides the source into parts, without reading it; `undefined` if parts would not be faster. Called before the first read. A
   * reader that is opened with the `part` of a context returns the rows of that part. Absent if the source cannot be divided.
   */
  divide?(bounds: DivisionBounds): Promise<Division | undefined>
  /** Releases everything. Never throws. */
  close(): Promise<void>
}

/** Rows of one read: at most a few thousand, or about a megabyte. */
export type Chunk = {
  /** Their columns, with unique names; the same for all chunks of a transfer. */
  readonly columns: readonly string[]
  /**
   * The types of the columns, in their order, if the source declares them: `null` for a column of any text. A destination with
   * types uses them to store the values.
   */
  readonly types?: readonly (ColumnType | null)[]
  /** Values, or raw rows (`rawOf`) if the context allows a form of them. */
  readonly rows: readonly Row[]
  /**
   *  Why a row cannot be used, as a sentence without values of the row, by its index in `rows`: for example too many cells, or
   *  bytes that are not text. The row is rejected with this reason.
   */
  readonly errors?: ReadonlyMap<number, string>
  /** The places of its rows in a file, for people who look for a rejected row. Absent if the source has no such numbers. */
  readonly places?: RowPlaces
  /** Indexes of rows that were removed from the source. These rows contain the known values, at least the key. */
  readonly removed?: ReadonlySet<number>
  /** How much of the source these rows were, in bytes. */
  readonly bytes: number
  /** The place where reading resumes after these rows; at most 16 KiB as JSON. */
  readonly checkpoint: Json
  /**
   * Where reading resumes after the first `rows` of these rows, 1 to all. Only for a reader that finds this place even if
   * earlier rows were removed or added, and that reads `until` it. Without it, rows are counted.
   */
  readonly checkpointAfter?: (rows: number) => Json
  /**
   * For incremental reading: where the next transfer of this connection begins if the first `rows` of these rows, 0 to all, are
   * the last that were confirmed. Only for rows in a total order: a reader that is opened with this cursor returns the
   * following rows, and returns the same cursor for 0 rows of its first chunk.
   */
  readonly cursorAfter?: (rows: number) => Json
  /** The window of these rows. Without a window, existing rows at the destination stay. */
  readonly window?: ChunkWindow
  /**
   *  Whether the checkpoint must be stored before more is read, because the platform has begun a job that must be found again
   *  after a crash.
   */
  readonly settles?: boolean
  /** Other data for the next transfer, once all of these rows are confirmed, such as the key of a server. */
  readonly cursor?: Json
  /** Whether the next transfer reads everything again although there is a `cursor`, which is then not a place in the source. */
  readonly readsAll?: true
}
