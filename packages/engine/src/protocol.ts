import type {
  AudienceMeasure,
  ChangeLogMeasure,
  CheckStep,
  ConnectorErrorCode,
  DiscoveredPage,
  DivisionBounds,
  Json,
  PlainHttp,
  SourcePart,
  SourceRange,
} from '@penstock/connector'
import type { EgressOptions } from '@penstock/connector/egress'
import type { ProgramWall } from '@penstock/connectors/programs'
import type { ColumnChange, ConnectionRule, DriftMode, FieldError, Preview, RuleResult } from '@penstock/wire'
import type { Role, TransferErrorCode } from '@penstock/wire/rules'
import type { Announced } from './announced.ts'
import type {
  DroppedSlot,
  DropSlotJob,
  MeasureAudiencesJob,
  MeasureLogJob,
  PingJob,
  PutEventsJob,
} from './background-jobs.ts'
import type { ConsentPurpose } from './consent-purpose.ts'
import type { DigestPage, DigestRecords, DigestsState, KeyPages } from './digest-pages.ts'
import type { DividedPart } from './divided-part.ts'
import type { ErasedIdentifier, EraseJob } from './erase-job.ts'
import type { HandoverStart } from './handover-start.ts'
import type { EventHost, IdentityHost, PutHost, RejectHost, SecretHost, UploadHost } from './job-hosts.ts'
import type { Confirmation, RejectedKeysState, ReplayPage, TransferOutcomes } from './kept.ts'
import type { Showing } from './mapping/shorten.ts'
import type { OpenedSide } from './opened-side.ts'
import type { RetryPolicy } from './retry-policy.ts'
import type { Shape } from './shape.ts'
import type { AuthorizationJob, SingleSignOnJob } from './sign-in-jobs.ts'
import type { ShownAnswer, ShownTrial } from './source-answer.ts'
import type { TransferRules } from './transfer-rules.ts'
import type { TryJob } from './try-job.ts'

export type { Announced } from './announced.ts'
export type * from './background-jobs.ts'
export * from './digest-pages.ts'
export type { DividedPart, ListedTable } from './divided-part.ts'
export type { ErasedIdentifier, EraseJob } from './erase-job.ts'
export * from './job-hosts.ts'
export type * from './kept.ts'
export type { OpenedSide } from './opened-side.ts'
export { protocolLimits } from './protocol-limits.ts'
export type { RetryPolicy } from './retry-policy.ts'
export type { Shape, ShapeColumn, SideShape } from './shape.ts'
export type * from './sign-in-jobs.ts'
export type { ShownAnswer, ShownTrial } from './source-answer.ts'
export type { TryJob } from './try-job.ts'

/**
 * How a supervisor (the service or a worker) and a runner communicate. Terms:
 * runner      a child process that runs connector code, one job at a time
 * supervisor  the process that starts runners, sends them jobs, watches them and accesses the database
 * job         one check, discovery, request, preview, authorization or transfer
 *
 * A runner has no access to the database and no keys. A job contains only the opened secrets of its connectors, and is sent
 * over the channel between the two processes. Messages are JSON.
 */

/** Settings of all jobs of a runner, sent once when the runner starts. */
export type RunnerSettings = {
  readonly egress: Pick<EgressOptions, 'networkPolicy' | 'allow' | 'proxy' | 'except'>
  /** Hosts to which secrets can be sent without TLS. */
  readonly plainHttp: PlainHttp
  /** Absolute paths of the directories that connectors can read and write, and of the directory of added connectors. */
  readonly localFolders: readonly string[]
  readonly connectorsFolder: string
  /** The isolation of programs that the operator added; if absent, no program runs. */
  readonly programWall?: ProgramWall
}

export type CheckJob = { readonly kind: 'check'; readonly connector: OpenedSide; readonly deadlineMs: number }

/** Finds values of a setting at the platform. */
export type DiscoveryJob = {
  readonly kind: 'discovery'
  readonly connector: OpenedSide
  readonly role: Role
  /** A field of that role that can be discovered, or `columns`. */
  readonly field: string
  readonly search: string
  readonly cursor: string | null
  readonly size: number
  /** Whether columns include values: only for people who can read records. */
  readonly withSamples: boolean
  /** How these values are shown. */
  readonly showing: Showing
  readonly deadlineMs: number
}

