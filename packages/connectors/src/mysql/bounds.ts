/** Limits for a server. A server that exceeds one ends the transfer or the check. */
export const bounds = {
  /** Time until the server has signed the user in, in milliseconds. */
  signInMs: 15_000,
  /** Packets before the server has signed the user in, its greeting included. */
  signInPackets: 16,
  /** Bytes of a packet that is not a row: a greeting, a column definition, a confirmation, an error. */
  controlPacketBytes: 64 * 1024,
  /** Columns of a result. */
  columns: 2_000,
  /** Bytes of one row, as the server sends it. */
  rowBytes: 64 * 1024 * 1024,
  /** Bytes of one event of the binary log, as the server sends it. */
  eventBytes: 128 * 1024 * 1024,
  /** Rows and bytes of a result that is read at once: lists of columns, grants, noted batches. */
  lookupRows: 20_000,
  lookupBytes: 64 * 1024 * 1024,
  /** Time that a statement other than the one that reads rows may take, in milliseconds. */
  statementMs: 300_000,
} as const

/** A number of bytes in MiB, for messages. */
export const mebibytes = (bytes: number): string => `${bytes / 1024 / 1024} MiB`
