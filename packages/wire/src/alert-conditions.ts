/**
 * The conditions of an alert rule (not in the specification). The contract, the columns of the database, configuration as code,
 * the form of the console and the table of `docs/alerts.md` are derived from this table. `alerts/reasons.ts` of the server
 * evaluates the conditions.
 */

type Condition = {
  /** When an incident begins. */
  readonly begins: string
  /** When it is over. */
  readonly ends: string
}
/** A condition with a bound. Null: it is not checked. */
export type AlertAmount = Condition & {
  readonly min: number
  readonly max: number
  /** The bound that forms propose. */
  readonly usual: number
  readonly isDecimal?: boolean
}

export const alertConditions = {
  transferFailed: {
    begins: 'The newest transfer that was not cancelled failed',
    ends: 'a later transfer succeeded, wholly or partly',
  },
  connectionBroken: {
    begins: 'The connection became broken or offline',
    ends: 'it is active, and a later transfer succeeded',
  },
  rejectedPercent: {
    begins: 'The newest transfer that succeeded rejected more than this share of its records, in percent',
    ends: 'a later transfer rejected no more than this share',
    min: 0,
    max: 100,
    usual: 5,
    isDecimal: true,
  },
  noSuccessHours: {
    begins:
      'No transfer succeeded for this number of hours, counted from the last success, or from when the connection was created or became active after it',
    ends: 'a transfer succeeded',
    min: 1,
    max: 8_760,
    usual: 26,
  },
  volumePercent: {
    begins:
      'The records of the last full day (UTC) differ by more than this percentage from the median of the same weekday of the last 8 weeks',
    ends: 'the records of a later day are usual',
    min: 10,
    max: 1_000,
    usual: 50,
  },
  logKeptGb: {
    begins:
      'The server of a source keeps at least this number of GiB of its log for the connection, also while it is disabled, or has removed or will soon remove changes that were not read yet',
    ends: 'it keeps less, and has all changes',
    min: 1,
    max: 100_000,
    usual: 10,
  },
  behindMinutes: {
    begins: 'The connection reads an event stream, and an event has waited for at least this number of minutes',
    ends: 'no event has waited for this long',
    min: 1,
    max: 7 * 24 * 60,
    usual: 15,
  },
  audienceBelow: {
    begins: 'An audience that the connection feeds has fewer people than this, as the platform reports once a day',
    ends: 'the platform reports at least this number',
    min: 1,
    max: 1_000_000_000,
    usual: 1_000,
  },
  matchFellPercent: {
    begins:
      'The share of people that the platform matches in an audience is lower by at least this percentage than its average of the 7 days before',
    ends: 'a later measure is less far below the average',
    min: 1,
    max: 99,
    usual: 20,
  },
} as const satisfies Record<string, Condition | AlertAmount>

type Conditions = typeof alertConditions
export type AlertConditionName = keyof Conditions
export type AlertAmountName = {
  [K in AlertConditionName]: Conditions[K] extends AlertAmount ? K : never
}[AlertConditionName]
/** The conditions of a rule, with their bounds. */
export type AlertConditions = { [K in AlertConditionName]: K extends AlertAmountName ? number | null : boolean }

export const alertConditionNames = Object.keys(alertConditions) as AlertConditionName[]
/** The conditions with a bound. */
export const alertAmounts: Readonly<Record<AlertAmountName, AlertAmount>> = Object.fromEntries(
  Object.entries<Condition | AlertAmount>(alertConditions).filter(([, condition]) => 'usual' in condition),
) as Record<AlertAmountName, AlertAmount>
export const isAlertAmount = (name: AlertConditionName): name is AlertAmountName => Object.hasOwn(alertAmounts, name)

/** The conditions of a rule that looks for nothing. */
export const noAlertConditions = Object.fromEntries(
  alertConditionNames.map((name) => [name, isAlertAmount(name) ? null : false]),
) as AlertConditions

/** The reasons of incidents, the worst first, and the condition that looks for each. */
export const alertConditionOf = {
  connection_broken: 'connectionBroken',
  connection_offline: 'connectionBroken',
  columns_changed: 'transferFailed',
  transfer_failed: 'transferFailed',
  transfer_partial: 'rejectedPercent',
  no_success: 'noSuccessHours',
  volume_unusual: 'volumePercent',
  log_kept: 'logKeptGb',
  behind_stream: 'behindMinutes',
  audience_small: 'audienceBelow',
  match_fell: 'matchFellPercent',
} as const satisfies Record<string, AlertConditionName>
export type AlertReason = keyof typeof alertConditionOf
export const alertReasons = Object.keys(alertConditionOf) as AlertReason[]
