import type { Chunk, Delivery, Json, Rejection, Row, SourceReader } from '@penstock/connector'
import type { RowMapping } from '../../map-rows.ts'
import type { Confirmation, TransferHost, TransferJob, TransferState } from '../../protocol.ts'
import type { Announcement } from '../batch-keys.ts'
import type { Entry, Rejected } from '../confirmation.ts'
import type { Checkpoint, FilledBatch, MappedChunk } from '../filled-batch.ts'
import type { Sides } from '../sides.ts'
import type { RunnerMemory } from './runner-memory.ts'

/**
 * A stage is a feature that looks at the rows of a transfer between the source and the ledger. `list.ts` names all of them, in the order in which
 * a row passes them. A session calls the methods that a stage has, and knows no stage by name. README.md explains how to add one.
 */

/** A feature, before a transfer that may use it is opened. */
export type StageKind = {
  /**
   * Why the stage reads values of rows in such a transfer, as the end of a sentence; `undefined` if it does not. If no stage does, rows do not
   * need to be rows here: the platforms may move them themselves.
   */
  readonly needsValues: (state: TransferState) => string | undefined
  /** Why one worker must see all rows, as the end of a sentence; `undefined` if several workers can share them. */
  readonly needsAllRows: (state: TransferState) => string | undefined
  /**
   * Opens the stage for one session. Settings are checked here, and nothing is sent yet.
   * @returns `undefined` if this transfer does not use the feature
   * @throws ConnectorError if the settings do not allow it
   */
  readonly open: (context: StageContext) => Promise<Stage | undefined> | Stage | undefined
}

/** The parts of a session that a stage may use. */
export type StageContext = {
  readonly host: TransferHost
  readonly job: TransferJob
  /** As it was when the session was opened. */
  readonly state: TransferState
  readonly sides: Sides
  /** Keeps something for all sessions of this runner. */
  readonly memory: RunnerMemory
  readonly signal: AbortSignal
  /** To be called while a stage works on something long. */
  readonly onProgress: () => void
  /** Opens the source once more, at the cursor of the transfer. */
  readonly openReader: () => Promise<SourceReader>
  /** Passes a chunk that is read in advance or again through `map` of the stages before this one. */
  readonly mapBefore: (chunk: Chunk) => Promise<{ readonly mapping: RowMapping; readonly mapped: MappedChunk }>
}

/** A chunk of the source on its way. */
export type StageChunk = {
  readonly source: Chunk
  readonly mapping: RowMapping
}

/**
 * A stage of one session. All methods are optional, and are called in the order in which they are listed. An error that one of them throws ends the
 * session.
 */
