/** A reason without the value: a worker quotes it, and a platform that moves rows itself does not know it. */
export const withoutValue = (reason: string): string =>
  reason.replace(/^(?:"[^"]*"|A (?:value|number|text|time)) /, '… ')
