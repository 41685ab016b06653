import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { errorSides, transferStatuses, transferTriggers } from '../terms.ts'
import { type Static, type TSchema, Type } from '../type.ts'
import { AuditActor } from './audit.ts'
import { ConnectionConfig } from './connection.ts'
import { ruleResults } from './connection-rule.ts'
import { columnChanges } from './drift.ts'
import { count, exactly, flag, identifier, oneOf, tableNames, text, unixSeconds } from './kinds.ts'
import { Replayable } from './reject.ts'
import { records, skipped } from './transfer-counts.ts'
import { backfillOf, backfillOption } from './transfer-range.ts'

const maybe = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

/** Error of a transfer, a preview or a check. */
export const TransferError = exactly(
  {
    code: text('Error code', 'invalid_credentials'),
    message: text('What happened and what to do', 'Meta refused the access token: save a new one.'),
    side: oneOf(errorSides, {
      description: 'Side of the connection on which it happened; service if on neither side',
      examples: ['destination'],
    }),
    connectorId: maybe(
      identifier('The connector of that side; null if the side is service', example.destination.connectorId),
    ),
  },
  { description: 'Error of a transfer, a preview or a check' },
)
export type TransferError = Static<typeof TransferError>

const transferFields = {
  id: identifier('the transfer', example.transferId),
  connectionId: identifier('the connection', example.connectionId),
  accountId: identifier('the sub-account', example.accountId),
  status: oneOf(transferStatuses, {
    description:
      'queued: waiting for a worker. running. succeeded: every record was accepted. partial: it ended, and some records were rejected, or some of many tables failed (error). failed: it stopped before the end, error says why. cancelled: a call or a change of the connection stopped it',
    examples: ['partial'],
  }),
  trigger: oneOf(transferTriggers, {
    description:
      'manual: a call. schedule: the schedule. replay: the replay of rejected records. dependency: a connection after which this one runs succeeded; startedBy names it. url: a trigger',
    examples: ['manual'],
  }),
  startedBy: Type.Union([AuditActor, Type.Null()], {
    description: 'Who started it; null for transfers from before this was recorded',
  }),
  test: flag(
    'Whether it is a test: it sends a few records, and does not affect volume, reports, alerts and the status of the connection',
    false,
  ),
  backfill: backfillOf,
  tables: Type.Optional(
    tableNames(limits.driftTablesMax, 'The only tables that it moves. Absent if it moves all tables, or one'),
  ),
  createdTime: unixSeconds('When it was requested', example.createdTime),
  startedTime: maybe(unixSeconds('When a worker first claimed it', example.createdTime)),
  finishedTime: maybe(unixSeconds('When it ended', example.createdTime + 95)),
  records,
  removed: count('Accepted records that removed a row at the destination, because it left the source', 0),
  skipped,
  bytes: count('Bytes sent to the destination', 48_000_000),
  progress: maybe(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Processed part of the source, 0 to 1; null if it is unknown',
      examples: [1],
    }),
  ),
  attempt: count('Number of attempts; more than 1 after a crash', 1),
  waitsForGroup: maybe(text('While it is queued: the group for whose limit it waits; otherwise null', 'warehouse')),
  columnChanges: columnChanges('Columns that changed since the previous successful transfer'),
  rules: ruleResults,
  error: maybe(
    Type.Unsafe<TransferError>({
      ...TransferError,
      description: 'Why it failed, or the error after which it is being retried',
    }),
  ),
}

/** One transfer of a connection. */
export const Transfer = exactly(transferFields, { description: 'Transfer' })
export type Transfer = Static<typeof Transfer>

/** Response of Replay Transfer. */
export const ReplayTransfer = exactly(
  { ...transferFields, rejects: Replayable },
  { description: 'Transfer of rejected records, and what it sends' },
)
export type ReplayTransfer = Static<typeof ReplayTransfer>