export type Stage = {
  // Before the first row.

  /** Reads the source in advance, if the stage must know all records before it decides. */
  prepare?(): Promise<void>
  /** Whether records that are confirmed must be read again: another runner saw them, and its memory is gone. Asked after `prepare`. */
  readonly seesAgain?: boolean
  /**
   * Sees a chunk of confirmed records again, as it saw them then.
   * @param first the number of its first record
   * @returns the rows as the stages behind this one saw them
   */
  seeAgain?(mapped: MappedChunk, chunk: StageChunk, first: number): MappedChunk
  /** The records that are confirmed were read again. @throws ConnectorError if the source has others. @param records how many it had */
  endAgain?(records: number): void
  /** A sentence for the log of the transfer. */
  readonly sentence?: string | undefined
  /** Judges the records of a source that replaces everything, before the destination removes anything; `undefined` if it has nothing to judge. */
  judgeReplacement?(): ReplacementJudge | undefined
  /** Forgets the records that were only read in advance for `judgeReplacement`. */
  restart?(): void
  /** The source is opened. */
  opened?(reader: SourceReader): void
  /** The number of the last record that is sent, although the source can have more by now; `null`: all are sent. */
  readonly lastNumber?: number | null
  /**
   * Settles batches that were announced before, if their rows are found again by their values.
   * @returns the announcement that is left
   */
  repeat?(announced: AnnouncedBefore, tools: RepeatTools): Promise<AnnouncedBefore>

  // Each chunk.

  /** Sees a chunk before its rows, even if it has none, or all of them are confirmed. */
  begin?(chunk: StageChunk): Promise<void> | void
  /**
   * Decides what becomes of each row by the row only. It is also called when the source is read in advance or again.
   * @param mapped the rows as the stages before left them: their values, errors and skip codes, by index
   * @returns the same for the next stage: `errors` rejects a row with a reason, `skipped` skips it with a code. The number of rows stays
   */
  map?(mapped: MappedChunk, chunk: StageChunk): Promise<MappedChunk> | MappedChunk
  /**
   * Decides what becomes of each row by other rows too, or remembers rows. It is called once for each record, in the order of the source,
   * except that the first chunk of a session can begin with confirmed records.
   * @param first the number of its first record
   */
  mark?(mapped: MappedChunk, chunk: StageChunk, first: number): MappedChunk

  // Each batch.

  /** Sees a batch before it is announced. @throws ConnectorError to end the transfer before it is sent */
  check?(batch: FilledBatch): Promise<void>
  /**
   * Adds to an announcement, which is stored before a batch is sent, or with a confirmation. After a crash, `repeat` gets it.
   * @param announcement `undefined` if nothing is to be announced
   */
  announcing?(announcement: Announcement | undefined): Announcement | undefined
  /** Stores something before a batch is sent. @param settled resolves once the confirmation before it is stored */
  beforeSending?(batch: FilledBatch, settled: () => Promise<void>): Promise<void>
  /** The name under which `added` stores something with the checkpoint. */
  readonly checkpointKey?: string
  /** Learns the result of a batch. @returns what is stored with the checkpoint behind it, to resume from; `undefined`: nothing */
  added?(result: StageResult): Json | undefined
  /** Completes a confirmation of everything that was added since the last one. @param rejects all rejected rows */
  confirming?(confirmation: Confirmation, rejects: readonly Rejected[]): Promise<Confirmation> | Confirmation
  /** Whether `confirming` has something to add although no batch is to be confirmed. */
  readonly isUnsettled?: boolean
  /** Whether the cursor of the source is stored only at the end, since a failed transfer must read everything again. */
  readonly holdsCursor?: boolean

  // After the last row.

  /** The last record of the source was sent. @throws ConnectorError if the transfer must not succeed */
  end?(): void
  /** Batches that are sent after all records of the source are confirmed. */
  rest?(tools: RestTools): AsyncIterable<FilledBatch>
  /** Everything is confirmed. Called before the destination makes it visible, if it waits for that. @throws ConnectorError to stop that */
  finish?(): Promise<void>
}

/** The announced batch of a transfer, by the state that was opened. */
export type AnnouncedBefore = Pick<TransferState, 'pending' | 'announced'>

/** Counts the records of a replacement. */
export type ReplacementJudge = {
  /** @param invalid how many of its rows are rejected */
  readonly add: (chunk: Chunk, invalid: number, isSkipped: (at: number) => boolean) => void
  /** @throws ConnectorError if they must not replace what the destination has */
  readonly end: () => Promise<void>
}

/** The result of a batch, or of the rows that the destination held when it was flushed. */
export type StageResult = {
  /** Absent of a flush. Rows of a batch with `left` are no records of the source. */
  readonly batch: FilledBatch | undefined
  /** The batch that `rejects` are about: of a flush, the last one that was held. */
  readonly rejectedFrom: FilledBatch | undefined
  readonly rejects: readonly Rejected[]
  /** Whether the batch was delivered, and not only rows of it rejected or skipped. */
  readonly isDelivered: boolean
  /** How many rows the destination has of it, whenever they were delivered. */
  readonly sent: number
}

/** How a stage sends batches before the others. */
export type RepeatTools = {
  /** Announces that such a batch is sent. */
  readonly begin: () => Promise<void>
  /** Sends a batch. @returns `undefined` if the destination refused it, so that it does not have it */
  readonly send: (
    batch: FilledBatch,
  ) => Promise<{ readonly delivery: Delivery; readonly rejected: readonly Rejection[] } | undefined>
  /** Adds a result. @param held the batch, if the destination took its rows in without confirming them */
  readonly add: (entry: Entry, held?: FilledBatch) => void
  readonly settled: () => Promise<void>
}

/** How a stage sends batches behind the records of the source. */
export type RestTools = {
  /** The records that are confirmed, and the checkpoint after them. */
  readonly confirmed: { readonly read: number; readonly checkpoint: Checkpoint | null }
  /** Asks the destination which keys are the same to it; `undefined` if only equal texts are. */
  readonly nameKeys: (keys: readonly Row[]) => Promise<readonly (string | null)[] | undefined>
  /** Resolves once the last confirmation is stored. */
  readonly settled: () => Promise<void>
}
