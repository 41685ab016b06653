import type { ColumnType } from '@penstock/parquet'
import type { ConnectorContext } from './context.ts'
import type { Finding } from './destination.ts'
import type { Json, Row } from './rows.ts'
import type { ChunkWindow } from './windows.ts'

/**
 * How data is read. The engine opens a reader, reads chunks until they end or it has had enough, and closes the reader.
 * A reader never has more than one `read` active. Reading is repeatable: from the same checkpoint it gives the same
 * rows in the same order, as far as the source itself stays the same; if it can see that it did not (a file was
 * replaced), it throws `source_changed`.
 */
export type Source = (context: SourceContext) => Promise<SourceReader>

export type SourceContext = ConnectorContext & {
  /**
   * Where an earlier transfer of this connection ended: what `cursorAfter` gave for the last confirmed row, or `cursor` of the last chunk
   * that was confirmed whole. After a transfer in parts, `cursorsOf` has that of each part.
   */
  readonly cursor: Json | undefined
  /**
   * There where only some rows are looked at, to be shown: nothing has to be waited for so that none is missed. A store of files may
   * say nothing for `noAnswerMs`, in answers that `egress` streams as elsewhere.
   */
  readonly sample?: { readonly noAnswerMs: number }
  /**
   * The range that is read, in place of what comes after the cursor; only of a source with `backfill`. There is no cursor then, and the
   * chunks have no `cursorAfter`.
   */
  readonly range?: SourceRange
  /**
   * The cursor of the last chunk of this transfer, or of this part, that was confirmed and had one; absent before that. It is there when
   * an interrupted transfer continues.
   */
  readonly reached?: Json
  /** The part that is read, of a source that was divided; absent if all of it is read. */
  readonly part?: SourcePart
  /** The `plan` that the first reader of this transfer gave; absent if it had none, or nothing was begun. */
  readonly plan?: Json
}

/** Days (YYYY-MM-DD), both included, or times in UTC (YYYY-MM-DDTHH:MM:SSZ), of which `to` is not included. */
export type SourceRange = { readonly from: string; readonly to: string }

/** A part of a source. */
export type SourcePart = {
  /** As `divide` gave it. */
  readonly key: Json
  /** The columns of all parts, in their order. */
  readonly columns: readonly string[]
}

/** How small a part may be in bytes, and how many there may be. */
export type DivisionBounds = { readonly bytesMin: number; readonly partsMax: number }

/** A source in parts, which workers read concurrently and in any order: two or more, each row in one of them. */
export type Division = {
  readonly parts: readonly {
    readonly key: Json
    /** Names it for people: `data-001.csv to data-004.csv`. */
    readonly name: string
    /** How much of the source it is, from 0 to 1. */
    readonly share: number
  }[]
  /** Columns by which a row differs from each row of another part, one of them at least: an upsert by them can come from several writers. */
  readonly apart?: readonly string[]
  /** The columns of all parts; none if the source has no columns. Throws a `ConnectorError`. */
  columns(): Promise<readonly string[]>
}

export type SourceReader = {
  /** How much there is, if that is known without reading it; for the progress bar. */
  readonly total?: { readonly rows?: number; readonly bytes?: number }
  /**
   * Whether later readers of this transfer give the same rows after the same checkpoint, whatever happens to the source meanwhile: files
   * that are checked. The batches of any other source are recognised by their rows.
   */
  readonly fixed?: boolean
  /**
   * Later readers of this transfer need it to give the same rows: which files there are now, for example. It is stored
   * before rows are delivered. At most a few MiB as JSON.
   */
  readonly plan?: Json
  /**
   * Reads from the beginning, or after a checkpoint that a chunk of this transfer had, also in another process. Throws
   * a `ConnectorError`.
   * @param until a checkpoint of `checkpointAfter` behind `after`: no row behind it is read, whatever has changed in between
   */
  read(after?: Json, until?: Json): AsyncIterable<Chunk>
  /**
   * Findings for a person who looks at a preview, such as rows that are never read. Called while no read is active.
   * Takes no longer than `boundMs`; findings that take longer are omitted. Never throws.
   */
  findings?(boundMs: number): Promise<readonly Finding[]>
  /**
   * Divides what it reads into parts, by what is known without reading it; `undefined` if it is not worth it. Called before the first
   * read. A reader that is opened with the `part` of a context gives the rows of that part. Absent if rows belong together.
   */
  divide?(bounds: DivisionBounds): Promise<Division | undefined>
  /** Lets go of everything. Never throws. */
  close(): Promise<void>
}

/** Rows of one read, a few thousand or about a megabyte at most. */
export type Chunk = {
  /** Their columns; the same for all chunks of a transfer, and no name twice. */
  readonly columns: readonly string[]
  /**
   * The types of the columns, in their order, as far as the source declares them: `null` for a column of any text. A destination that
   * has types stores them by these.
   */
  readonly types?: readonly (ColumnType | null)[]
  readonly rows: readonly Row[]
  /** Why a row cannot be used, as a sentence without values of the row, by its index in `rows`: too many cells, bytes that are not text. It is rejected with this reason. */
  readonly errors?: ReadonlyMap<number, string>
  /** Indexes of rows that the source does not have any more: the values that are known of them, those of the key at least. */
  readonly removed?: ReadonlySet<number>
  /** How much of the source these rows were, in bytes. */
  readonly bytes: number
  /** Where reading resumes after these rows; at most 16 KiB as JSON. */
  readonly checkpoint: Json
  /**
   * Where reading resumes after the first `rows` of these rows, 1 to all. Only of a reader that finds this place though rows before it are
   * gone or new, and that reads `until` it. Without it, rows are counted.
   */
  readonly checkpointAfter?: (rows: number) => Json
  /**
   * For incremental reading: where the next transfer of this connection begins if the first `rows` of these rows, 0 to all,
   * are the last that were confirmed. Only for rows in a total order: a reader that is opened with this cursor gives the
   * rows behind, and gives the same cursor for 0 rows of its first chunk.
   */
  readonly cursorAfter?: (rows: number) => Json
  /** The window that these rows belong to; without it, rows that were there before stay. */
  readonly window?: ChunkWindow
  /** Whether the checkpoint is stored before more is read: the platform has begun something that must be found again after a crash. */
  readonly settles?: boolean
  /** For whatever else the next transfer must know once all of these rows are confirmed: the key of a server. */
  readonly cursor?: Json
  /** Whether the next transfer reads everything again though there is a `cursor`, which is no place in the source then. */
  readonly readsAll?: true
}
