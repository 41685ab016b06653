/**
 * One value of a row. Days and timestamps are ISO 8601 text; decimals and whole numbers beyond 2^53 are text, so that no digit is
 * lost. Bytes are hexadecimal text after `\x`. Nested values are JSON text.
 */
export type Cell = string | number | boolean | null

/** The cells of a row, in the order of the columns. */
export type Row = readonly Cell[]

/** Limits on rows, for any format. The caller sets them. */
export type RowLimits = {
  /** Bytes of a value, as text in UTF-8. Breaking it: a row error. */
  readonly cellBytes: number
  /** Characters of the text of a row. Breaking it: a row error. */
  readonly rowBytes: number
  /** Levels of groups in a column. Breaking it: `too_many_columns`. */
  readonly nestingLevels: number
  /** Cells of the rows of a piece. */
  readonly pieceCells: number
  /** Characters of the text of the rows of a piece. A single row can have more. */
  readonly pieceChars: number
  /** The row errors for the first two limits. */
  readonly rowErrors: { readonly cellTooLong: string; readonly rowTooLong: string }
}
