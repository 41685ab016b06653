import type { ColumnType } from '@penstock/parquet'
import type { Json, Row } from '../rows.ts'

/** A file of some format that is being read. */
export type OpenedFile = {
  /** Its columns, none of them twice. */
  readonly columns: readonly string[]
  /** Their types, in a format that declares them; `null` for columns of any text. */
  readonly types?: readonly (ColumnType | null)[]
  /** The same, in the words of the format; undefined if a file of the format declares none. */
  readonly typeNames?: readonly string[]
  /** Its rows, from its beginning or behind a place that an earlier piece had. */
  read(after?: Json): AsyncIterable<FilePiece>
  /** Lets go of the file. Never throws. */
  close(): Promise<void>
}

/** Some rows of a file, in the order of its columns. */
export type FilePiece = {
  readonly rows: readonly Row[]
  readonly errors: ReadonlyMap<number, string>
  /** Where the file continues after these rows. */
  readonly place: Json
  /** How much of the stored file lies before that place, in bytes. */
  readonly storedBytes: number
}
