/**
 * What single values of a column stand for, as a mapping says it: `{"Holland": "NL"}`. Values are compared without case and
 * surrounding spaces.
 */

/** A text as it is compared. */
export const answerKey = (text: string): string => text.trim().toLowerCase()

/** What each value stands for, by its key; `null` for nothing. */
export const answersOf = (values: Readonly<Record<string, string | null>>): ReadonlyMap<string, string | null> =>
  new Map(Object.entries(values).map(([from, to]) => [answerKey(from), to]))
