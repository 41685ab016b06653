import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { errorSides, transferStatuses, transferTriggers } from '../terms.ts'
import { type Static, type TSchema, Type } from '../type.ts'
import { AuditActor } from './audit.ts'
import { ConnectionConfig } from './connection.ts'
import { ruleResults } from './connection-rule.ts'
import { columnChanges } from './drift.ts'
import { count, exactly, flag, identifier, oneOf, text, unixSeconds } from './kinds.ts'
import { Replayable } from './reject.ts'
import { records, skipped } from './transfer-counts.ts'
import { backfillOf, backfillOption } from './transfer-range.ts'
import { TransferRoute } from './transfer-route.ts'

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
      'queued: waiting for a worker. running. succeeded: every record was accepted. partial: it ended, and some records were rejected. failed: it stopped before the end, error says why. cancelled: a call or a change of the connection stopped it',
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
const runTimeConfigs = {
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
  },
  { description: 'Options of the transfer', examples: [{}] },
)

/** Request of Preview Connection. */
export const PreviewConnection = exactly(
  {
    ...runTimeConfigs,
    unmapped: Type.Optional(
      flag('Returns the records with the columns of the source, before the mapping, and `matches`', true),
    ),
    partial: Type.Optional(
      flag(
        'If a part of the mapping is invalid, shows the valid fields, and returns `mappingErrors`. The destination is not asked',
        true,
      ),
    ),
  },
  { description: 'Options of the preview', examples: [{}] },
)

/** Response of Preview Connection. */
export const Preview = exactly(
  {
    columns: Type.Array(
      text('Field of the destination, or column of the source if the destination accepts any columns', 'email'),
      {
        description: 'The fields that would be sent',
      },
    ),
    rows: Type.Array(Type.Array(maybe(text('Value as it would be sent, shortened', '5f2a91c0…'))), {
      description: 'Up to 100 records as they would be sent, identifiers shortened',
    }),
    createdColumns: Type.Optional(
      Type.Array(
        exactly(
          { name: text('Name of the column', 'zip'), type: text('Type, in the words of the platform', 'text') },
          { description: 'Column of the table that is created' },
        ),
        {
          description:
            'Columns of the table that a transfer would create, with their types. The setting columnTypes of the destination changes them. Absent if no table is created',
        },
      ),
    ),
    filtered: count('Number of read records that the filter skips', 0),
    duplicates: count('Number of read records with the same key as another record that is sent', 0),
    rejected: Type.Array(
      exactly(
        {
          row: Type.Integer({ minimum: 1, description: 'Number of the record, from 1', examples: [3] }),
          field: maybe(text('Field that caused it, if known', 'email')),
          reason: text('Why it would not be sent', 'email is not an e-mail address'),
        },
        { description: 'Record that would not be sent' },
      ),
    ),
    lint: Type.Array(
      exactly(
        {
          field: text('Field of the destination', 'email'),
          column: text('Column of the source that fills it, or the expression', 'E-Mail'),
          records: count('Records looked at', 100),
          missing: count('Records without a value', 2),
          malformed: count('Values that cannot be converted to the format of the field', 1),
          unnormalised: count('Values that were normalised', 12),
          alreadyHashed: count('Values that are hashed already', 0),
          hashedTwice: count('Values that look hashed twice', 0),
          wrongHashLength: count('Values that look like a hash of another kind', 0),
          mixedKinds: count('Values of another kind than most values of the column', 0),
          samples: Type.Array(
            exactly(
              {
                before: text('Value of the source, shortened', 'A…@e….com'),
                after: maybe(text('Value as it would be sent, shortened; null if it cannot be used', '5f2a91c0…')),
              },
              { description: 'Value before and after the mapping' },
            ),
            { description: 'Up to 3 different values: a valid one, an invalid one, then others' },
          ),
          forms: Type.Optional(
            Type.Array(
              exactly(
                {
                  setting: oneOf(['numbers', 'dates', 'timezone'] as const, {
                    description: 'Key of the mapping entry that defines the form of the values',
                    examples: ['numbers'],
                  }),
                  proposed: maybe(
                    text('Value of that key for which all values are valid; null if it is ambiguous', 'comma'),
                  ),
                  reason: oneOf(['shown', 'ambiguous', 'contradicting', 'missing', 'default'] as const, {
                    description:
                      '`shown`: a value can be read in only one way. `ambiguous`: values can be read in two ways. `contradicting`: some values can be read only in one way, others only in the other way. `missing`: times have no time zone. `default`: times have no time zone, and `defaultTimezone` of the destination applies',
                    examples: ['shown'],
                  }),
                  example: maybe(text('Value that shows it; null if it is too long', '1.001,50')),
                },
                { description: 'Finding about the form of values' },
              ),
              {
                description:
                  'Forms of numbers and times that the mapping does not define: detected from the values, or ambiguous. A proposal has no effect until it is in the mapping',
              },
            ),
          ),
        },
        { description: 'Statistics on the values of one field' },
      ),
    ),
    findings: Type.Array(
      exactly(
        {
          code: text('Stable code; equals the error code of a transfer that would fail', 'column_not_found'),
          message: text('What was found, and what to do', 'The table people has no column city; add it.'),
          column: maybe(text('Column of the problem, or null', 'city')),
        },
        { description: 'Problem that would make a transfer fail, reject records, or leave rows of the source unread' },
      ),
      {
        maxItems: limits.previewFindingsMax,
        description:
          'Problems that the source and the destination report for these fields; empty without problems, if the connectors do not support this, and with `unmapped`',
      },
    ),
    route: Type.Optional(TransferRoute),
    matches: Type.Optional(
      Type.Array(
        exactly(
          {
            field: text('Field of the destination', 'email'),
            column: maybe(text('Column that matches by name; null if this is not certain', 'E-Mail Address')),
            candidates: Type.Array(Type.String(), {
              description: 'Possible columns if no column matches with certainty',
              examples: [['Billing Country', 'Shipping Country']],
            }),
            byDefault: maybe(text('Column that a transfer uses if the mapping does not contain the field', 'email')),
          },
          { description: 'Columns that match a field by name' },
        ),
        {
          description:
            'With `unmapped`: proposals for a mapping, for fields that match a column by name. A transfer uses only `byDefault`',
        },
      ),
    ),
    mappingErrors: Type.Optional(
      Type.Array(
        exactly(
          {
            field: text('Path of the field in the settings', 'destConnectionConfig.mapping.email'),
            message: text('The problem, and what to do', 'has no column in the source'),
          },
          { description: 'Error of a field of the mapping' },
        ),
        { description: 'With `partial`: why the mapping is invalid; absent if it is valid' },
      ),
    ),
  },
  { description: 'Records that a transfer would send, and problems at the source and at the destination' },
)
export type Preview = Static<typeof Preview>

const scheduleFields = {
  cron: Type.String({
    minLength: 1,
    maxLength: limits.cronLengthMax,
    description: 'When to start transfers, as a cron expression: minute, hour, day of month, month, day of week',
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
