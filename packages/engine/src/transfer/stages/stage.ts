import type { Chunk, Delivery, Finding, Json, Rejection, Row, SourceReader } from '@penstock/connector'
import type { RowMapping, SettingErrors } from '../../map-rows.ts'
import type { Confirmation, TransferHost, TransferJob, TransferState } from '../../protocol.ts'
import type { Announcement } from '../batch-keys.ts'
import type { Entry, Rejected } from '../confirmation.ts'
import type { Checkpoint, FilledBatch, MappedChunk } from '../filled-batch.ts'
import type { Sides } from '../sides.ts'
import type { RunnerMemory } from './runner-memory.ts'

/**
 * A stage is a feature that processes the rows of a transfer between the source and the ledger. `list.ts` lists all stages, in
 * the order in which a row passes them. A session calls the methods that a stage has, and knows no stage by name. README.md
 * explains how to add one.
 */

/** A feature, before a transfer that may use it is opened. */
export type StageKind = {
  /** Its name, as of its folder. */
  readonly name: string
  /**
   * Whether it reads no values of most rows, or only the columns that it needs (`RawRows.opened`). Rows can then be raw rows, which are
   * decoded when somebody reads them. They are values if a stage without it is used.
   */
  readonly passesRaw?: true
  /** Returns the needs of the stage in such a transfer. The settings in the state have no defaults. */
  readonly needs?: (state: TransferState) => StageNeeds | undefined
  /** Finds errors of its settings that depend on the columns of the source, with their paths in the request. A transfer fails with them. */
  readonly settingErrors?: SettingErrors
  /**
   * Opens the stage for one session, or for a preview. Settings are checked here, and nothing is sent yet.
   * @returns `undefined` if this transfer does not use the feature
   * @throws ConnectorError if the settings do not allow it
   */
  readonly open: (context: StageContext) => Promise<Stage | undefined> | Stage | undefined
}

/** Reasons, each the end of a sentence. */
export type StageNeeds = {
  /**
   * Why the stage reads values of rows. If no stage does, the rows need not pass through a worker: the platforms can move them
   * themselves.
   */
  readonly values?: string | undefined
  /** Why one worker must see all rows; absent if several workers can share them. */
  readonly allRows?: string | undefined
}

/** The parts of a session that a stage can use. */
export type StageContext = {
  readonly host: StageHost
  readonly job: Pick<TransferJob, 'id' | 'connectionId' | 'replaceShareMin'>
  /** As it was when the session was opened. A preview has the state of a test of a few records that nothing was sent of. */
  readonly state: TransferState
  readonly sides: Sides
  /** Keeps something for all sessions of this runner. */
  readonly memory: RunnerMemory
  readonly signal: AbortSignal
  /** To be called while a stage works on something long. */
  readonly onProgress: () => void
  /** Opens the source again, at the cursor of the transfer. */
  readonly openReader: () => Promise<SourceReader>
  /** Passes a chunk that is read in advance or again through `map` of the previous stages. */
  readonly mapBefore: (chunk: Chunk) => Promise<{ readonly mapping: RowMapping; readonly mapped: MappedChunk }>
}

/** The calls of stages to the host of a transfer. The host of a preview stores nothing. */
export type StageHost = Pick<
  TransferHost,
  'reportLine' | 'reportRules' | 'rejectedKeys' | 'readDigests' | 'readKeys' | 'doubtRows' | 'replaceDigests'
>

/** A chunk of the source on its way. */
export type StageChunk = {
  readonly source: Chunk
  readonly mapping: RowMapping
}

/**
 * A stage of one session. All methods are optional, and are called in the order in which they are listed. An error that a method
 * throws ends the session; a preview shows it.
 */
