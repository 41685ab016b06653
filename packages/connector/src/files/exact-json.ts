/** Reading JSON without losing digits. */

// Not among the types of the language version that we compile for.
const json = JSON as typeof JSON & { rawJSON(text: string): object }
type Reviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown
const parseWith = JSON.parse as (text: string, reviver: Reviver) => unknown

/** May hold a number with more digits, or a larger one, than a number of JavaScript can keep. */
const longNumber = /[\d.]{16}|\d[eE]\+?\d{3}/

/**
 * Reads JSON; a number that would lose digits comes as an object of `JSON.rawJSON`, which is written as the digits that
 * it was read from.
 */
export function parseJson(text: string): unknown {
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
