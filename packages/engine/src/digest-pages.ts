/** How digests of rows, and keys of mirrored rows, pass between a runner and its supervisor, which keeps them. */

/** Bytes of the digests of a row: of its key, and of the row. */
export const recordBytes = 16

/** Everything that a runner must know of the digests of a connection. */
export type DigestsState = {
  /** The key of the digests, in base64. */
  readonly key: string
  /** How many records are kept. */
  readonly records: number
  /**
   * Part of the digests of rows: if it changes, every row is treated as changed. `null` for digests of version 0.1.0, which had
   * no salt.
   */
  readonly salt: string | null
  /**
   * Whether the keys of rows are kept, too, so that a mirror finds rows that were removed from the source. Every transfer then
   * adds the keys of the rows that it sends.
   */
  readonly keys: boolean
}

/** Pages of digests: their records in base64, the number of the last page, and how many pages they are. */
export type DigestPage = { readonly digests: string; readonly last: number; readonly pages: number }

/** Some records in base64 and, of a mirror, the keys of the same rows (`transfer/stages/mirror/key-pages.ts`). */
export type DigestRecords = { readonly records: string; readonly keys: string | null }

/** Pages that have keys, and the number of the last one. */
export type KeyPages = {
  readonly pages: readonly { readonly records: string; readonly keys: string }[]
  readonly last: number
}

/** The argument of the message `stageDigests`: records that come ahead of a confirmation, or are a page of `replaceDigests`. */
export type StageDigestsArgument = DigestRecords & { readonly of: 'confirmation' | 'first page' | 'next page' }