/** Lets a source send one request, and shows the answer. */
export type AskJob = {
  readonly kind: 'ask'
  readonly connector: OpenedSide
  /** Whether some of its secrets were entered but are not saved. Secrets can then not be replaced. */
  readonly entered: boolean
  /** Cursor of the page; `null` requests the first page. */
  readonly page: string | null
  readonly deadlineMs: number
}

export type PreviewJob = {
  readonly kind: 'preview'
  readonly source: OpenedSide
  /** Without its secrets if the destination is not asked. */
  readonly destination: OpenedSide
  /** Shows the unmapped columns of the source, and does not ask the destination. */
  readonly unmapped: boolean
  /** Applies the valid part of an invalid mapping, and does not ask the destination. */
  readonly partial?: boolean
  /** A field of the mapping. Its values are tried in every form. */
  readonly formsOf?: string
  /** How values are shown. */
  readonly showing: Showing
  /** Rules of the connection that judge the rows. */
  readonly rules?: readonly ConnectionRule[]
  /** The consent purposes of the sub-account. */
  readonly purposes?: readonly ConsentPurpose[] | null
  /** How long a file store can be silent. */
  readonly noAnswerMs: number
  /** Maximum duration of the inspection of the destination. */
  readonly inspectionMs: number
  readonly deadlineMs: number
}

export type TransferJob = {
  readonly kind: 'transfer'
  readonly id: string
  readonly connectionId: string
  /** The transfer of which it is one of several parts. A runner keeps sessions open from one part to the next. */
  readonly partOf?: string
  /** The slugs of its connectors, which are loaded while the supervisor finds out the state of the transfer. */
  readonly connectors: readonly string[]
  readonly retry: RetryPolicy
  /** A replacing transfer waits for confirmation if it has less than this share of the rows that the last one sent: 0 to 1. */
  readonly replaceShareMin: number
}

export type Job =
  | CheckJob
  | DiscoveryJob
  | AskJob
  | TryJob
  | EraseJob
  | PreviewJob
  | AuthorizationJob
  | SingleSignOnJob
  | TransferJob
  | MeasureLogJob
  | DropSlotJob
  | MeasureAudiencesJob
  | PutEventsJob
  | PingJob

/** Result of each kind of job. */
export type JobValues = {
  check: readonly CheckStep[]
  discovery: DiscoveredPage
  ask: ShownAnswer
  try: ShownTrial
  /** In the order of the identifiers. */
  erase: readonly ErasedIdentifier[]
  /** `errors`: the mapping does not match the columns of the source. */
  preview: { readonly preview: Preview } | { readonly fieldErrors: readonly FieldError[] }
  authorization: { readonly refreshToken: string }
  'single sign-on': {
    readonly authorizationEndpoint: string
    readonly person: {
      readonly subject: string
      readonly email: string | null
      readonly emailVerified: boolean
      readonly name: string | null
    } | null
  }
  /** Everything is delivered, confirmed and visible. */
  transfer: null
  'measure log': ChangeLogMeasure
  'drop slot': DroppedSlot
  'measure audiences': readonly AudienceMeasure[]
  'put events': null
  ping: null
}

export type JobResult<Kind extends Job['kind'] = Job['kind']> =
  | { readonly ok: true; readonly value: JobValues[Kind] }
  | { readonly ok: false; readonly error: JobError }

/** Why a job did not succeed. */
export type JobError =
  /** A connector reported what is wrong, for a person. */
  | {
      readonly kind: 'connector'
      readonly code: ConnectorErrorCode
      readonly message: string
      readonly side: Role | null
    }
  /** The connectors did not answer within the job's deadline. */
  | { readonly kind: 'late' }
  /** The supervisor ended it, and knows why. */
  | { readonly kind: 'ended' }
  /** The runner could not load its code. Another runner can do the job, here or on another machine. */
  | { readonly kind: 'unloadable'; readonly report: DefectReport }
  /** A defect of a connector or of the engine, described without values. */
  | {
      readonly kind: 'defect'
      readonly isConnector: boolean
      readonly side: Role | null
      readonly report: DefectReport
    }

/** An error without its message, which could quote a value. */
export type DefectReport = { readonly type: string; readonly code?: string; readonly stack: string }

