import type { ConnectorContext, ConnectorDefinition, Fields } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import type { PlatformCall } from '../platform-api/client.ts'
import type { JsonObject } from '../platform-api/json.ts'
import type { Auth, RestApi } from './api.ts'
import type { Lister } from './listing-facts.ts'

/**
 * A source of reports as a statement of facts: a report of one day of one account at a time, for all accounts that a connection
 * names. The settings, the columns, the days that are read again because the platform restates them, checkpoints by account and
 * day, and the accounts that are refused follow from the facts.
 */
export type ReportSource = Omit<ConnectorDefinition, 'destination' | 'source' | 'check'> & {
  readonly platformApi: RestApi
  readonly auth: Auth
  /** Settings besides those of every report: accounts, level, days, breakdowns, metrics. */
  readonly settings?: Fields
  readonly accounts: {
    /** The label of the setting, as people of the platform say: `Ad account IDs`. */
    readonly label: string
    readonly id: RegExp
    /** An ID, for messages. */
    readonly example: string
    readonly get: (account: string, context: ConnectorContext) => PlatformCall
    /** The time zone by which the days of the account begin, by its name in the database of IANA. */
    readonly zoneOf: (answer: Answer) => string | undefined
  }
  /** What settings can name; `accountIds` is that of the accounts. */
  readonly listed?: Lister['listed']
  /** The levels of the report, each with its columns, of which the IDs and the names are. The first is the usual one. */
  readonly levels: Readonly<Record<string, readonly string[]>>
  /** The columns of every row, in any level. */
  readonly always: readonly string[]
  /** The columns by which rows can be broken down; each multiplies them. */
  readonly breakdowns: readonly string[]
  /** The metrics that are read unless the connection names others. */
  readonly usualMetrics: readonly string[]
  readonly columns: Readonly<Record<string, ReportColumn>>
  readonly days: {
    /** How many days back the platform has reports. */
    readonly backMax: number
    /** How many days it restates, usually: they are read again. */
    readonly lookBack: number
  }
  readonly job: ReportJob
  /** Tries the credentials and the permissions. */
  readonly check: {
    readonly authentication: (context: ConnectorContext) => PlatformCall
    readonly permissions?: (context: ConnectorContext) => PlatformCall
    /** The permission that an answer lacks, in a sentence with its remedy. */
    readonly lacks?: (answer: Answer) => string | undefined
  }
}

export type ReportColumn = {
  readonly kind: 'dimension' | 'metric'
  /** `whole` and `decimal` are numbers, which keep all their digits; `json` is anything that is nested. */
  readonly type: 'text' | 'whole' | 'decimal' | 'day' | 'json'
  readonly description: string
}

/** The report of one day of one account. */
export type ReportRequest = {
  readonly account: string
  /** YYYY-MM-DD, in the time zone of the account. */
  readonly day: string
  readonly level: string
  readonly columns: readonly string[]
  readonly breakdowns: readonly string[]
  readonly metrics: readonly string[]
  readonly context: ConnectorContext
}

/** How the platform makes a report: a job is started, asked for its state, and read in pages. */
export type ReportJob = {
  readonly start: (to: ReportRequest) => PlatformCall
  readonly started: (answer: Answer) => string | undefined
  readonly state: (job: string, to: ReportRequest) => PlatformCall
  /** `gone`: the platform forgot the job or dropped it, so that it is started again. */
  readonly stateOf: (answer: Answer) => 'running' | 'done' | 'failed' | 'gone'
  readonly page: (job: string, cursor: string | undefined, to: ReportRequest) => PlatformCall
  readonly rows: (answer: Answer) => readonly JsonObject[]
  readonly next: (answer: Answer) => string | undefined
  /** How long a job takes at most, in milliseconds. */
  readonly totalMs: number
}
