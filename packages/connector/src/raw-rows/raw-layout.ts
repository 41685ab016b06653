import type { Cell } from '../rows.ts'

/**
 * A form in which one system writes rows and another one reads them, so that they are not decoded in between. `copy-text`: the
 * text format of PostgreSQL's COPY, each row as a line with its line feed. `copy-binary`: its binary format, each row as a tuple.
 */
export type RawFormat = 'copy-text' | 'copy-binary'

/** One column of raw rows. */
export type RawColumn = {
  readonly name: string
  /** The type as the system that wrote it knows it: for COPY, its identifier and modifier in `pg_type`. */
  readonly type: { readonly id: number; readonly modifier: number }
  /** Whether its text in the row differs from the text that the system itself writes, such as JSON for an array. */
  readonly isShown: boolean
  /** Whether it has a value in each row. */
  readonly isPresent: boolean
}

/** How raw rows are read. A row is its bytes, from an offset to before another one. */
export type RawLayout = {
  readonly format: RawFormat
  readonly columns: readonly RawColumn[]
  /**
   * Decodes some columns of a row.
   * @param columns their indexes, in ascending order
   * @param into gets the cells, by the indexes of their columns
   * @throws ConnectorError if the bytes are not a row of this layout
   */
  readonly open: (bytes: Buffer, from: number, to: number, columns: readonly number[], into: Cell[]) => void
}

/** Raw rows that a source could return. */
export type RawOffer = Pick<RawLayout, 'format' | 'columns'>