/** The state of a transfer in the database, with everything that it needs to continue. */
export type TransferState = {
  /** Absent where rejected rows of an earlier transfer are sent again. */
  readonly source: OpenedSide | null
  readonly destination: OpenedSide
  readonly replay: { readonly columns: readonly string[]; readonly rows: number } | null
  readonly confirmed: boolean
  /** Maximum rows of the source that a test covers; `null` if the transfer is not a test. */
  readonly testRows: number | null
  /** The range of the source that a backfill reads; `null` if the transfer is not a backfill. */
  readonly range: SourceRange | null
  /** How often the transfer was claimed, from 1. */
  readonly attempt: number
  /** Rows of the source that are confirmed. */
  readonly read: number
  /** Rejected rows among them. */
  readonly rejected: number
  readonly checkpoint: Json | null
  /** Number of rows that the batch covers that may have been delivered without a confirmation. */
  readonly pending: number | null
  /** Its key, and the place after it in the source; `null` if there is no such batch, or the source is fixed. */
  readonly announced: Announced | null
  /**
   * Number of rows that such a batch of the previous transfer covers; `null` as soon as a batch of this transfer is confirmed.
   */
  readonly unconfirmed: number | null
  /** The columns that the destination has received so far. */
  readonly columns: readonly string[] | null
  /** ISO 8601. */
  readonly startedTime: string
  readonly cursor: Json | null
  /** The cursor that is confirmed in this transfer, or in this part. */
  readonly reached: Json | null
  readonly state: Json | null
  /** Changes the keys of incremental batches. Absent or `null`: the keys do not change. */
  readonly keysSalt?: string | null
  /** How many rows the last replacing transfer sent. */
  readonly replaced: number | null
  readonly deliveryStates: readonly Json[]
  /** The part of the source that is moved; `null` means the whole source. */
  readonly part: SourcePart | null
  /** The table that is moved, if the transfer moves many: the settings of both sides are of this table. */
  readonly table: string | null
  /**
   * The plan of the first reader of the transfer, for all later readers; `null` before that, for a part, and if the reader had no
   * plan.
   */
  readonly plan: Json | null
  /** How the source can be divided into parts; `null` if it must not be divided (any more). */
  readonly divides: DivisionBounds | null
  /** Reaction to changed columns, and the columns of the last successful transfer. */
  readonly drift: DriftMode
  readonly shape: Shape | null
  readonly rules: TransferRules | null
  /** The consent purposes of the sub-account; `null` if there are no purposes. */
  readonly purposes: readonly ConsentPurpose[] | null
  /** There if the outcome of each row is recorded. */
  readonly outcomes: TransferOutcomes | null
  /** Number of further rejected rows that can be kept. */
  readonly rejectsLeft: number
  /** The state of the digests of the destination's rows, if only changed rows are sent; `null` if all rows are sent. */
  readonly digests: DigestsState | null
}

/** A batch that is about to be delivered. */
export type BatchStart = HandoverStart & {
  /** Number of rows of the source that it covers, if it must be repeated unchanged after a crash. */
  readonly pending: number | null
  /** Unless the source is fixed. */
  readonly announced?: Announced
  /** The columns of the source and of the destination: with the first batch of a session. */
  readonly columns?: {
    readonly source: readonly string[]
    readonly destination: readonly string[]
    /** Absent of a test and a replay, which are compared with nothing. */
    readonly shape?: Shape
  }
  /** The plan of the reader of the source, unless it is stored already: with the columns. */
  readonly plan?: Json
}

/** The columns of both sides, and their changes since the last successful transfer. */
export type ColumnReport = {
  readonly shape: Shape
  readonly changes: readonly ColumnChange[]
  /**
   * Columns of the source to add to the mapping of the connection and of the transfer; empty unless the connection adds columns.
   */
  readonly added: readonly string[]
  /** The mapping of the transfer after it followed the changes, without the added columns; absent if it did not change. */
  readonly mapping?: string
}

/** A line for the log of a transfer, without values of rows: of the connector of a side, or of the engine if `side` is null. */
export type ReportedLine = { readonly side: Role | null; readonly text: string }

