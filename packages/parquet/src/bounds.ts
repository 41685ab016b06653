/**
 * Limits on what a Parquet file may hold. A file comes from outside, so the memory and time to read it must be in proportion
 * to its bytes. Every limit of the format is in this table and nowhere else; limits on rows are those of the caller.
 *
 * Breaking one is a `ParquetError` with the code `too_large`, unless its comment says otherwise.
 */
export const parquetBounds = {
  /** Bytes of the footer. */
  footerBytes: 16 << 20,
  /** Values, lists and structures in the footer. */
  footerValues: 2_000_000,
  /** Row groups; their ordinals have 16 bits in the format. */
  rowGroups: 32_767,
  /** Elements of the schema: columns, and what is nested in them. Breaking it: `too_many_columns`. */
  schemaElements: 10_000,
  /** Bytes of the header of a page, with its statistics. */
  pageHeaderBytes: 1 << 20,
  /** Bytes of a page, unpacked. */
  pageBytes: 64 << 20,
  /** Bytes in memory of the pages and dictionaries that the columns of a row group need at once. */
  heldBytes: 256 << 20,
  /** Row groups of up to so many stored bytes are read in one piece, larger ones column by column. */
  wholeGroupBytes: 32 << 20,
  /** Lists and structs within each other, and values without one below a column, that are written; others are written as JSON. */
  writtenLevels: 10,
  writtenLeaves: 500,
  /** Values below one cell of a nested column. Breaking it: a row error. */
  nestedValues: 1_000_000,
  /** A file may have `free` rows, and `perByte` more for each stored byte. */
  rows: { free: 4 << 20, perByte: 100 },
  /** The same for its values: rows times columns, and all that is nested. */
  values: { free: 64 << 20, perByte: 100 },
  /** The pages of a file may unpack to `free` bytes, and to `ratio` times its stored size; its rows may have as many characters of text. */
  expansion: { free: 1 << 30, ratio: 1_000 },
} as const

export const mebibytes = (bytes: number): string => `${bytes / (1 << 20)} MiB`
