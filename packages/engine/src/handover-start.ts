/** A part of the announcement of a batch: which way the rows go, and how platforms move them on their own. */
export type HandoverStart = {
  /** The route of the rows, as a sentence. Sent with the columns, if there is more than one route. */
  readonly route?: string
  /** Number of files that the destination loads itself; 0 before the first file. */
  readonly files?: number
  /** Whether the source writes the destination's files itself. */
  readonly exports?: boolean
}
