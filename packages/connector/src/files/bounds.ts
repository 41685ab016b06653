import { mebibytes, parquetBounds } from '@penstock/parquet/bounds'
import { ConnectorError, type ConnectorErrorCode } from '../connector-error.ts'

/**
 * Limits on the content of a file. A file is untrusted, so the memory and time to read it must be proportional to its bytes.
 * Every limit of the file formats is in this table; the limits of Parquet are in its package.
 *
 * Exceeding a bound of the whole file throws a `ConnectorError` with the action `fail`. Exceeding a bound of one row is an
 * error of that row, which is rejected. Both errors name the bound.
 */
export const bounds = {
  /** Columns of a file, of each format. Breaking it: `too_many_columns`. */
  columns: 2_000,
  /** Characters of a column name. Breaking it: `too_many_columns`. */
  columnNameChars: 1_024,
  /** Bytes of a CSV file up to the end of its header, including empty lines before it. Breaking it: `invalid_file`. */
  headerBytes: 1 << 20,
  /** Bytes of a stored row of CSV or NDJSON, because the whole row must be in memory. Exceeding it: `row_too_large`. */
  rowBytes: 16 << 20,
  /** Bytes of a value, as text in UTF-8. Breaking it: a row error. */
  cellBytes: 8 << 20,
  /** Levels of objects and arrays in a row of NDJSON, or of groups in a column of Parquet. Breaking it: a row error, in a Parquet schema `too_many_columns`. */
  nestingLevels: 100,
  /** Cells of the rows of one piece: a short row has the same number of cells as a long row. */
  pieceCells: 500_000,
  /** Characters of the text of the rows of one piece. A single row can have more. */
  pieceChars: 4 << 20,
  /**
   *  A file that unpacks to more than `freeBytes` can unpack to at most `ratio` times its stored size. Breaking it:
   *  `file_too_large`.
   */
  compressed: { freeBytes: 64 << 20, ratio: 300 },
  /** Frames of a zstd file, each of which needs a decompressor. Breaking it: `file_too_large`. */
  zstdFrames: 100_000,
  /** Parts, styles, and shared texts of an Excel workbook, which are in memory as a whole. Breaking it: `invalid_file`, for texts `file_too_large`. */
  workbook: { parts: 20_000, styles: 200_000, texts: 8 << 20, textBytes: 128 << 20 },
  /** A tag, attribute, entity or comment of XML, and the attributes of a tag, which cost much more memory than text. Breaking it: `invalid_file`. */
  xml: { tagChars: 1 << 20, attributes: 1_000 },
  /** An Avro file: bytes of its header, types in its schema, bytes of a block once unpacked, values of a row. */
  avro: { headerBytes: 4 << 20, types: 20_000, blockBytes: 64 << 20, rowValues: 1 << 20 },
  /** A DuckDB database: bytes of the file, which is in memory as a whole, tables that are listed, and rows of a table, as of Parquet. */
  duckdb: { fileBytes: 256 << 20, tables: 1_000, rows: parquetBounds.rows },
  parquet: parquetBounds,
} as const

/** Errors of rows that exceed a bound, without values of the row. */
export const rowErrors = {
  cellTooLong: `The row has a value of more than ${mebibytes(bounds.cellBytes)}.`,
  rowTooLong: `The row has more than ${mebibytes(bounds.rowBytes)} of text.`,
  nestedTooDeep: `The row is nested more than ${bounds.nestingLevels} levels deep.`,
} as const

/** Fails for a file that exceeds a limit: `name` is the file, `says` a clause with the limit, `advice` the next step. */
export const outOfBounds = (code: ConnectorErrorCode, name: string, says: string, advice: string): ConnectorError =>
  new ConnectorError(code, `${name} ${says}. ${advice}`)

/**
 * Returns the column names of a file, if there are not too many and all are short enough.
 * @throws a `ConnectorError`, `too_many_columns`
 */
export function boundColumns(file: string, names: readonly string[]): readonly string[] {
  if (names.length > bounds.columns) throw tooManyColumns(file)
  const long = names.findIndex((name) => name.length > bounds.columnNameChars)
  if (long >= 0) {
    const says = `has a name of more than ${bounds.columnNameChars} characters for column ${long + 1}`
    throw outOfBounds('too_many_columns', file, says, 'Shorten the name, or choose the right format of the file.')
  }
  return names
}

/** The error of a file with too many columns. */
export const tooManyColumns = (file: string): ConnectorError =>
  outOfBounds(
    'too_many_columns',
    file,
    `has more than ${bounds.columns} columns`,
    'Remove columns, or choose the right format and delimiter of the file.',
  )

/** Whether a text exceeds the limit of a value; counts its bytes only if the number of characters does not decide. */
export const isTooLong = (text: string): boolean =>
  text.length * 3 > bounds.cellBytes && (text.length > bounds.cellBytes || Buffer.byteLength(text) > bounds.cellBytes)

export { mebibytes }
