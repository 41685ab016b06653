import type { ColumnType } from '@penstock/parquet'
import type { FindingCode } from '@penstock/wire/rules'
import type { AskedAnswer } from './ask.ts'
import type { MeasureAudiences } from './audiences.ts'
import type { ConnectorError } from './connector-error.ts'
import type { ConnectorContext } from './context.ts'
import type { Loads, PlaceOf } from './handover.ts'
import type { RawColumn, RawFormat } from './raw-rows/raw-layout.ts'
import type { Json, Row } from './rows.ts'
import type { Values } from './values.ts'
import type { BatchWindow } from './windows.ts'

/**
 * How data is delivered. The engine opens a writer, delivers batches one after the other, flushes, finishes and closes it.
 * After a crash it opens another writer, in any process, with the delivery states of the confirmed batches, and delivers from
 * there. The batch in between may be delivered twice, with the same key and the same rows.
 */
export type Destination = {
  /** Limits of a batch; the engine fills batches up to the first limit that is reached. */
  readonly batch: (settings: Values) => { readonly rowsMax: number; readonly bytesMax: number }
  /** Whether a transfer with these settings replaces all earlier data. */
  readonly replaces?: (settings: Values) => boolean
  /**
   * The columns by which it finds a row again with these settings, if it supports windows: it deletes the rows of a window that
   * the window does not contain. `undefined` if it does not support them with these settings. Absent if it never does.
   */
  readonly windowKeys?: (settings: Values) => readonly string[] | undefined
  /**
   * The columns by which it removes rows with these settings; `undefined` if it does not remove rows with these settings. Absent
   * if it never removes rows.
   */
  readonly removesBy?: (settings: Values) => readonly string[] | undefined
  /**
   * Why one writer must get all rows in their order with these settings, as the end of a sentence; `undefined` if several
   * writers, each with its own `transferId`, can deliver parts of the rows concurrently and in any order. With `windowKeys`,
   * only one writer gets rows with the same key. Absent if this is never possible.
   */
  readonly whyNotParts?: (settings: Values) => string | undefined
  /**
   * Whether it records the batches of each transfer, so that it recognises a repeated batch by `Batch.transferId` and
   * `Batch.key`, even if the source has changed its rows by then. Absent if only a receiver can recognise the key.
   */
  readonly notesBatches?: true
  /**
   * Whether a receiver can recognise a batch by its key, or rows by the key and their values, and ignore a repetition. Then a
   * repeated batch contains only rows that were sent with its key before. New and changed rows are sent in other batches. Set
   * it if the key is sent to the receiver.
   */
  readonly recognisesKeys?: true
  /** The forms of raw rows that it accepts as the rows of a batch (`rawOf`). Absent if it needs values. */
  readonly rawFormats?: readonly RawFormat[]
  /**
   * Whether it writes raw rows with these columns faster than values. Only for one of its `rawFormats`; absent if it always does.
   * @param columns as the destination calls them; `undefined` for values that a mapping makes
   */
  readonly takesRaw?: (
    context: ConnectorContext,
    format: RawFormat,
    columns: readonly (RawColumn | undefined)[],
  ) => Promise<boolean>
  readonly open: (context: DestinationContext) => Promise<DestinationWriter>
  /** Delivers a few rows and shows the requests. Absent if it cannot. */
  readonly try?: Try
  /**
   * Finds problems that would prevent the delivery of these columns with these settings, and changes nothing at the
   * destination. Resolves with all findings, or an empty list if a transfer can start. A refusal of the destination, or a
   * missing response, can also be thrown as a `ConnectorError`, which becomes a finding. Absent if there is nothing to inspect.
   */
  readonly inspect?: Inspect
  /**
   * Finds the rows that the destination would refuse, by asking it and without changing anything, for a preview. Returns no
   * rows if it cannot accept any row with these columns, which `inspect` reports. Throws a `ConnectorError` if the destination
   * cannot be asked. Absent if only a delivery shows this.
   */
  readonly tryRows?: (context: InspectionContext) => Promise<TriedRows>
  /**
   * Adds columns to the table that the settings name, before a transfer sends them. Existing columns do not change, so that it
   * can be called again after a crash, or by two workers concurrently. A missing table is not created. Throws a
   * `ConnectorError` if it lacks the permission, or fails. Absent if there is no table, or its columns cannot be added.
   */
  readonly addColumns?: (context: AdditionContext) => Promise<void>
  /**
   * Creates the function that finds the rows of a batch that the destination would not send, with the reasons, by the same code
   * as a delivery. It uses no network, so that a preview shows what a transfer rejects. Absent if every row is sent.
   */
  readonly rejectionsOf?: (
    context: Pick<DestinationContext, 'settings' | 'secrets'>,
  ) => Promise<(batch: Batch) => readonly Rejection[]>
  /**
   * Reads the sizes of the audiences that a connection feeds. Absent if there are no audiences, or the platform does not report
   * their sizes.
   */
  readonly measureAudiences?: MeasureAudiences
  /** Loads files of a store, so that their rows do not pass through a worker. Absent if it cannot. */
  readonly loads?: Loads
  /** The place to which a source can export its rows itself. Absent if this is not supported. */
  readonly place?: PlaceOf
}

