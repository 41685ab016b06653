import type { FindingCode } from '@penstock/wire/rules'
import type { ConnectorContext } from './context.ts'
import type { Json, Row } from './rows.ts'
import type { Values } from './values.ts'

/**
 * How data is delivered. The engine opens a writer, delivers batches one after the other, flushes, finishes and closes it.
 * After a crash it opens another one, in any process, with the delivery states of what was confirmed, and delivers from there;
 * the batch in between may come twice, under the same key and with the same rows.
 */
export type Destination = {
  /** What a batch may hold at most; the engine fills batches up to either. */
  readonly batch: (settings: Values) => { readonly rowsMax: number; readonly bytesMax: number }
  /** Whether a transfer with these settings takes the place of everything that was there before. */
  readonly replaces?: (settings: Values) => boolean
  readonly open: (context: DestinationContext) => Promise<DestinationWriter>
  /**
   * Looks for what would keep these columns from being delivered with these settings, and changes nothing at the
   * destination. Resolves with all findings, none where a transfer can start. What the destination refuses, or that it does
   * not answer, may also be thrown as a `ConnectorError`, which becomes a finding. Absent where there is nothing to look at.
   */
  readonly inspect?: Inspect
}

export type Inspect = (context: InspectionContext) => Promise<readonly Finding[]>

export type InspectionContext = ConnectorContext &
  Pick<DestinationContext, 'columns'> & {
    /** Some rows as they would be delivered; none where the source has none. */
    readonly rows: readonly Row[]
  }

/**
 * Makes an inspection of a step of the connector's check, for a destination of which no more can be known in advance.
 * What the step throws is the finding.
 */
export const inspectBy =
  (step: (context: ConnectorContext) => Promise<unknown>): Inspect =>
  async (context) => {
    await step(context)
    return []
  }

/** Something that would make a transfer fail, or reject records. */
export type Finding = {
  /** The code with which a transfer would fail, or that of a warning. */
  readonly code: FindingCode
  /** What was found and what to do, in a sentence without values of a row. */
  readonly message: string
  /** The delivered column that it is about. */
  readonly column?: string
}

export type DestinationContext = ConnectorContext & {
  /** Names this transfer; the same after a crash. Fit for a file name. */
  readonly transferId: string
  /** When the transfer was begun, ISO 8601; the same after a crash. */
  readonly startedTime: string
  /** The columns of every batch: keys of the destination's records where it has some, else the source's own columns. */
  readonly columns: readonly string[]
  /** The delivery states of this transfer's confirmed deliveries, in their order. */
  readonly deliveryStates: readonly Json[]
  /** The last `state` that a delivery of this connection returned, such as the audience that it created. */
  readonly state: Json | undefined
}

export type DestinationWriter = {
  /**
   * Delivers a batch, and resolves once the destination has confirmed it permanently, or with `held` where it was only
   * taken in. Throws a `ConnectorError`; the batch is then as good as not delivered and may come again.
   */
  deliver(batch: Batch): Promise<Delivery>
  /**
   * Confirms what is held. Called after the last batch, with something held or not. Answers for what was held; what it
   * rejects has no index, because that could be of any batch.
   */
  flush(): Promise<Delivery | undefined>
  /**
   * Everything is confirmed: makes it visible, ends sessions. May be called again after a crash, in a writer that was
   * opened with all delivery states, and then finds its work done.
   */
  finish(): Promise<void>
  /**
   * The transfer ended without success (cancelled, stopped, failed). What was confirmed is counted as accepted and stays:
   * a store of files makes it visible, as a whole file under the name that the file would have had. What was never
   * confirmed is removed. A destination that replaces everything at the end leaves what was there before instead.
   *
   * Called in a writer that was opened for this: with the delivery states of everything that was confirmed, and with a signal of
   * its own that ends it after half a minute. May be called again after a crash. Never throws: where the destination does not
   * answer, what was confirmed stays hidden there, as it was at the last delivery state.
   */
  abort(): Promise<void>
  /** Lets go of everything. Never throws. */
  close(): Promise<void>
}

export type Batch = {
  /**
   * The same for the same rows of the same transfer, in every attempt; another for every other batch. Where reading is
   * incremental it is the same in the next transfer of the connection, too, which repeats the batch that this one may have
   * delivered without a confirmation; never for rows that have changed. 32 hexadecimal characters.
   */
  readonly key: string
  readonly columns: readonly string[]
  /** At least one. */
  readonly rows: readonly Row[]
  /** The number of the first row in the transfer, from 1. */
  readonly firstRow: number
}

export type Delivery = {
  /** Only taken in so far: a later `deliver` or `flush` confirms it. Held rows come again after a crash. */
  readonly held?: boolean
  /** Rows that the destination did not accept. All others of the batch it took, by its own count. */
  readonly rejected?: readonly Rejection[]
  /** What was sent, in bytes. */
  readonly bytes: number
  /** What a writer needs to know of this delivery to resume after a crash; covers what was held before it, too. */
  readonly deliveryState?: Json
  /** Stored with the connection, for this transfer and later ones; replaces the stored state. */
  readonly state?: Json
}

export type Rejection = {
  /** Which row of the batch, from 0; absent where the destination reports only how many. */
  readonly index?: number
  /** How many rows, where it does not say which. */
  readonly count?: number
  /** Why, in a sentence without values of the row. */
  readonly reason: string
  /** The column to blame, where it is known. */
  readonly field?: string
}