const config = (side: string) =>
  Type.Optional(
    Type.Unsafe<ConnectionConfig>({
      ...ConnectionConfig,
      description: `Settings of ${side} for this transfer; they override the settings of the connection`,
    }),
  )
export const runTimeConfigs = {
  srcConnectionConfig: config('the source'),
  destConnectionConfig: config('the destination'),
}

/** Request of Start Transfer. */
export const StartTransfer = exactly(
  {
    ...runTimeConfigs,
    confirm: Type.Optional(
      flag('Confirms a transfer that would replace all data with much less, or with nothing', true),
    ),
    test: Type.Optional(
      exactly(
        {
          rows: Type.Integer({
            minimum: 1,
            maximum: limits.testRowsMax,
            description: 'Maximum number of records that it reads and really sends',
            examples: [10],
          }),
        },
        { description: 'Makes the transfer a test' },
      ),
    ),
    backfill: backfillOption,
    tables: Type.Optional(
      tableNames(limits.driftTablesMax, 'Of many tables: moves only these, which earlier transfers listed'),
    ),
  },
  { description: 'Options of the transfer', examples: [{}] },
)

const scheduleFields = {
  cron: Type.String({
    minLength: 1,
    maxLength: limits.cronLengthMax,
    description:
      'When to start transfers, as cron: minute, hour, day of month, month, day of week. `@continuous`: as soon as a stream has events',
    examples: ['0 6 * * *'],
  }),
  timezone: Type.String({
    minLength: 1,
    maxLength: limits.timezoneLengthMax,
    description: 'IANA time zone of the cron expression',
    examples: ['Europe/Berlin'],
  }),
  enabled: flag('Whether the schedule starts transfers'),
}

/** Request of Set Schedule. */
export const SetSchedule = exactly(
  {
    ...scheduleFields,
    timezone: Type.Optional(scheduleFields.timezone),
    enabled: Type.Optional(scheduleFields.enabled),
  },
  { description: 'Schedule to set' },
)
const setSchedule = {
  connectionId: identifier('the connection', example.connectionId),
  ...scheduleFields,
  nextTime: maybe(unixSeconds('Next transfer; null if the schedule is not enabled', example.updatedTime)),
  lastTime: maybe(unixSeconds('When it last ran', example.createdTime)),
  paused: flag('Whether the operator paused all schedules, for example after a restore'),
}
/** When transfers of a connection start without a call. */
export const Schedule = exactly(setSchedule, { description: 'Schedule' })
export type Schedule = Static<typeof Schedule>
/** Entry of the list of schedules. */
export const ScheduleEntry = exactly(
  { accountId: identifier('the sub-account', example.accountId), ...setSchedule },
  { description: 'Schedule of a connection' },
)
export type ScheduleEntry = Static<typeof ScheduleEntry>

/** Response of Check Connector. */
export const CheckResult = exactly(
  {
    ok: flag('Whether every step succeeded'),
    message: text('Result in a sentence', 'Everything works.'),
    checks: Type.Array(
      exactly(
        {
          name: text('The step', 'authentication'),
          ok: flag('Whether the step succeeded'),
          message: text('What it found', 'The access token is good until 1 March 2027.'),
          suggestion: maybe(
            exactly(
              {
                field: text('The field of the configuration', 'bastionHostKey'),
                value: text('The value', 'SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU'),
              },
              {
                description:
                  'A value with which the step can succeed, such as the key that a server showed. A person must confirm it. Null if there is none',
              },
            ),
          ),
        },
        { description: 'Step of a check' },
      ),
    ),
    error: maybe(
      Type.Unsafe<TransferError>({
        ...TransferError,
        description:
          'Why it failed; null if every step succeeded. For a connector with both roles, the side is source.',
      }),
    ),
    checkedTime: unixSeconds('When it was checked'),
  },
  { description: 'Result of a check' },
)
export type CheckResult = Static<typeof CheckResult>