/** Calls of a transfer to its supervisor, which uses the database. Each call rejects with `Ended` if the transfer must end. */
export type TransferHost = {
  /** Returns the state of the transfer. Called whenever both sides are opened. */
  open(): Promise<TransferState>
  /** Announces a batch before it is delivered, and checks whether the transfer can continue. */
  beginBatch(batch: BatchStart): Promise<void>
  /**
   * Stores the confirmation of the destination.
   * @param next the next batch, if it is already known; it is announced in the same call
   * @returns whether the next batch is announced. If it is not, `beginBatch` reports the reason
   */
  confirm(confirmation: Confirmation, next?: BatchStart): Promise<boolean>
  /** Shows a transient error to people while the transfer retries. */
  reportRetry(error: { code: TransferErrorCode; message: string; side: Role | null; waitMs: number }): Promise<void>
  /** Adds a line to the log of the transfer. */
  reportLine(line: ReportedLine): Promise<void>
  /** Stores the columns that changed since the last successful transfer, before anything moves. Resolves with the mapping from now on. */
  reportColumns(report: ColumnReport): Promise<string | null>
  /** Stores the results of rules, before the transfer ends. */
  reportRules(results: readonly RuleResult[]): Promise<void>
  /**
   * Divides the transfer: workers move its parts from now on, and this session ends with `Ended`. To be called before anything moves.
   * @param parts of the source, or tables, all of which have `table`
   * @param start the columns, unless the parts are tables, and which way the rows go
   */
  divide(parts: readonly DividedPart[], start: BatchStart): Promise<void>
  /** Rejected rows to send again, after a number; an empty page after the last row. */
  readRejects(after: number): Promise<ReplayPage>
  /** The keys of rejected rows of the connection that can be sent again. */
  rejectedKeys(): Promise<RejectedKeysState>
  /** Digests of the connection after a page, in the order in which they were stored; `null` after the last page. */
  readDigests(after: number): Promise<DigestPage | null>
  /** Keys of the rows of a mirror after a page, in the order in which they were stored; `null` after the last page. */
  readKeys(after: number): Promise<KeyPages | null>
  /** Records, before rows are sent, that the values of the destination under their keys are uncertain. */
  doubtRows(rows: DigestRecords): Promise<void>
  /** Replaces all digests of the connection, all or nothing. */
  replaceDigests(pages: Iterable<DigestRecords> | AsyncIterable<DigestRecords>): Promise<void>
}

/** The transfer ends here by decision of its supervisor. */
export class Ended extends Error {
  override readonly name = 'Ended'
  /** Whether it continues later or elsewhere: then nothing at the destination is taken away. */
  readonly resumes: boolean
  constructor(resumes: boolean) {
    super('The transfer ends here')
    this.resumes = resumes
  }
}

/** The argument of the message `confirm`. */
export type ConfirmArgument = { readonly confirmation: Confirmation; readonly next: BatchStart | undefined }

/** The argument of the message `divide`, with the last parts. */
export type DivideArgument = { readonly parts: readonly DividedPart[]; readonly start: BatchStart }

/** The methods of a transfer's host as messages. Rejected rows and parts can be sent ahead, so that no message is large. */
export type TransferMethod = keyof TransferHost | 'stageRejects' | 'stageParts' | 'stageDigests' | 'stageOutcomes'
export type HostMethod =
  | TransferMethod
  | keyof SecretHost
  | keyof IdentityHost
  | keyof UploadHost
  | keyof RejectHost
  | keyof EventHost
  | keyof PutHost

/** From the supervisor to the runner. */
export type ToRunner =
  | { readonly type: 'settings'; readonly settings: RunnerSettings }
  | { readonly type: 'job'; readonly job: Job }
  | { readonly type: 'end'; readonly resumes: boolean }
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'ended'; readonly id: number; readonly resumes: boolean }

/** From the runner to the supervisor. */
export type FromRunner =
  | { readonly type: 'ready' }
  | { readonly type: 'alive'; readonly rssBytes: number }
  | { readonly type: 'progress' }
  | { readonly type: 'call'; readonly id: number; readonly method: HostMethod; readonly argument: unknown }
  | { readonly type: 'done'; readonly result: JobResult }
  | { readonly type: 'crashed'; readonly report: DefectReport; readonly unloadable: boolean }
