import type { ColumnType } from '@penstock/parquet'
import type { RowPlaces } from '../row-places.ts'
import type { Json, Row } from '../rows.ts'

/** A file of some format that is being read. */
export type OpenedFile = {
  /** Its columns, with unique names. */
  readonly columns: readonly string[]
  /** Their types, if the format declares them; `null` for columns of any text. */
  readonly types?: readonly (ColumnType | null)[]
  /** The same in the words of the format; undefined if files of the format do not declare types. */
  readonly typeNames?: readonly string[]
  /** Its rows, from its beginning or after the place of an earlier piece. */
  read(after?: Json): AsyncIterable<FilePiece>
  /** Releases the file. Never throws. */
  close(): Promise<void>
}

/** Some rows of a file, in the order of its columns. */
export type FilePiece = {
  readonly rows: readonly Row[]
  readonly errors: ReadonlyMap<number, string>
  /** Their places in the file; absent if the format has no lines or rows that people see, so that records are counted. */
  readonly places?: Omit<RowPlaces, 'file'>
  /** The place in the file after these rows. */
  readonly place: Json
  /** Number of bytes of the stored file before that place. */
  readonly storedBytes: number
}
