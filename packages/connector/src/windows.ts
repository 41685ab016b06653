/**
 * A part of the source that is read again as a whole, such as the days of an account: a destination that can deletes rows of it that
 * were there before and are not in it any more. The chunks of a window follow each other, and no chunk has rows of two.
 */
export type ChunkWindow = {
  /** By columns of the source: the values that its rows have, all of them. Nothing outside of it is deleted. */
  readonly scope: WindowScope
  /** Columns of the source by which its rows differ. */
  readonly key: readonly string[]
  /** Whether the first rows of it are in this chunk. */
  readonly begins: boolean
  /** Whether the last ones are, and nothing of it was left out. Without an end, nothing is deleted. */
  readonly ends: boolean
}

/** Values by the names of columns. */
export type WindowScope = Readonly<Record<string, readonly string[]>>

/** The part of a window that a batch is. A batch has rows of one window alone. */
export type BatchWindow = {
  /** By columns of the batches: the values that rows of the window have. Rows with other values are never deleted. */
  readonly scope: WindowScope
  readonly begins: boolean
  /** With its rows, all rows of the scope that no batch of the window had are deleted, unless one was `spoiled`. */
  readonly ends: boolean
  /** Some of its rows were not sent, so that it is not known which rows are missing. */
  readonly spoiled: boolean
}
