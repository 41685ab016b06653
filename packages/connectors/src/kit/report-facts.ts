import type { ConnectorContext, ConnectorDefinition, Fields, Values } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import type { PlatformCall, PlatformClient } from '../platform-api/client.ts'
import type { JsonObject } from '../platform-api/json.ts'
import type { Auth, RestApi } from './api.ts'
import type { Lister } from './listing-facts.ts'
import type { ReportColumn } from './report-columns.ts'

/*
 * How to state a platform that reports figures. Copy `meta-ads/meta-insights.ts` (a job whose result has pages) or look at the
 * three made-up platforms of `run/reports.test.ts`, one for each form of report.
 *
 * 1. The kit asks for `{ account, from..to }`: whole days of one account, at most `days.chunk` of them. A row has its day.
 * 2. `report` says how: `pages` are calls with a cursor; a `job` is started, asked for its state, and read in pages; a `file`
 *    is started and asked in the same way, and is then read from an address. A function chooses one by level or setting.
 * 3. `columns` are what a row can have, by the names that the destination sees, made with `dimension` and `metric`
 *    (`report-columns.ts`): `ask` is the platform's name of it, `at` the place of its value in a row of the platform. Functions get
 *    the platform's names in `to.asks`.
 * 4. A row has the columns `always`, those of its level, the breakdowns and the metrics that the connection chose, or those of a
 *    preset. `always` has the column of the account (`of: 'account'`) and the one of the day (`isDay`): with `levels.x.key` and the
 *    breakdowns, these are the key of a row.
 * 5. Errors: map "the report is too large" to `batch_too_large` in `platformApi`: pages (`pageRows`), parts and days get smaller. Errors
 *    of one account are `permission_denied`, `object_not_found`, `account_restricted` and `request_refused`: it is named in the result,
 *    and the others are read. Refused credentials are such an error as long as `check.authentication` succeeds.
 * 6. The test is data: `testReportSource` in `test/test-report-source.ts` takes recorded requests with their answers, and the rows.
 */

/**
 * A source of reports as a statement of facts. The settings, the columns, the days that are read again because the platform restates
 * them, checkpoints by account and days, and the accounts that are refused follow from the facts.
 */
export type ReportSource = Omit<ConnectorDefinition, 'destination' | 'source' | 'check'> & {
  /** The platform's API. A function of the connector's secrets and settings if there are several hosts. */
  readonly platformApi: RestApi | ((context: Pick<ConnectorContext, 'secrets' | 'settings'>) => RestApi)
  readonly auth: Auth
  /**
   * Settings in addition to the settings of every report, such as attribution windows. Functions find their values in
   * `to.context.settings`.
   */
  readonly settings?: Fields
  readonly accounts: ReportAccounts
  /** The lists of values that settings can have. `accountIds` is the list of the accounts. */
  readonly listed?: Lister['listed']
  /** The objects that rows are about, such as ads. The first is the usual one. */
  readonly levels: Readonly<Record<string, ReportLevel>>
  /** The columns of every row, in any level, including the column of the account and the column of the day. */
  readonly always: readonly string[]
  /** The columns by which rows can be broken down. Each multiplies the rows. */
  readonly breakdowns: readonly string[]
  /** Common choices by name. The first is the default. A choice of the connection replaces that part of the preset. */
  readonly presets: Readonly<Record<string, ReportPreset>>
  readonly columns: Readonly<Record<string, ReportColumn>>
  /** Names that the facts do not list and a connection can enter, such as metrics that an organization defined. */
  readonly free?: {
    readonly breakdowns?: FreeNames
    readonly metrics?: FreeNames
  }
  /** Values that mean nothing, in any column that is not JSON, besides empty ones: `['-', '--']`. */
  readonly nulls?: readonly string[]
  readonly days: ReportDays
  readonly report: ReportForm | ((to: ReportRequest) => ReportForm)
  /**
   * Lists the parts of an account's report that are requested separately, such as the IDs of its campaigns. They are read in
   * the order of their texts. One request, which finds them in `to.ids`, reads `atOnce` parts (at most 100). If there are no
   * parts, nothing is requested.
   */
  readonly parts?: {
    readonly list: (client: PlatformClient, to: ReportRequest) => Promise<readonly string[]>
    readonly atOnce: number
    /** A prefix that all parts of one request share. By default, no prefix. */
    readonly groupOf?: (part: string) => string
  }
  /**
   * How many workers can read concurrently for one transfer, each some accounts or days: the number that the platform's limits
   * allow, including everything that they do concurrently, such as jobs. By default 1: one worker reads everything.
   */
  readonly readers?: number
  /**
   * How many metrics one request can name, if not all. Otherwise there are several requests, and rows with the same key become
   * one.
   */
  readonly metricsMax?: number
  /**
   * The facts that other settings of the connection replace, such as a query in the platform's language, or months instead of
   * days. `undefined` if they replace none. Throws `invalid_setting`.
   */
  readonly changed?: (settings: Values) => ChangedFacts | undefined
  /** Why the platform would refuse what a connection chose, in a sentence. It is asked before the first request. */
  readonly refuses?: (choice: ReportChoice) => string | undefined
  /** Tries the credentials and the permissions. */
  readonly check: {
    readonly authentication: (context: ConnectorContext) => PlatformCall
    readonly permissions?: (context: ConnectorContext) => PlatformCall
    /** The permission that an answer lacks, in a sentence with its remedy. */
    readonly lacks?: (answer: Answer) => string | undefined
  }
}

