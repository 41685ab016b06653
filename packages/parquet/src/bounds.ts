/**
 * Limits on the content of a Parquet file. A file is untrusted, so the memory and time to read it must be proportional to its
 * bytes. Every limit of the format is in this table; the caller defines the limits on rows.
 *
 * Exceeding a limit throws a `ParquetError` with the code `too_large`, unless its comment names another code.
 */
export const parquetBounds = {
  /** Bytes of the footer. */
  footerBytes: 16 << 20,
  /** Values, lists and structures in the footer. */
  footerValues: 2_000_000,
  /** Row groups. Their ordinals have 16 bits in the format. */
  rowGroups: 32_767,
  /** Elements of the schema: columns and everything nested in them. Exceeding it: `too_many_columns`. */
  schemaElements: 10_000,
  /** Bytes of the header of a page, with its statistics. */
  pageHeaderBytes: 1 << 20,
  /** Bytes of a page, unpacked. */
  pageBytes: 64 << 20,
  /** Bytes in memory of the pages and dictionaries that the columns of a row group need concurrently. */
  heldBytes: 256 << 20,
  /** Row groups up to this number of stored bytes are read in one piece, larger groups column by column. */
  wholeGroupBytes: 32 << 20,
  /** Maximum nesting of lists and structs, and of values without a column, that is written. Deeper values are written as JSON. */
  writtenLevels: 10,
  writtenLeaves: 500,
  /** Values below one cell of a nested column. Breaking it: a row error. */
  nestedValues: 1_000_000,
  /** A file can have `free` rows, plus `perByte` rows for each stored byte. */
  rows: { free: 4 << 20, perByte: 100 },
  /** The same for its values: rows times columns, and all that is nested. */
  values: { free: 64 << 20, perByte: 100 },
  /**
   * The pages of a file can unpack to `free` bytes, and to `ratio` times its stored size. The same limit applies to the
   * characters of its rows.
   */
  expansion: { free: 1 << 30, ratio: 1_000 },
} as const

export const mebibytes = (bytes: number): string => `${bytes / (1 << 20)} MiB`
