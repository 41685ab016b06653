import type { Json } from '@penstock/connector'
import type { PlaceInFile, Skipped } from '@penstock/wire/rules'

export type KeptFault = { readonly field: string | null; readonly reason: string }

/** A rejected row as it is stored. */
export type KeptReject = {
  readonly row: number | null
  /** Its place in a file; `null` if the source has no such place, or the row is not known. */
  readonly place: PlaceInFile | null
  readonly count: number
  readonly field: string | null
  readonly reason: string
  /** Further faults of the row. */
  readonly others: readonly KeptFault[]
  /** Display form of the record: redacted, as JSON text. */
  readonly record: string
  /** The whole record as JSON text, which is sealed and can be sent again. `null` if it is too large or unknown. */
  readonly raw: string | null
  /** The source could not read it, so that a repetition needs a correction. */
  readonly structural: boolean
  /** Digest of its key (`RejectedKeys`); `null` if the key is not known, or the destination has no key. */
  readonly key: string | null
  /** A later record with its key was delivered. */
  readonly superseded: boolean
}

/** A rejected row that is sent again. A row with an error is rejected again instead. */
export type ReplayedRow = { readonly number: number; readonly raw: string; readonly error: string | null }
export type ReplayPage = readonly ReplayedRow[]

/** Data with which a runner finds out that a record supersedes an earlier rejected record. */
export type RejectedKeysState = {
  /** Secret of the digests of keys, in base64. */
  readonly key: string
  /** Digests of the keys of rejected records that can be sent again. */
  readonly open: readonly string[]
}

/** Outcomes of some rows: lines of JSON, `[time in milliseconds, outcome]`, compressed with zstd, in base64. */
export type OutcomePiece = { readonly count: number; readonly lines: string }

/** The values that all outcomes of a transfer have in common. */
export type TransferOutcomes = {
  readonly transferId: string
  readonly part: number
  readonly connectionId: string
  readonly connectionName: string
  readonly isTest: boolean
}

/** Records that the destination confirmed since the last confirmation, and the checkpoint that covers them. */
export type Confirmation = {
  readonly read: number
  readonly sent: number
  readonly rejected: number
  /** How many of the accepted records removed a row at the destination. */
  readonly removed: number
  /** Read and not sent, though nothing is wrong with them. `read` is the sum of the accepted, the rejected and these. */
  readonly skipped: Skipped
  readonly bytes: number
  /** Share of the source that is done, 0 to 1. */
  readonly progress: number | null
  readonly checkpoint: Json | null
  readonly cursor: Json | null
  readonly deliveryState: Json | null
  readonly state: Json | null
  readonly rejects: readonly KeptReject[]
  /** Records of the rows that the destination has now, in base64; `null` if there are no rows, or no records are kept. */
  readonly digests: string | null
  /** The outcome of each row, if the connection records outcomes. */
  readonly outcomes: readonly OutcomePiece[]
  /** Digests of keys of earlier rejected records that were delivered now, each with the number of the record that was. */
  readonly superseded: readonly { readonly key: string; readonly row: number }[]
}
