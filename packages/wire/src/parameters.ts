import { example } from './examples.ts'
import { limits } from './limits.ts'
import { Identifier, oneOf } from './schemas.ts'
import { connectionStatuses } from './terms.ts'
import { Type } from './type.ts'

/** Query parameters of several operations. */

/** The keyword filter of a list. */
export const q = Type.String({
  maxLength: limits.filterLengthMax,
  description: 'Keeps entries whose shown names contain this text, in any letter case',
  examples: ['meta'],
})
/** The page of a list. */
export const page = {
  size: Type.Integer({
    minimum: limits.pageSizeMin,
    maximum: limits.pageSizeMax,
    default: limits.pageSizeDefault,
    description: 'Page size',
    examples: [limits.pageSizeDefault],
  }),
  offset: Type.Integer({
    minimum: 0,
    maximum: limits.offsetMax,
    default: 0,
    description: 'Offset of the first entry in the result',
    examples: [0],
  }),
}
const day = (description: string, timestamp: string) =>
  Type.Optional(
    Type.String({ pattern: '^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])$', description, examples: [timestamp] }),
  )
/** The days of a report. */
export const days = {
  startDate: day('First day, UTC: YYYY-MM-DD; by default the first of the current month', '2026-09-01'),
  endDate: day(`Last day, UTC: YYYY-MM-DD; today by default. At most ${limits.reportDaysMax} days`, '2026-09-30'),
}
/** Keeps entries with one of a closed set of values. */
export const filter = <const V extends readonly string[]>(values: V, description: string) =>
  Type.Optional(oneOf(values, { description, examples: values.slice(0, 1) }))
/** An optional boolean. */
export const yes = (description: string) => Type.Optional(Type.Boolean({ description, examples: [true] }))
/** An optional identifier. */
export const optionalId = (description: string, example: string) =>
  Type.Optional(Type.String({ ...Identifier, description, examples: [example] }))

/** The configuration for an operation on a connector. */
export const ofConfiguration = {
  configurationId: optionalId(
    'Configuration of the connector; omitted: the first one',
    example.destination.configurationId,
  ),
}

/** An optional time. */
export const optionalTime = (description: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: limits.unixSecondsMax,
      description: `${description}, Unix time in seconds`,
      examples: [example.createdTime],
    }),
  )
/** An optional text that must match exactly. */
export const exactText = (description: string, shown: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: limits.filterLengthMax, description, examples: [shown] }))

const ids = (description: string, example: string) =>
  Type.Optional(
    Type.String({
      pattern: `^[0-9a-f]{16}(?:,[0-9a-f]{16}){0,${limits.filteredIdsMax - 1}}$`,
      description: `${description}: identifiers joined by commas, at most ${limits.filteredIdsMax}`,
      examples: [example],
    }),
  )
/** Some connections by their identifiers. */
export const connectionIds = ids('Keeps entries of these connections', example.connectionId)
/** Some sub-accounts by their identifiers. */
export const accountIds = ids('Keeps entries of these sub-accounts', example.accountId)

/** The filter of connections by their tags. */
export const tags = Type.Optional(
  Type.String({
    maxLength: limits.tagsMax * (limits.tagLengthMax + 1),
    description: `Keeps connections that carry all these tags, in any letter case: joined by commas, at most ${limits.tagsMax}`,
    examples: ['production'],
  }),
)
/** The filter of connections by their owner. */
export const owner = Type.Optional(
  Type.String({
    pattern: '^(?:[0-9a-f]{16}|none)$',
    description: 'Keeps connections of this person, by identifier; none: connections without an owner',
    examples: ['none'],
  }),
)

/** The status filter of List Connections (section 4.4). */
export const status = Type.Optional(
  Type.String({
    pattern: `^(?:${['', 'all', ...connectionStatuses].map(anyCase).join('|')})$`,
    description: `A connection status, in any letter case: ${connectionStatuses.join(', ')}. Empty or all: every status`,
    examples: ['active'],
  }),
)

/** A pattern that matches a word in any letter case. JSON Schema patterns have no flag for this. */
function anyCase(word: string): string {
  return word.replace(/[a-z]/gi, (letter) => `[${letter.toUpperCase()}${letter.toLowerCase()}]`)
}
