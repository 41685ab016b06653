import type { Json } from '@penstock/connector'

/** A batch that is repeated after a crash, or by the next transfer if this transfer ends without success. */
export type Announced = {
  /** The number of its first record. */
  readonly first: number
  readonly key: string
  /** The place after its last record, if the source has places. */
  readonly end?: Json
  /**
   * The earlier transfer that first announced the batch. Its destination recorded the batch under this identifier. Absent if it
   * is this transfer.
   */
  readonly transferId?: string
  /** A digest of the settings of both sides, if the next transfer of the connection repeats the batch under the same settings. */
  readonly settings?: string
  /** The rows that it has, if they are found again by their values. */
  readonly rows?: AnnouncedRows
  /** Earlier announced batches with such rows, of which some rows are not confirmed yet. */
  readonly earlier?: readonly Announced[]
}

/** The rows of an announced batch, by which they are found when the source is read again. */
export type AnnouncedRows = {
  /** Where reading the source begins, and the number of records that the batch covers. */
  readonly begin: Json | null
  readonly covered: number
  /** Whether another transfer reads the batch from that transfer's cursor, because places are valid only within one transfer. */
  readonly followsCursor?: true
  /** Digests of 6 bytes, in Base64, in the order of the rows. */
  readonly digests: string
}
