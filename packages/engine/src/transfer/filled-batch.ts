import type { BatchWindow, Chunk, Json, Row, RowFault } from '@penstock/connector'
import type { SkipCodes, SkippedRun } from '../skipped.ts'

/** A batch on its way from the source to the ledger, and the chunks that it is filled from. */

/** Where reading continues: `skip` records after `at`. */
export type Checkpoint = { readonly at: Json | null; readonly skip: number; readonly bytes: number }
export const beginning: Checkpoint = { at: null, skip: 0, bytes: 0 }

/** Maps the records of a chunk for the destination. Invalid records have an error instead, and others can be skipped. */
export type ChunkMapper = (chunk: Chunk) => MappedChunk | Promise<MappedChunk>

export type MappedChunk = {
  readonly rows: readonly Row[]
  readonly errors: ReadonlyMap<number, InvalidRow['error']>
  /** Absent if no row is skipped. An error of the source comes first: such a row is invalid. */
  readonly skipped?: SkipCodes
  /** A record of 4 numbers for each row (`row-digests.ts`), if the state of the connection has digests. */
  readonly digests?: Uint32Array
}

/** A record that is not sent. */
export type InvalidRow = {
  readonly number: number
  readonly raw: Row
  readonly error: {
    readonly field?: string
    readonly reason: string
    readonly others?: readonly RowFault[]
    /** Whether it was rejected before the mapping, so that it has the columns of the source and no key. */
    readonly isUnmapped?: true
  }
  /** Whether the row was to be removed at the destination. */
  readonly removed?: true
}

/** The rows of one batch, and data about the records that it covers. */
export type FilledBatch = {
  /** Number of the first record that it covers, and how many it covers. */
  readonly first: number
  readonly covered: number
  readonly rows: readonly Row[]
  /** For each of `rows`: its number, and the unchanged record of the source. */
  readonly numbers: readonly number[]
  readonly raws: readonly Row[]
  /** Indexes of `rows` to remove at the destination. */
  readonly removed: ReadonlySet<number>
  /** 4 numbers for each of `rows`, if they have digests. */
  readonly digests?: readonly number[]
  readonly invalid: readonly InvalidRow[]
  /** Numbers of the invalid records that the source could not read. */
  readonly unread?: ReadonlySet<number>
  /** The other invalid records by their numbers, as far as they were mapped. */
  readonly unsent?: ReadonlyMap<number, Row>
  /** The stretches of it that have skipped records, in order. */
  readonly skipped: readonly SkippedRun[]
  /** The chunks that it was filled from, in order. All chunks except the first begin inside the batch. */
  readonly segments: readonly Segment[]
  /** The window of all its rows. Such a batch can have no rows. */
  readonly window?: BatchWindow
  /** Present if its rows are not records of the source: they were removed from it, and the checkpoint stays this one. */
  readonly left?: Checkpoint
  /**
   * The key under which it was announced before a crash, the number of rows that it had then, and the place after it, if it
   * reaches that far now.
   */
  readonly announced?: { readonly key: string; readonly covered: number; readonly end?: Json }
  /** The earlier transfer that announced it, under which the destination notes it. */
  readonly notedBy?: string
  /** Records whose rows the destination already has from an announced batch (`recovered-rows.ts`), with 4 numbers for each. */
  readonly delivered?: DeliveredRows
  /** The place after an announced batch whose rows are gone. This batch replaces it, with another key. */
  readonly instead?: Json
}

export type DeliveredRows = {
  readonly numbers: readonly number[]
  readonly raws: readonly Row[]
  readonly records: readonly number[]
}

export type Segment = {
  /** The checkpoint before the chunk, as the source returned it. */
  readonly before: Json | null
  readonly after: Json
  /** Number of its first record, and how many it has. */
  readonly first: number
  readonly count: number
  /** Bytes of the source up to its end. */
  readonly bytes: number
  /** Whether it has the same records when it is read again. */
  readonly fixed: boolean
} & Pick<Chunk, 'cursor' | 'cursorAfter' | 'checkpointAfter' | 'places'>

export type Bounds = { readonly rowsMax: number; readonly bytesMax: number }