export type Stage = {
  // Before the first row.

  /** Reads the source in advance, if the stage must know all records before it decides. */
  prepare?(): Promise<StagePlan> | StagePlan
  /**
   * The source is opened.
   * @param announced the batches that were announced before. A stage settles the batches whose rows it finds again by their
   * values
   * @returns the remaining announcement; nothing if it does not change
   */
  opened?(
    reader: SourceReader,
    announced: AnnouncedBefore,
    tools: RepeatTools,
  ): Promise<AnnouncedBefore | undefined> | AnnouncedBefore | undefined

  // Each chunk.

  /** Receives a chunk before its rows, even if it has no rows, or all of them are confirmed. */
  begin?(chunk: StageChunk): Promise<void> | void
  /**
   * Decides about each row by the row only. It is also called when the source is read in advance or again.
   * @param mapped the rows after the previous stages: their values, errors and skip codes, by index
   * @returns the same for the next stage: `errors` rejects a row with a reason, `skipped` skips it with a code. The number of
   * rows must not change
   */
  map?(mapped: MappedChunk, chunk: StageChunk): Promise<MappedChunk> | MappedChunk
  /**
   * Decides about each row by other rows too, or remembers rows. It is called once for each record, in the order of the source,
   * except that the first chunk of a session can begin with confirmed records.
   * @param first the number of its first record. If it is 1 again while no record is confirmed, the earlier records were only
   * read to judge them (`StagePlan`), and must be forgotten
   */
  mark?(mapped: MappedChunk, chunk: StageChunk, first: number): MappedChunk

  /** Only in a preview: findings about the settings of the stage from its records. */
  hints?(chunk: StageChunk): Promise<readonly Finding[]>

  // Each batch.

  /**
   * Sees a batch before it is sent, and before it is announced, unless it was announced with a confirmation. The halves of a batch that was
   * refused are batches, too.
   * @param settled resolves once the confirmation before it is stored
   * @throws ConnectorError to end the transfer before the batch is sent
   */
  sending?(batch: FilledBatch, settled: () => Promise<void>): Promise<void> | void
  /**
   * Adds to an announcement, which is stored before a batch is sent, or with a confirmation. After a crash, `opened` receives it.
   * @param announcement `undefined` if there is nothing to announce
   */
  announcing?(announcement: Announcement | undefined): Announcement | undefined
  /**
   * Receives the result of a batch. @returns values to store with the checkpoint after it, under names of this stage, to resume
   * from
   */
  added?(result: StageResult): Readonly<Record<string, Json>> | undefined
  /** Completes a confirmation of everything that was added since the last one. @param rejects all rejected rows */
  confirming?(confirmation: Confirmation, rejects: readonly Rejected[]): Promise<Confirmation> | Confirmation
  /** Whether the cursor of the source is stored only at the end, since a failed transfer must read everything again. */
  readonly holdsCursor?: boolean

  // After the last row.

  /** The last record of the source was sent. @throws ConnectorError if the transfer must not succeed */
  end?(): void
  /** Batches that are sent after all records of the source are confirmed. */
  rest?(tools: RestTools): AsyncIterable<FilledBatch>
  /**
   * Everything is confirmed. Called before the destination makes the data visible, if it has such a step. @throws ConnectorError
   * to prevent it
   */
  finish?(): Promise<void>
}

/** The plan of a stage for the records that follow. */
export type StagePlan = {
  /** A sentence for the log of the transfer. */
  readonly sentence?: string | undefined
  /** The number of the last record to send, although the source can have more by now; `null` or absent: all records are sent. */
  readonly lastNumber?: number | null
  /** Present if confirmed records must be read again, because another runner read them and its memory is lost. */
  readonly again?: SeenAgain | undefined
  /** Judges the records of a source that replaces everything, before the destination removes anything. */
  readonly judge?: ReplacementJudge | undefined
}

/** Sees confirmed records again, as the stage saw them then. */
export type SeenAgain = {
  /** @param first the number of the first record of the chunk. @returns the rows as the following stages saw them */
  readonly see: (mapped: MappedChunk, chunk: StageChunk, first: number) => MappedChunk
  /** All of them were read again. @throws ConnectorError if the source has others. @param records how many it had */
  readonly end?: (records: number) => void
}

/** The announced batch of a transfer, by the state that was opened. */
export type AnnouncedBefore = Pick<TransferState, 'pending' | 'announced'>

/** Counts the records of a replacement. */
export type ReplacementJudge = {
  /** @param invalid how many of its rows are rejected */
  readonly add: (chunk: Chunk, invalid: number, isSkipped: (at: number) => boolean) => void
  /** @throws ConnectorError if the rows must not replace the data of the destination */
  readonly end: () => Promise<void>
}

/** The result of a batch, or of the rows that the destination held when it was flushed. */
export type StageResult = {
  /** Absent of a flush. Rows of a batch with `left` are no records of the source. */
  readonly batch: FilledBatch | undefined
  /** The batch that `rejects` refer to. For a flush, the last batch that was held. */
  readonly rejectedFrom: FilledBatch | undefined
  readonly rejects: readonly Rejected[]
  /** The answers of the platform, by the index of the row in the batch. */
  readonly answers?: Entry['answers']
  /** Whether the batch was delivered, and not only rows of it rejected or skipped. */
  readonly isDelivered: boolean
  /** How many rows the destination has of it, whenever they were delivered. */
  readonly sent: number
}

/** Tools with which a stage sends batches before the others. */
export type RepeatTools = {
  /** Announces that such a batch is sent. */
  readonly begin: () => Promise<void>
  /** Sends a batch. @returns `undefined` if the destination refused it and does not have it */
  readonly send: (
    batch: FilledBatch,
  ) => Promise<{ readonly delivery: Delivery; readonly rejected: readonly Rejection[] } | undefined>
  /** Adds a result. @param held the batch, if the destination took its rows in without confirming them */
  readonly add: (entry: Entry, held?: FilledBatch) => void
  readonly settled: () => Promise<void>
}

/** Tools with which a stage sends batches after the records of the source. */
export type RestTools = {
  /** The records that are confirmed, and the checkpoint after them. */
  readonly confirmed: { readonly read: number; readonly checkpoint: Checkpoint | null }
  /** Asks the destination which keys it treats as the same; `undefined` if only equal texts are the same key. */
  readonly nameKeys: (keys: readonly Row[]) => Promise<readonly (string | null)[] | undefined>
  /** Resolves once the last confirmation is stored. */
  readonly settled: () => Promise<void>
}
