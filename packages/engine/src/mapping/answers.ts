import { answerKey } from '@penstock/expressions/local'

/**
 * Meanings of single values of a column, as a mapping defines them: `{"Holland": "NL"}`. Values are compared without case and
 * surrounding spaces.
 */

/** The meaning of each value, by its key; `null` if the value means that there is no value. */
export const answersOf = (values: Readonly<Record<string, string | null>>): ReadonlyMap<string, string | null> =>
  new Map(Object.entries(values).map(([from, to]) => [answerKey(from), to]))