/**
 * The facts that reading needs: a report, or a list without days, which each transfer reads completely (`entity-source.ts`).
 */
export type ReadFacts = Omit<ReportSource, 'days'> & { readonly days?: ReportDays }

/** Facts that replace facts of `ReportSource`. @param days `none`: rows have no days, and each transfer reads all rows */
export type ChangedFacts = Partial<
  Pick<ReportSource, 'always' | 'levels' | 'breakdowns' | 'presets' | 'columns' | 'report'>
> & { readonly days?: ReportDays | 'none' }

export type ReportAccounts = {
  /** The label of the setting, as people of the platform say: `Ad account IDs`. */
  readonly label: string
  readonly id: RegExp
  /** An ID, for messages. */
  readonly example: string
  /** Whether a connection that names no account reads all accounts of `listed.accountIds`. */
  readonly all?: boolean
  /** The normal form of an ID that can be written in several ways. Rows, checkpoints and functions use it. */
  readonly normal?: (id: string) => string
  /**
   * A request for an account, before its report. `about` then reads the answer. Without it, nothing is known about the account.
   */
  readonly get?: (account: string, context: ConnectorContext) => PlatformCall
  readonly about?: (answer: Answer, account: string) => AccountFacts
  /**
   * Facts that need further requests, such as the currency if another object contains it. They are added to the facts of
   * `about`.
   */
  readonly more?: (client: PlatformClient, account: string) => Promise<AccountFacts>
}

/** Facts about an account. Columns with `of` have it in every row. */
export type AccountFacts = {
  readonly name?: string | undefined
  /** ISO 4217. */
  readonly currency?: string | undefined
  /** The time zone by which its days begin, by its name in the database of IANA. */
  readonly zone?: string | undefined
  /** Anything else that functions need of it. */
  readonly more?: JsonObject
}

export type ReportLevel = {
  /** The columns by which the rows of one day of one account differ: IDs, which do not change as names do. */
  readonly key: readonly string[]
  /** The other columns of the level, such as names. */
  readonly columns?: readonly string[]
  /** How far back the platform has reports of this level, and how many days one report can cover, if this level differs. */
  readonly days?: Partial<Pick<ReportDays, 'backMax' | 'chunk'>>
}

export type ReportPreset = {
  /** By default the first one. */
  readonly level?: string
  readonly breakdowns?: readonly string[]
  readonly metrics: readonly string[]
}

/** Names that a connection can enter, separated by commas. A column has the name as the platform knows it. */
export type FreeNames = {
  readonly label: string
  readonly pattern: RegExp
  readonly example: string
  /** The type of their values. By default `text` for breakdowns and `decimal` for metrics. */
  readonly type?: ReportColumn['type']
  /** The location of a value in a row of the platform. By default the name itself. */
  readonly at?: (name: string) => string
  /** Whether names can contain spaces, so that only commas and semicolons separate them. */
  readonly spaced?: boolean
}

export type ReportDays = {
  /** How many days back the platform has reports. */
  readonly backMax: number
  /** How many days it restates, usually: they are read again. */
  readonly lookBack: number
  /** How many days one report can cover at most. With 1, rows need no day. */
  readonly chunk: number
  /** `month`: each report is one of a month, whose rows have its first day. The month that has not ended is read to its newest day. */
  readonly by?: 'month'
  /** The age in days of the newest day with figures. 0 is today, and the default. */
  readonly newest?: number
  /**
   * The time zone in which days begin: the time zone of each account (UTC if it names none), the same for all, or the one that
   * a setting names. `account` by default.
   */
  readonly zone?: 'account' | { readonly fixed: string } | { readonly setting: string }
}

/** The choices of a connection. */
export type ReportChoice = {
  readonly level: string
  /** Columns, by our names. */
  readonly breakdowns: readonly string[]
  readonly metrics: readonly string[]
  readonly settings: Values
}

/** The report of some days of one account. */
export type ReportRequest = Omit<ReportChoice, 'settings'> & {
  readonly account: string
  readonly about: AccountFacts
  /** The first day and the last day, YYYY-MM-DD, in `zone`. They are the same for one day. */
  readonly from: string
  readonly to: string
  /** The time zone of the days, by its name in the database of IANA. */
  readonly zone: string
  /** All columns of a row, by our names. */
  readonly columns: readonly string[]
  /** The platform's names of what a request asks for, each once. Columns of the account, and those without a name, are not there. */
  readonly asks: {
    readonly always: readonly string[]
    readonly level: readonly string[]
    readonly breakdowns: readonly string[]
    /** With `metricsMax`, the metrics of this request. */
    readonly metrics: readonly string[]
  }
  /** The parts of this request, from `parts`. Empty without `parts`. */
  readonly ids: readonly string[]
  /** Maximum number of rows of the page, if the form has `pageRows`. */
  readonly pageRows?: number
  readonly context: ConnectorContext
}

