/**
 * Meanings of single values of a column, as a mapping defines them: `{"Holland": "NL"}`. Values are compared without case and
 * surrounding spaces.
 */

/** A text as it is compared. */
export const answerKey = (text: string): string => text.trim().toLowerCase()

/** The value for which each one stands, by its key; `null` for nothing. */
export const answersOf = (values: Readonly<Record<string, string | null>>): ReadonlyMap<string, string | null> =>
  new Map(Object.entries(values).map(([from, to]) => [answerKey(from), to]))