/** A column to add to a table. */
export type AddedColumn = {
  readonly name: string
  /**
   * The type in the words of the source; `null` if it is unknown. It is untrusted data of a platform: never put it into a
   * statement.
   */
  readonly type: string | null
}

export type AdditionContext = ConnectorContext & { readonly added: readonly AddedColumn[] }

/** Result of trying rows at a destination. */
export type TriedRows = {
  readonly rejected: readonly Rejection[]
  /** Rules of the destination that were not tried, such as `triggers`. They can still reject rows in a delivery. */
  readonly untried?: readonly string[]
  /** The columns of a table that a delivery would create. */
  readonly created?: readonly CreatedColumn[]
}

/** A column of a table that a destination creates. */
export type CreatedColumn = {
  readonly name: string
  /** In the words of the platform. */
  readonly type: string
}

export type Inspect = (context: InspectionContext) => Promise<readonly Finding[]>

export type InspectionContext = ConnectorContext &
  Pick<DestinationContext, 'columns' | 'types'> & {
    /** Some rows as they would be delivered; empty if the source has no rows. */
    readonly rows: readonly Row[]
  }

/**
 * Creates an inspection from a step of the connector's check, for a destination that allows no further inspection. The error of
 * the step is the finding.
 */
export const inspectBy =
  (step: (context: ConnectorContext) => Promise<unknown>): Inspect =>
  async (context) => {
    await step(context)
    return []
  }

/** A problem that would make a transfer fail, reject records, or not read rows of the source. */
export type Finding = {
  /** The code with which a transfer would fail, or the code of a warning. */
  readonly code: FindingCode
  /** The problem and the advice, in a sentence without values of a row. */
  readonly message: string
  /** The delivered column that it is about. */
  readonly column?: string
}

export type DestinationContext = ConnectorContext & {
  /** Identifies this transfer, or a part of one; the same after a crash. It can be used in a file name. */
  readonly transferId: string
  /** Number of times that a worker claimed the transfer. A writer of a later attempt replaces all earlier writers. */
  readonly attempt: number
  /** Whether it sends a few rows as a test: a test never replaces data of another transfer. */
  readonly test?: boolean
  /** When the transfer was begun, ISO 8601; the same after a crash. */
  readonly startedTime: string
  /** The columns of every batch: keys of the destination's records if it has any, otherwise the source's own columns. */
  readonly columns: readonly string[]
  /** The types of the columns, as far as the source declares them, as of a batch. */
  readonly types?: readonly (ColumnType | null)[] | undefined
  /** Some of the first rows that are delivered, if they are known, for types that the source does not declare. */
  readonly rows?: readonly Row[]
  /** The delivery states of this transfer's confirmed deliveries, in their order. */
  readonly deliveryStates: readonly Json[]
  /** The last `state` that a delivery of this connection returned, such as the audience that it created. */
  readonly state: Json | undefined
}

/** Writes to a destination. Only `deliver` is required: implement the other methods if the writer needs them. */
export type DestinationWriter = {
  /**
   * Whether it delivers a batch in a transaction, and waits for the `permit` of `deliver` right before the commit. Then a batch
   * is sent while the previous batch is being stored. A writer without it gets a batch once the previous batch is stored.
   */
  readonly awaitsPermit?: true
  /**
   * Delivers a batch, and resolves once the destination has confirmed it permanently, or with `held` if it only received it.
   * Throws a `ConnectorError`; the batch is then treated as undelivered and can be delivered again.
   * @param permit resolves once the batch can be committed. If it rejects, the whole batch must be rolled back. Absent: commit
   *   immediately
   */
  deliver(batch: Batch, permit?: Promise<void>): Promise<Delivery>
  /**
   * Returns a name for the row that it finds by each of some keys. Keys with the same name are the same key for the destination,
   * even if their notation differs. A mirror asks before it removes rows, so that it does not remove the row of a key that the
   * source has in another notation. The name is `null` if the destination has no such row, or no row can have the key. Throws a
   * `ConnectorError`. Changes nothing. Absent if only keys with equal texts are the same key.
   * @param keys cells of the columns of `removesBy`, in their order; some keys may not exist
   */
  nameKeys?(keys: readonly Row[]): Promise<readonly (string | null)[]>
  /**
   * Confirms the held rows. Required for a writer that holds rows. Called after the last batch, even without held rows. Returns
   * the result for the held rows. Its rejections have no index, because the row can be from any batch.
   */
  flush?(): Promise<Delivery | undefined>
  /**
   * Called when everything is confirmed. Makes the data visible and ends sessions. Can be called again after a crash, in a writer
   * that was opened with all delivery states, and must then do nothing.
   */
  finish?(): Promise<void>
  /**
   * The transfer ended without success (cancelled, stopped, failed). Confirmed rows are accepted and stay: a file store makes
   * them visible, as a complete file under the intended name. Unconfirmed rows are removed. A destination that replaces
   * everything at the end keeps its previous content instead.
   *
   * Called in a writer that was opened for this: with the delivery states of all confirmed batches. A separate signal aborts it
   * after half a minute. Can be called again after a crash. Never throws: if the destination does not respond, confirmed rows
   * stay hidden there, as of the last delivery state.
   */
  abort?(): Promise<void>
  /** Lets go of everything. Never throws. */
  close?(): Promise<void>
}