export type ReportForm = PagesReport | JobReport | FileReport

/** Calls that return rows, with a cursor to the next page. */
export type PagesReport = {
  readonly form: 'pages'
  /** @param cursor what `next` made of the page before */
  readonly page: (to: ReportRequest, cursor: string | undefined) => PlatformCall
  /**
   * The rows of a page. `undefined` if the answer has no list of rows, which is an error: an empty report has an empty list.
   * Numbers that a double cannot represent are texts in `answer.json`, so that no digit is lost.
   */
  readonly rows: (answer: Answer, to: ReportRequest) => readonly JsonObject[] | undefined
  /**
   * The value of the answer that contains the cursor of the next page. Without it, there is one page. Undefined and null mean
   * that the page is the last one. A text of at most 4,000 characters is a cursor. Anything else fails with
   * `malformed_response`.
   */
  readonly next?: ((answer: Answer, page: PageAt) => unknown) | undefined
  /**
   * Maximum number of rows of a page, if a request states it. `to.pageRows` is this number, or a smaller one after the platform
   * reported that a page is too large (`batch_too_large`). The cursor must not depend on it.
   */
  readonly pageRows?: number
}

/** The page that was read: its cursor, and how many rows it had. */
export type PageAt = { readonly cursor: string | undefined; readonly rows: number; readonly to: ReportRequest }

type StartedReport = {
  /**
   * Starts a report. If the platform answers that the same one is being made, `expects` of the call lets the answer through, and
   * `started` finds its ID. Several calls: a function with the client, which resolves with the ID.
   */
  readonly start:
    | ((to: ReportRequest) => PlatformCall)
    | { readonly by: (client: PlatformClient, to: ReportRequest) => Promise<string> }
  /** The ID of the report, at most 2,000 characters. It is kept, so that it is found again after a crash. */
  readonly started?: (answer: Answer) => string | undefined
  readonly state: (job: string, to: ReportRequest) => PlatformCall
  /** `gone`: the platform forgot or dropped the report. It is started again at most 3 times, and after `failed` at most 2 times. */
  readonly stateOf: (answer: Answer, job: string, to: ReportRequest) => ReportState
  /** Time limit of a report, in milliseconds. */
  readonly totalMs: number
  /** Deletes the report at the platform once it is read. An error of it is ignored. */
  readonly discard?: (job: string, to: ReportRequest) => PlatformCall
}

/** `too large`: request it in halves of its parts, or of its days. */
export type ReportState = 'running' | 'done' | 'failed' | 'gone' | 'too large'

/** A report that is made by a job, and read in pages. @param done the answer with the state of the job */
export type JobReport = StartedReport & {
  readonly form: 'job'
  readonly page: (job: string, cursor: string | undefined, to: ReportRequest, done: Answer) => PlatformCall
  readonly rows: PagesReport['rows']
  readonly next?: PagesReport['next']
  readonly pageRows?: number
}

/** A report that is made by a job, and read as a file, piece by piece. It is unpacked if it begins like gzip or ZIP. */
export type FileReport = StartedReport & {
  readonly form: 'file'
  /** Where the file is. `undefined` if there are no rows. @param done the answer with the state of the job */
  readonly file: (done: Answer, to: ReportRequest, job: string) => ReportFile | undefined
  readonly content: ReportContent
}

export type ReportFile = {
  /** An address with https, which can belong to a store of the platform. */
  readonly url: string
  /** The hosts of the platform's files, if they are known: an address at any other host fails, and a redirect does. */
  readonly hosts?: RegExp
  /** Headers of the request. It has no credentials unless they are among them. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Whether the request is signed in as others are: only to an address of the platform's API, or to one whose host matches. Anything
   * else fails.
   */
  readonly signedIn?: true | { readonly host: RegExp }
}

export type ReportContent =
  | {
      readonly format: 'csv' | 'tsv'
      /** Which line contains the names of the columns: the first line with a cell that matches. By default the first line. */
      readonly header?: RegExp
      /**
       * The names of the columns, in their order, if the header contains labels instead. The file must have exactly this number
       * of columns. Throws `invalid_setting` if the header does not contain what the connection chose.
       */
      readonly names?: (to: ReportRequest, header: readonly string[]) => readonly string[]
      /** The line at which the rows end: the first empty one, or the first that begins like this. By default to the end. */
      readonly ends?: 'empty line' | RegExp
      /** Lines that are not rows, such as totals, by their first cell. `''` if that is empty. */
      readonly omits?: RegExp
    }
  | {
      readonly format: 'json' | 'json lines'
      /** Where the list is in a document that is an object: `data`, `result.rows`; `*` for the lists of all its keys. */
      readonly at?: string
      /** The rows of an element. By default the element itself. */
      readonly rows?: (element: JsonObject, to: ReportRequest) => readonly JsonObject[]
    }
