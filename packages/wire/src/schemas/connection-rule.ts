import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { ruleActions, ruleChecks, ruleOutcomes, weekdays } from '../terms.ts'
import { type Static, type TSchema, Type } from '../type.ts'
import { exactly, identifier, oneOf, text } from './kinds.ts'

/** Rules that judge the records of a transfer. Not in the specification. */

const maybe = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
const check = oneOf(ruleChecks, {
  description:
    'rejected: records that were rejected. rows: records read. volume: records read, in percent of the usual number. freshness: the newest time in a column. empty, unique, values, range: the values of a column',
  examples: ['rejected'],
})
const action = oneOf(ruleActions, {
  description:
    'Reaction if the rule is broken. stop: the transfer fails. warn: the transfer continues, and an event is sent. record: only the transfer shows it',
  examples: ['stop'],
})
const column = (description: string) =>
  Type.String({ minLength: 1, maxLength: limits.shapeTextLengthMax, description, examples: ['email'] })
const bound = (description: string, shown: number) => Type.Optional(Type.Number({ description, examples: [shown] }))

/** One rule. `ruleKeys` lists the keys of each check. */
export const ConnectionRule = exactly(
  {
    check,
    action,
    column: Type.Optional(column('The column of the source; for freshness, empty, unique, values and range')),
    count: Type.Optional(
      Type.Integer({ minimum: 0, description: 'For rejected: maximum number of records', examples: [100] }),
    ),
    percent: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 100,
        description:
          'Maximum share of the records. For rejected: rejected records; for empty: records without a value; for values and range: records with another value, 0 by default',
        examples: [2],
      }),
    ),
    hours: Type.Optional(
      Type.Number({ minimum: 0, description: 'For freshness: maximum age in hours', examples: [24] }),
    ),
    values: Type.Optional(
      Type.Array(Type.String({ maxLength: limits.ruleValueLengthMax }), {
        minItems: 1,
        maxItems: limits.ruleValuesMax,
        description: 'For values: the accepted values',
        examples: [['DE', 'AT', 'CH']],
      }),
    ),
    min: bound('Minimum. For rows: number of records; for volume: percent of the usual number; for range: a value', 1),
    max: bound('Maximum, like min', 200),
  },
  { description: 'Rule', examples: [{ check: 'rejected', action: 'stop', percent: 2 }] },
)
export type ConnectionRule = Static<typeof ConnectionRule>

/** The rules of a connection, in their order. */
export const ruleList = Type.Array(ConnectionRule, {
  maxItems: limits.rulesMax,
  description: 'All rules, in their order; empty: no rules',
  examples: [[{ check: 'rejected', action: 'stop', percent: 2 }]],
})

const timeOfDay = (description: string, shown: string) =>
  Type.String({ pattern: '^(?:[01][0-9]|2[0-3]):[0-5][0-9]$', description, examples: [shown] })

/** Weekly times in which no transfer of a connection starts. */
export const Blackout = exactly(
  {
    timezone: Type.String({
      minLength: 1,
      maxLength: limits.timezoneLengthMax,
      description: 'IANA name of the time zone',
      examples: ['Europe/Berlin'],
    }),
    windows: Type.Array(
      exactly(
        {
          days: Type.Array(oneOf(weekdays, { description: 'Day', examples: ['mon'] }), {
            minItems: 1,
            maxItems: 7,
            description: 'Days on which it begins',
            examples: [['mon', 'tue', 'wed', 'thu', 'fri']],
          }),
          from: timeOfDay('When it begins', '08:00'),
          to: timeOfDay(
            'When it ends. If not after from, it ends on the next day, so the same time means 24 hours',
            '18:00',
          ),
        },
        { description: 'Window' },
      ),
      { minItems: 1, maxItems: limits.blackoutWindowsMax, description: 'Windows' },
    ),
  },
  { description: 'Weekly windows in which no transfer starts' },
)
export type Blackout = Static<typeof Blackout>

/** The blackout of a connection. `null` means no blackout. */
export const maybeBlackout = Type.Union([Type.Unsafe<Blackout>(Blackout), Type.Null()], {
  description: 'Weekly windows in which no transfer starts; null: no windows',
  examples: [null],
})

/** Request of Set Rules. */
export const SetConnectionRules = exactly(
  { rules: ruleList, blackout: Type.Optional(maybeBlackout) },
  { description: 'The rules of a connection, and its blackout; no blackout if omitted' },
)

/** Response of Get Rules and Set Rules. */
export const ConnectionRules = exactly(
  { connectionId: identifier('the connection', example.connectionId), rules: ruleList, blackout: maybeBlackout },
  { description: 'The rules of a connection' },
)

/** The result of one rule of a transfer. */
export const RuleResult = exactly(
  {
    check,
    action,
    column: maybe(text('The column of the rule; null without a column', 'email')),
    outcome: oneOf(ruleOutcomes, {
      description: 'kept, broken, or not_checked: the message says why',
      examples: ['kept'],
    }),
    message: text(
      'The numbers behind the result, without values of records',
      '12 of 1,000 records were rejected (1.2 %), at most 2 %.',
    ),
  },
  { description: 'Result of a rule' },
)
export type RuleResult = Static<typeof RuleResult>

/** The results of all rules of a transfer. */
export const ruleResults = Type.Array(RuleResult, {
  maxItems: limits.rulesMax,
  description: 'Results of the rules that the connection had when it started; empty while it runs, and without rules',
  examples: [[]],
})
