/** Where the rejected records of a connection are read: at a transfer, and behind one of its records; `null`: behind all of them. */
export type RejectPlace = { readonly transfer: number; readonly record: number | null }

/** A rejected record of an earlier transfer, or those of it that are not kept, as one. */
export type RejectedRecord = {
  /** Its number at the transfer; `null` if it stands for records that are not kept. */
  readonly number: number | null
  /** Number of the record in its source, from 1, if the destination reports it. */
  readonly row: number | null
  /** How many records it stands for, at least 1. */
  readonly count: number
  /** The field that caused it, if known. */
  readonly field: string | null
  readonly reason: string
  /** Values of the source by column, as JSON text. */
  readonly record: string
  /** Whether the values are those of the source; otherwise they are shortened, or gone. */
  readonly isWhole: boolean
}

/** Rejected records of one transfer. */
export type RejectedRecords = {
  readonly transferId: string
  /** When the transfer ended, in ISO 8601. */
  readonly endedTime: string
  readonly records: readonly RejectedRecord[]
  /** Behind these records. */
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
   * Connections whose names contain a text, in any letter case, by name, without the ones of rejected records.
   * @param page how many at most, and how many to leave out before them
   */
  connections(
    search: string,
    page: { readonly size: number; readonly offset: number },
  ): Promise<readonly { readonly id: string; readonly name: string }[]>
  /**
   * Rejected records of a connection behind a place, some hundred at most, of one transfer that has ended: `found` is `null` if there are none.
   * @param connection its identifier, or its name if no other connection has it
   * @returns undefined if the sub-account has no such connection, or it reads rejected records itself
   */
  read(connection: string, after: RejectPlace): Promise<RejectsOfConnection | undefined>
}
