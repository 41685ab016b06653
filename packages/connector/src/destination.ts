import type { ColumnType } from '@penstock/parquet'
import type { FindingCode } from '@penstock/wire/rules'
import type { ConnectorContext } from './context.ts'
import type { Loads, PlaceOf } from './handover.ts'
import type { Json, Row } from './rows.ts'
import type { Values } from './values.ts'
import type { BatchWindow } from './windows.ts'

/**
 * How data is delivered. The engine opens a writer, delivers batches one after the other, flushes, finishes and closes it.
 * After a crash it opens another one, in any process, with the delivery states of what was confirmed, and delivers from there;
 * the batch in between may come twice, under the same key and with the same rows.
 */
export type Destination = {
  /** Limits of a batch; the engine fills batches up to either. */
  readonly batch: (settings: Values) => { readonly rowsMax: number; readonly bytesMax: number }
  /** Whether a transfer with these settings takes the place of everything that was there before. */
  readonly replaces?: (settings: Values) => boolean
  /**
   * The columns by which it finds a row again with these settings, if it then takes windows: it deletes the rows of one that are
   * not in it. `undefined` if it does not. Absent if it never does.
   */
  readonly windowKeys?: (settings: Values) => readonly string[] | undefined
  /**
   * The columns by which it removes rows with these settings; `undefined` if it then removes none. Absent if it never does.
   */
  readonly removesBy?: (settings: Values) => readonly string[] | undefined
  /**
   * Why one writer must get all rows in their order with these settings, as the end of a sentence; `undefined` if several writers, each
   * with a `transferId` of its own, can take parts of the rows concurrently and in any order. With `windowKeys`, rows with the same key
   * then come to one writer alone. Absent if they never can.
   */
  readonly whyNotParts?: (settings: Values) => string | undefined
  readonly open: (context: DestinationContext) => Promise<DestinationWriter>
  /**
   * Finds problems that would prevent the delivery of these columns with these settings, and changes nothing at the
   * destination. Resolves with all findings; none if a transfer can start. A refusal of the destination, or a missing
   * response, can also be thrown as a `ConnectorError`, which becomes a finding. Absent if there is nothing to look at.
   */
  readonly inspect?: Inspect
  /**
   * Finds the rows that the destination would refuse, by asking it and without changing anything, for a preview; none if it can take
   * no row with these columns, which `inspect` reports. Throws a `ConnectorError` if it cannot be asked. Absent if only a delivery shows it.
   */
  readonly tryRows?: (context: InspectionContext) => Promise<TriedRows>
  /**
   * Adds columns to the table that the settings name, before a transfer sends them. Columns that are there stay as they are, so that it
   * can be called again after a crash, or by two workers at once; a table that is not there is not created. Throws a `ConnectorError` if
   * it may not, or cannot. Absent if there is no table, or its columns cannot be added.
   */
  readonly addColumns?: (context: AdditionContext) => Promise<void>
  /**
   * Makes the function that finds the rows of a batch which the destination would not send, with the reasons, by the same code
   * as a delivery. It uses no network, so that a preview shows what a transfer rejects. Absent if every row is sent.
   */
  readonly rejectionsOf?: (
    context: Pick<DestinationContext, 'settings' | 'secrets'>,
  ) => Promise<(batch: Batch) => readonly Rejection[]>
  /** Loads files of a store, so that their rows pass no worker. Absent if it cannot. */
  readonly loads?: Loads
  /** Where a source writes that exports its rows itself. Absent if none can. */
  readonly place?: PlaceOf
}

/** A column to add to a table. */
export type AddedColumn = {
  readonly name: string
  /** In the words of the source; `null` if it is unknown. It is data of a platform: never part of a statement. */
  readonly type: string | null
}

export type AdditionContext = ConnectorContext & { readonly added: readonly AddedColumn[] }

/** Answer of a destination when rows are only tried. */
export type TriedRows = {
  readonly rejected: readonly Rejection[]
  /** Rules of the destination that were not tried, such as `triggers`: a delivery may reject further rows for them. */
  readonly untried?: readonly string[]
}

export type Inspect = (context: InspectionContext) => Promise<readonly Finding[]>

export type InspectionContext = ConnectorContext &
  Pick<DestinationContext, 'columns'> & {
    /** Some rows as they would be delivered; none where the source has none. */
    readonly rows: readonly Row[]
  }

/**
 * Makes an inspection of a step of the connector's check, for a destination that allows no further inspection. The
 * error of the step is the finding.
 */
export const inspectBy =
  (step: (context: ConnectorContext) => Promise<unknown>): Inspect =>
  async (context) => {
    await step(context)
    return []
  }

/** Something that would make a transfer fail, reject records, or leave rows of the source unread. */
export type Finding = {
  /** The code with which a transfer would fail, or that of a warning. */
  readonly code: FindingCode
  /** The problem and the advice, in a sentence without values of a row. */
  readonly message: string
  /** The delivered column that it is about. */
  readonly column?: string
}

