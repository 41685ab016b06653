import type { PlaceInFile } from '@penstock/wire/rules'

/**
 * A place in the rejected records of a connection: a transfer, and the record after which reading continues. `null` means after
 * all of its records.
 */
export type RejectPlace = { readonly transfer: number; readonly record: number | null }

/** A rejected record of an earlier transfer, or one entry for all its records that are not kept. */
export type RejectedRecord = {
  /** Its number in the transfer; `null` for records that are not kept. */
  readonly number: number | null
  /** Number of the record in its source, from 1, if the destination reports it. */
  readonly row: number | null
  /** Its place in a file; `null` if the source has no such place, or the record is not known. */
  readonly place: PlaceInFile | null
  /** Number of records that it represents, at least 1. */
  readonly count: number
  /** The field that caused it, if known. */
  readonly field: string | null
  readonly reason: string
  /** Values of the source by column, as JSON text. */
  readonly record: string
  /** Whether the values are complete; otherwise they are shortened or removed. */
  readonly isWhole: boolean
}

/** Rejected records of one transfer. */
export type RejectedRecords = {
  readonly transferId: string
  /** When the transfer ended, in ISO 8601. */
  readonly endedTime: string
  readonly records: readonly RejectedRecord[]
  /** The place after these records. */
  readonly next: RejectPlace
}

/** The rejected records of a connection. */
export type RejectsOfConnection = {
  readonly connectionId: string
  readonly connectionName: string
  readonly found: RejectedRecords | null
}

/** Rejected records of the sub-account, for a connector that declares `readsRejects`. For any other one, every call ends the job. */
export type Rejects = {
  /**
   * Connections whose names contain a text, in any letter case, sorted by name, without connections that read rejected records.
   * @param page maximum number, and the number to skip
   */
  connections(
    search: string,
    page: { readonly size: number; readonly offset: number },
  ): Promise<readonly { readonly id: string; readonly name: string }[]>
  /**
   * Rejected records of a connection after a place: at most a few hundred, of one transfer that has ended. `found` is `null` if
   * there are no more.
   * @param connection its identifier, or its name if it is unique
   * @returns undefined if the sub-account has no such connection, or the connection reads rejected records itself
   */
  read(connection: string, after: RejectPlace): Promise<RejectsOfConnection | undefined>
}
