/** A column of a report: what it means, the platform's name of it, and the location of its value. */
export type ReportColumn = {
  readonly kind: 'dimension' | 'metric'
  /**
   * How a value is read. A missing value is null, never zero. A value that is not of the type does not change. `whole`,
   * `decimal`: numbers, which keep all their digits. `money`: an amount in units of the currency. `micros`, `cents`: an amount
   * in millionths or hundredths of a unit, which becomes units by moving the decimal point. `percent`: `12.5`, with or without
   * its sign, becomes the fraction 0.125. `day`: `2026-01-31`, `20260131`, `1/31/2026`, a time or an object with year, month
   * and day. `seconds`: a time in seconds since 1970, which becomes ISO 8601 in UTC. Values up to 0 are not a time. `boolean`:
   * true or false in any spelling. `time`, `text`: unchanged. `json`: any nested value.
   */
  readonly type:
    | 'text'
    | 'whole'
    | 'decimal'
    | 'money'
    | 'micros'
    | 'cents'
    | 'percent'
    | 'day'
    | 'time'
    | 'seconds'
    | 'boolean'
    | 'json'
  readonly description: string
  /** The platform's name of it in a request, if it differs. `null` if it is returned without being requested. */
  readonly ask?: string | null
  /**
   * The place of its value in a row: a key, or a path of keys such as `metrics.costMicros`. By default the name in the request.
   */
  readonly at?: string
  /** It is a fact of the account, and the same in every row. The value of the row has priority if it has one. */
  readonly of?: 'account' | 'name' | 'currency' | 'zone'
  /** Whether it is the day of the row. */
  readonly isDay?: boolean
  /** The levels that have it. By default all. */
  readonly levels?: readonly string[]
}

type Options = Omit<ReportColumn, 'kind' | 'type' | 'description'>

/** A column by which rows differ, or are described. */
export const dimension = (
  description: string,
  { type = 'text', ...options }: Options & { readonly type?: ReportColumn['type'] } = {},
): ReportColumn => ({ kind: 'dimension', type, description, ...options })

/** The column of the day. */
export const day = (description: string, options: Options = {}): ReportColumn => ({
  kind: 'dimension',
  type: 'day',
  description,
  isDay: true,
  ...options,
})

/** The column of the account, or of something that is known of it: its name, its currency, its time zone. */
export const ofAccount = (of: NonNullable<ReportColumn['of']>, description: string, options: Options = {}) =>
  ({ kind: 'dimension', type: 'text', description, of, ask: null, ...options }) satisfies ReportColumn

/** A figure. */
export const metric = (type: ReportColumn['type'], description: string, options: Options = {}): ReportColumn => ({
  kind: 'metric',
  type,
  description,
  ...options,
})
