/**
 * A part of the source that is read as a whole each time, such as the days of an account. A destination that supports windows
 * deletes existing rows that the window no longer contains. The chunks of a window follow each other, and no chunk contains rows
 * of two windows.
 */
export type ChunkWindow = {
  /** By columns of the source: all values of its rows. Nothing outside of this scope is deleted. */
  readonly scope: WindowScope
  /** Columns of the source by which its rows differ. */
  readonly key: readonly string[]
  /** Whether this chunk contains its first rows. */
  readonly begins: boolean
  /** Whether this chunk contains its last rows, and no row was omitted. Without an end, nothing is deleted. */
  readonly ends: boolean
}

/** Values by the names of columns. */
export type WindowScope = Readonly<Record<string, readonly string[]>>

/** The window of a batch. A batch contains rows of only one window. */
export type BatchWindow = {
  /** By columns of the batches: the values of the rows of the window. Rows with other values are never deleted. */
  readonly scope: WindowScope
  readonly begins: boolean
  /**
   *  With this batch, the destination deletes all rows of the scope that no batch of the window contained, unless a batch was
   *  `spoiled`.
   */
  readonly ends: boolean
  /** Some of its rows were not sent, so it is unknown which rows are missing. */
  readonly spoiled: boolean
}
