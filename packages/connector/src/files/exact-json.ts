/** Reading JSON without losing digits or values. */

// Not among the types of the language version that we compile for.
const json = JSON as typeof JSON & { rawJSON(text: string): object }
type Reviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown
const parseWith = JSON.parse as (text: string, reviver: Reviver) => unknown

/**
 * The text may contain a number that would be changed: more than 15 digits, an exponent of three digits, or a zero with a sign.
 */
const inexact = /[\d.]{16}|\d[eE][+-]?\d{3}|-0(?:\.0*)?(?:[^.\d]|$)/

/** Whether a JSON text may contain a number that `JSON.parse` would change. `false` is certain. */
export const mayBeInexact = (text: string): boolean => inexact.test(text)

/** Reads JSON. A number that a double cannot represent becomes an object of `JSON.rawJSON`, which keeps the original digits. */
export function parseExactJson(text: string): unknown {
  if (!mayBeInexact(text)) return JSON.parse(text)
  return parseWith(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && isInexact(value, source) ? json.rawJSON(source) : value,
  )
}

/**
 * Whether a double would change a number: a whole number beyond 2^53, a number that is not a double, a fraction with more
 * digits than a double keeps, or the sign of a zero.
 * @param source the number as JSON writes it
 */
export function isInexact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return true
  if (/^-?\d+$/.test(source) && !Number.isSafeInteger(value)) return true
  return decimalOf(source) !== decimalOf(Object.is(value, -0) ? '0' : String(value))
}

/** A number as its sign, its digits without zeros around them, and its exponent: the same text for the same number. */
function decimalOf(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? []
  const digits = whole + fraction
  let from = 0
  let to = digits.length
  while (from < to && digits[from] === '0') from += 1
  while (to > from && digits[to - 1] === '0') to -= 1
  if (from === to) return `${sign}0`
  // No double has such an exponent, so the number does not change.
  if (exponent.length > 6) return number
  // The place of the point, counted from the first digit that is not zero.
  return `${sign}${digits.slice(from, to)}e${Number(exponent) + whole.length - from}`
}

/**
 * Counts the keys in a JSON value and in everything nested in it.
 * @param levels maximum nesting; 1 is an object of plain values
 * @returns -1 if it is nested deeper
 */
export function countKeys(value: object, levels: number): number {
  if (levels === 0) return -1
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item !== 'object' || item === null) continue
      const inside = countKeys(item, levels - 1)
      if (inside === -1) return -1
      count += inside
    }
    return count
  }
  for (const key in value) {
    count += 1
    const item = (value as Record<string, unknown>)[key]
    if (typeof item !== 'object' || item === null) continue
    const inside = countKeys(item, levels - 1)
    if (inside === -1) return -1
    count += inside
  }
  return count
}

/**
 * Whether an object in a JSON text contains a key twice; `JSON.parse` keeps only the last one.
 * @param text valid JSON @param keys number of keys in the result of `JSON.parse`
 */
export function repeatsKey(text: string, keys: number): boolean {
  let count = 0
  for (let at = text.indexOf('":'); at !== -1; at = text.indexOf('":', at + 2)) count += 1
  // A value can begin with a colon, and spaces can precede a colon. The keys must then be counted.
  return count !== keys && countKeysOf(text) !== keys
}

/** Counts the keys in valid JSON: texts that a colon follows. */
function countKeysOf(text: string): number {
  let count = 0
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    at = endOfText(text, at)
    let behind = at
    while (behind < text.length && isSpace(text.charCodeAt(behind))) behind += 1
    if (text[behind] === ':') count += 1
  }
  return count
}

const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13)

/** The place after a JSON string that begins with the quote at a place; the end of the text if the string never ends. */
export function endOfText(text: string, from: number): number {
  for (let at = from + 1; ; at += 1) {
    const quote = text.indexOf('"', at)
    if (quote === -1) return text.length
    let backslashes = 0
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return quote + 1
    at = quote
  }
}