export type DestinationContext = ConnectorContext & {
  /** Names this transfer, or a part of one; the same after a crash. Fit for a file name. */
  readonly transferId: string
  /** Counts how often a worker took the transfer up: a writer of a later attempt takes the place of all earlier ones. */
  readonly attempt: number
  /** Whether it sends a few rows as a test: it never takes the place of what another transfer wrote. */
  readonly test?: boolean
  /** When the transfer was begun, ISO 8601; the same after a crash. */
  readonly startedTime: string
  /** The columns of every batch: keys of the destination's records if it has some, else the source's own columns. */
  readonly columns: readonly string[]
  /** The delivery states of this transfer's confirmed deliveries, in their order. */
  readonly deliveryStates: readonly Json[]
  /** The last `state` that a delivery of this connection returned, such as the audience that it created. */
  readonly state: Json | undefined
}

/** Writes to a destination. Only `deliver` is needed: a writer has what it has something to do for. */
export type DestinationWriter = {
  /**
   * Whether it takes a batch in a transaction, and waits for the `permit` of `deliver` right before the commit. Then a batch is
   * sent while the one before it is being stored. A writer without it gets a batch once that is stored.
   */
  readonly awaitsPermit?: true
  /**
   * Delivers a batch, and resolves once the destination has confirmed it permanently, or with `held` if it only
   * received it. Throws a `ConnectorError`; the batch then counts as undelivered and can be delivered again.
   * @param permit resolves once the batch may be committed. If it rejects, nothing of the batch may stay. Absent: it may at once
   */
  deliver(batch: Batch, permit?: Promise<void>): Promise<Delivery>
  /**
   * Confirms what is held; a writer that holds rows has it. Called after the last batch, with something held or not. Answers for what was held; what it
   * rejects has no index, because that could be of any batch.
   */
  flush?(): Promise<Delivery | undefined>
  /**
   * Everything is confirmed: makes it visible, ends sessions. May be called again after a crash, in a writer that was
   * opened with all delivery states, and then finds its work done.
   */
  finish?(): Promise<void>
  /**
   * The transfer ended without success (cancelled, stopped, failed). Confirmed rows are counted as accepted and stay: a
   * file store makes them visible, as a complete file under the intended name. Unconfirmed rows are removed. A
   * destination that replaces everything at the end keeps its previous content instead.
   *
   * Called in a writer that was opened for this: with the delivery states of all confirmed batches, and with a separate
   * signal that ends it after half a minute. Can be called again after a crash. Never throws: if the destination does
   * not respond, confirmed rows stay hidden there, as of the last delivery state.
   */
  abort?(): Promise<void>
  /** Lets go of everything. Never throws. */
  close?(): Promise<void>
}

export type Batch = {
  /**
   * The same for the same rows of the same transfer, in every attempt; another for every other batch. Where reading is
   * incremental it is the same in the next transfer of the connection, too, which repeats the batch that this one may have
   * delivered without a confirmation. A batch of a table that comes again after a crash keeps its key, though rows of it may be gone, new or
   * changed by then. 32 hexadecimal characters.
   */
  readonly key: string
  readonly columns: readonly string[]
  /** The types of the columns, in their order, as far as the source declares them and the mapping passes its values unchanged. */
  readonly types?: readonly (ColumnType | null)[]
  /** At least one, but in a window. */
  readonly rows: readonly Row[]
  /**
   * Indexes of the rows that are to be removed: of these, only the columns of `removesBy` count. Of several rows with the same key, the
   * last one decides whether it is written or removed. Only of a destination that removes rows.
   */
  readonly removed?: ReadonlySet<number>
  /** The number of the first row in the transfer, from 1. */
  readonly firstRow: number
  /** Only of a destination that takes windows. */
  readonly window?: BatchWindow
}

export type Delivery = {
  /** Only taken in so far: a later `deliver` or `flush` confirms it. Held rows come again after a crash. */
  readonly held?: boolean
  /** Rows that the destination did not accept. All others of the batch it took, by its own count. */
  readonly rejected?: readonly Rejection[]
  /** Bytes sent. */
  readonly bytes: number
  /**
   * State that a writer needs to resume after this delivery and a crash; also covers the batches that it held before.
   */
  readonly deliveryState?: Json
  /** Stored with the connection, for this transfer and later ones; replaces the stored state. */
  readonly state?: Json
}

export type Rejection = {
  /** Which row of the batch, from 0; absent where the destination reports only how many. */
  readonly index?: number
  /** How many rows, if it does not say which. */
  readonly count?: number
  /** Why, in a sentence without values of the row. */
  readonly reason: string
  /** The column to blame, if it is known. */
  readonly field?: string
}
