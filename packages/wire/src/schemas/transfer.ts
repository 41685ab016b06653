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
      description: 'Side of the connection on which it happened; service if on neither',
      examples: ['destination'],
    }),
    connectorId: maybe(
      identifier('The connector of that side; null where the side is service', example.destination.connectorId),
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
      'manual: a call. schedule: the schedule. replay: the replay of rejected records. dependency: a connection that it runs after ended well; startedBy names it. url: a trigger',
    examples: ['manual'],
  }),
  startedBy: Type.Union([AuditActor, Type.Null()], {
    description: 'Who started it; null for transfers from before this was recorded',
  }),
  test: flag(
    'Whether it is a test: it sends a few records, and is left out of volume, reports, alerts and the status of the connection',
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
  waitsForGroup: maybe(text('While it is queued: the group whose limit it waits for; otherwise null', 'warehouse')),
  columnChanges: columnChanges('Columns that changed since the last successful transfer before it'),
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
      description: `Settings of ${side} for this transfer; they override those of the connection`,
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
            description: 'How many records it reads and really sends at most',
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
        'If a part of the mapping is invalid, shows the fields that are valid, and returns `mappingErrors`. The destination is not asked',
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
      text('Field of the destination, or column of the source where the destination takes any', 'email'),
      {
        description: 'The fields that would be sent',
      },
    ),
    rows: Type.Array(Type.Array(maybe(text('Value as it would be sent, shortened', '5f2a91c0…'))), {
      description: 'Up to 100 records as they would be sent, identifiers shortened',
    }),
    filtered: count('How many of the records that were read the filter leaves out', 0),
    duplicates: count('How many of the records that were read have the key of another one that is sent', 0),
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
          hashedTwice: count('Values that look as if they were hashed twice', 0),
          wrongHashLength: count('Values that look like a hash of another kind', 0),
          mixedKinds: count('Values of another kind than most of the column', 0),
          samples: Type.Array(
            exactly(
              {
                before: text('Value of the source, shortened', 'A…@e….com'),
                after: maybe(text('Value as it would be sent, shortened; null if it cannot be used', '5f2a91c0…')),
              },
              { description: 'Value before and after the mapping' },
            ),
            { description: 'Up to 3 different values: one that fits, one that does not, then others' },
          ),
          forms: Type.Optional(
            Type.Array(
              exactly(
                {
                  setting: oneOf(['numbers', 'dates', 'timezone'] as const, {
                    description: 'Key of the entry of the mapping that says how values are written',
                    examples: ['numbers'],
                  }),
                  proposed: maybe(text('Value of that key which all values fit; null if they leave it open', 'comma')),
                  reason: oneOf(['shown', 'ambiguous', 'contradicting', 'missing', 'default'] as const, {
                    description:
                      '`shown`: a value can only be read so. `ambiguous`: values can be read in two ways. `contradicting`: some values can only be read in one way, others only in the other. `missing`: times have no time zone. `default`: they have none, and `defaultTimezone` of the destination gives it',
                    examples: ['shown'],
                  }),
                  example: maybe(text('Value that shows it; null if it would have to be shortened', '1.001,50')),
                },
                { description: 'Finding about how values are written' },
              ),
              {
                description:
                  'How numbers and times are written, as far as the mapping does not say it and the values show it, or leave it open. Nothing follows a proposal until it is in the mapping',
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
          column: maybe(text('Column that it is about, or null', 'city')),
        },
        { description: 'Problem that would make a transfer fail, reject records, or leave rows of the source unread' },
      ),
      {
        maxItems: limits.previewFindingsMax,
        description:
          'Problems that the source and the destination report for these fields; empty if there are none, if the connectors cannot ask, and with `unmapped`',
      },
    ),
    route: Type.Optional(TransferRoute),
    matches: Type.Optional(
      Type.Array(
        exactly(
          {
            field: text('Field of the destination', 'email'),
            column: maybe(
              text('Column that its name shows to be meant; null if that is not certain', 'E-Mail Address'),
            ),
            candidates: Type.Array(Type.String(), {
              description: 'Columns that may be meant if none is certain',
              examples: [['Billing Country', 'Shipping Country']],
            }),
            byDefault: maybe(text('Column that a transfer takes if the mapping does not name the field', 'email')),
          },
          { description: 'Columns whose names fit a field' },
        ),
        {
          description:
            'With `unmapped`: proposals for a mapping, of the fields that a name of a column fits. A transfer follows none but `byDefault`',
        },
      ),
    ),
    mappingErrors: Type.Optional(
      Type.Array(
        exactly(
          {
            field: text('Path of the field in the settings', 'destConnectionConfig.mapping.email'),
            message: text('What is wrong, and what to do', 'has no column in the source'),
          },
          { description: 'Error of a field of the mapping' },
        ),
        { description: 'With `partial`: why the mapping is invalid; absent if it is valid' },
      ),
    ),
  },
  { description: 'What a transfer would send, and problems of the source and at the destination' },
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
          'Why it failed; null where every step went well. The side of a connector that can be both is source.',
      }),
    ),
    checkedTime: unixSeconds('When it was checked'),
  },
  { description: 'Result of a check' },
)
export type CheckResult = Static<typeof CheckResult>