export type Batch = {
  /**
   * The same for the same rows of the same transfer, in every attempt, and different for every other batch. If reading is
   * incremental, the key is also the same in the next transfer of the connection, which repeats a batch that this transfer may
   * have delivered without a confirmation. A batch that is repeated after a crash keeps its key, even if some of its rows no
   * longer exist. Its rows can also be new or changed, unless the destination sets `recognisesKeys`. 32 hexadecimal characters.
   */
  readonly key: string
  /**
   * The earlier transfer that may have delivered this batch, and ended without success. A destination that records the batches of
   * each transfer records the batch under this identifier, and looks for it there. Absent if it is the transfer of the context.
   */
  readonly transferId?: string
  /**
   *  Present if the batch was announced before, possibly with other rows: then `recalled` of the delivery shows which rows were
   *  written.
   */
  readonly isRepeated?: true
  readonly columns: readonly string[]
  /** The types of the columns, in their order, as far as the source declares them and the mapping passes its values unchanged. */
  readonly types?: readonly (ColumnType | null)[]
  /** At least one row, except in a window. Values, or raw rows (`rawOf`) in one of the `rawFormats` of the destination. */
  readonly rows: readonly Row[]
  /**
   * Indexes of the rows to remove; only their columns in `removesBy` matter. If several rows have the same key, the last one
   * decides whether the row is written or removed. Only for a destination that removes rows.
   */
  readonly removed?: ReadonlySet<number>
  /** The number of the first row in the transfer, from 1. */
  readonly firstRow: number
  /** Only for a destination that supports windows. */
  readonly window?: BatchWindow
}

export type Delivery = {
  /** The batch was only received: a later `deliver` or `flush` confirms it. Held rows are delivered again after a crash. */
  readonly held?: boolean
  /** Rows that the destination did not accept. It accepted all other rows of the batch, by its own count. */
  readonly rejected?: readonly Rejection[]
  /**
   * Whether it recognised the batch and wrote nothing. It then names rejected rows by their places in the original batch, which
   * may have contained other rows. Only for a batch with `isRepeated`, and absent if the destination does not know.
   */
  readonly recalled?: boolean
  /**
   * Answers of the platform about each row, by its index, such as its ID there; `null` if there was no answer. Up to 4 KiB of
   * JSON per row are kept, if the connection records outcomes.
   */
  readonly answers?: readonly (Json | null)[]
  /** Bytes sent. */
  readonly bytes: number
  /**
   * State that a writer needs to resume after this delivery and a crash. It also covers the batches that the writer held before.
   */
  readonly deliveryState?: Json
  /** Stored with the connection, for this transfer and later ones; replaces the stored state. */
  readonly state?: Json
}

export type Rejection = {
  /** Index of the row in the batch, from 0; absent if the destination reports only a count. */
  readonly index?: number
  /** Number of rows, if the destination does not identify them. */
  readonly count?: number
  /** The reason, in a sentence without values of the row. */
  readonly reason: string
  /** The column that is the cause, if it is known. */
  readonly field?: string
  /** Further faults of the row, in other columns, so that a person can correct all of them before it is sent again. */
  readonly others?: readonly RowFault[]
}

/** A fault of a row: the column, if it is known, and the reason, in a sentence without values of the row. */
export type RowFault = { readonly field?: string; readonly reason: string }

/**
 * Delivers a few rows, for a person who writes the definition of a destination and wants to see the requests and their answers. It
 * delivers them exactly once.
 */
export type Try = (context: TrialContext) => Promise<Trial>

/** The rows have the columns of the context. */
export type TrialContext = DestinationContext & { readonly rows: readonly Row[] }

/** The outcome of a trial. The engine removes secrets and bounds the size. */
export type Trial = {
  /** The requests in their order, without requests that only sign in. */
  readonly exchanges: readonly TriedRequest[]
  /** Rows that were not accepted; all others were, unless there is an error. */
  readonly rejected: readonly Rejection[]
  /** Why the rows could not be delivered. */
  readonly error?: ConnectorError | undefined
}

/** A request and its unchanged answer. */
export type TriedRequest = {
  readonly request: { readonly method: string; readonly url: string; readonly text: string }
  readonly answer: AskedAnswer
}
