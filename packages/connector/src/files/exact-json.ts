/** Reading JSON without losing digits. */

// Not among the types of the language version that we compile for.
const json = JSON as typeof JSON & { rawJSON(text: string): object }
type Reviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown
const parseWith = JSON.parse as (text: string, reviver: Reviver) => unknown

/** Numbers of so many characters, with sign and point, have all the digits that they were written with. */
const exactLength = 15

/**
 * Whether what `JSON.parse` gave may have had more digits than it has now: a whole number beyond 2^53, one beyond all
 * numbers, a fraction with very many digits, or anything that has values inside.
 */
export function mayLackDigits(value: unknown): boolean {
  if (typeof value !== 'number') return typeof value === 'object' && value !== null
  if (Number.isSafeInteger(value)) return false
  return Number.isInteger(value) || !Number.isFinite(value) || String(value).length > exactLength
}

/** May hold a number that loses digits. */
const longNumber = /[\d.]{16}|\d[eE]\+?\d{3}/

/**
 * Reads JSON; a number that would lose digits comes as an object of `JSON.rawJSON`, which is written as the digits that
 * it was read from.
 */
export function parseExactJson(text: string): unknown {
  if (!longNumber.test(text)) return JSON.parse(text)
  return parseWith(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && losesDigits(value, source) ? json.rawJSON(source) : value,
  )
}

function losesDigits(value: number, source: string): boolean {
  if (/^-?\d+$/.test(source)) return !Number.isSafeInteger(value)
  if (!Number.isFinite(value)) return true
  const [mantissa = ''] = source.split(/[eE]/)
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+|0+$/g, '')
  return digits.length > 15 && String(value) !== source
}
