import type { ChangeLogStatus } from '@penstock/wire/rules'
import type { ConnectorContext } from './context.ts'
import type { Json } from './rows.ts'
import type { Values } from './values.ts'

/**
 * The log of a server from which a source reads changes, such as the log behind a replication slot. The service measures it
 * between transfers, because a server that keeps its log for a connection can run out of disk space, and a server that does not
 * keep it can remove changes before they are read.
 */
export type ChangeLog = {
  /**
   * Name of the object that the server keeps its log for, such as a slot. Empty if it keeps nothing for a connection, `undefined`
   * if these settings read no log.
   * @param settings of the connection, defaults filled in
   */
  slot(settings: Values): string | undefined
  /**
   * Names the server and its database for people: `db.example.com:5432/crm`.
   * @param configuration the saved values of the connector without its secrets, defaults filled in
   */
  server(configuration: Values): string
  /** Measures the log, and changes nothing. Throws a `ConnectorError`. */
  measure(context: ChangeLogContext): Promise<ChangeLogMeasure>
  /** How the slot is dropped; absent if the server keeps nothing for a connection. */
  readonly release?: {
    /**
     * Drops the slot, unless another program has read from it since `confirmed` was measured. Throws a `ConnectorError`.
     * @returns `missing` if the slot does not exist
     */
    drop(
      context: ChangeLogContext & { readonly confirmed: string | undefined },
    ): Promise<'dropped' | 'missing' | 'in_use'>
    /** The statement with which a person drops it. */
    statement(slot: string): string
  }
}

export type ChangeLogContext = ConnectorContext & {
  readonly slot: string
  /** The cursor at the end of the last transfer. */
  readonly cursor: Json | undefined
}

export type { ChangeLogStatus }

/** Sizes are in bytes. `null`: it is not known, or it does not apply to the server. */
export type ChangeLogMeasure = {
  /**
   * Whether the server has all changes that were not read: all of them for certain (`reserved`), beyond the size that it usually keeps
   * (`extended`), until it removes them soon (`unreserved`), or not any more (`lost`). `null`: no transfer has read from the log yet.
   */
  readonly status: ChangeLogStatus | null
  /** How much the server keeps for the slot. */
  readonly keptBytes: number | null
  /** How much more it can write before it removes changes, and the most that it keeps for a slot. */
  readonly safeBytes: number | null
  readonly limitBytes: number | null
  /** How much the next transfer must read, in how many files of the log, and how many older files the server has. */
  readonly behindBytes: number | null
  readonly behindFiles: number | null
  readonly olderFiles: number | null
  /** How long ago, by the clock of the server, everything was committed that transfers have read. */
  readonly behindSeconds: number | null
  /** For how long the server keeps its log, read or not. */
  readonly keptSeconds: number | null
  /** The position up to which the slot has released its changes. A later position means that something read from the slot. */
  readonly confirmed: string | null
}
