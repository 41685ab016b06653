import type { Cell, Row } from '../rows.ts'
import { bounds } from './bounds.ts'
import { countKeys, endOfText, isInexact, mayBeInexact, parseExactJson, repeatsKey } from './exact-json.ts'

/**
 * Reads rows of NDJSON in the form that programs write: an object with keys in the order of the columns, and at most one space
 * after colons and commas. It cuts cells out of the text, faster than `JSON.parse` creates objects, and detects what `JSON.parse`
 * hides: duplicate keys, and the digits of numbers.
 */

/** Maximum consecutive columns that a row can omit. */
const skippedMax = 8

const code = {
  carriageReturn: 13,
  space: 32,
  quote: 34,
  plus: 43,
  comma: 44,
  minus: 45,
  point: 46,
  zero: 48,
  nine: 57,
  upperE: 69,
  openList: 91,
  closeList: 93,
  lowerE: 101,
  open: 123,
  close: 125,
} as const

/** Maximum digits of a whole number that is exact and fast to read. */
const digitsMax = 15

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** A value, and its end; `end` is -1 if this reader does not support the value. */
type Value = { cell: Cell; end: number }

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON does not accept control characters as they are.
const specialCharacter = /[\\\u0000-\u0009\u000b-\u000c\u000e-\u001f]/g

/** The next backslash or control character that is not an end of line; otherwise the end of the text. */
export function findSpecial(text: string, from: number): number {
  specialCharacter.lastIndex = from
  return specialCharacter.exec(text)?.index ?? text.length
}

/** The place of the next special character at or after the current place. */
export type Special = { at: number }

/** Reads the row between two places of a text; undefined if the row does not have the plain form, even if it is valid. */
export type ReadPlain = (text: string, from: number, stop: number, special: Special) => Row | undefined

/** Creates the function that reads one row. */
export function plainReader(keys: readonly string[]): ReadPlain {
  const tokens = keys.map((key) => `${JSON.stringify(key)}:`)
  const width = keys.length
  // One object for all values, because a separate object for each value would be most of the work.
  const value: Value = { cell: null, end: 0 }

  return (text, from, stop, special) => {
    if (text.charCodeAt(from) !== code.open) return undefined
    const row: Cell[] = new Array(width)
    let at = from + 1
    let index = 0
    for (;;) {
      if (text.charCodeAt(at) === code.space) at += 1
      const last = Math.min(width, index + skippedMax)
      while (index < last && !text.startsWith(tokens[index] as string, at)) {
        row[index] = null
        index += 1
      }
      if (index === last) return undefined
      at += (tokens[index] as string).length
      let first = text.charCodeAt(at)
      if (first === code.space) {
        at += 1
        first = text.charCodeAt(at)
      }
      if (first === code.quote) {
        let end = text.indexOf('"', at + 1)
        if (end === -1 || end >= stop) return undefined
        if (special.at > end) {
          row[index] = text.substring(at + 1, end)
        } else {
          end = endOfText(text, at) - 1
          const cell = end < stop ? unescaped(text.substring(at, end + 1)) : undefined
          if (cell === undefined) return undefined
          row[index] = cell
          special.at = findSpecial(text, end)
        }
        at = end + 1
      } else {
        readValue(value, text, at, stop, first)
        if (value.end === -1 || special.at < value.end) return undefined
        row[index] = value.cell
        at = value.end
      }
      index += 1
      const behind = text.charCodeAt(at)
      at += 1
      if (behind === code.close) break
      if (behind !== code.comma) return undefined
    }
    for (; index < width; index += 1) row[index] = null
    while (at < stop && (text.charCodeAt(at) === code.space || text.charCodeAt(at) === code.carriageReturn)) at += 1
    // If a text continued after the line, this is not its end.
    return at === stop ? row : undefined
  }
}

/** A JSON text with escapes; undefined if it is invalid, or contains half of a character. */
function unescaped(source: string): string | undefined {
  try {
    const text: string = JSON.parse(source)
    return text.isWellFormed() ? text : undefined
  } catch {
    return undefined
  }
}

/** Reads a value that is not text. */
function readValue(value: Value, text: string, at: number, stop: number, first: number): void {
  if (first === code.minus || (first >= code.zero && first <= code.nine)) {
    readNumber(value, text, at)
  } else if (first === code.open || first === code.openList) {
    readNested(value, text, at, stop)
  } else {
    const word = words.find(([word]) => text.startsWith(word, at))
    value.cell = word ? word[1] : null
    value.end = word ? at + word[0].length : -1
  }
}

const words = [
  ['null', null],
  ['true', true],
  ['false', false],
] as const

function readNumber(value: Value, text: string, from: number): void {
  let at = from
  let whole = 0
  let next = text.charCodeAt(at)
  while (next >= code.zero && next <= code.nine) {
    whole = whole * 10 + next - code.zero
    at += 1
    next = text.charCodeAt(at)
  }
  const digits = at - from
  const begins = digits === 1 || (digits > 1 && text.charCodeAt(from) !== code.zero)
  if (begins && (next === code.comma || next === code.close) && digits <= digitsMax) {
    value.cell = whole
    value.end = at
    return
  }
  if (begins && next === code.point) {
    do {
      at += 1
      next = text.charCodeAt(at)
    } while (next >= code.zero && next <= code.nine)
    if (
      text.charCodeAt(at - 1) !== code.point &&
      (next === code.comma || next === code.close) &&
      at - from <= digitsMax
    ) {
      value.cell = Number(text.substring(from, at))
      value.end = at
      return
    }
  }
  while (isOfNumber(next)) {
    at += 1
    next = text.charCodeAt(at)
  }
  const source = text.substring(from, at)
  const read = number.test(source) ? Number(source) : Number.NaN
  value.cell = mayBeInexact(source) && isInexact(read, source) ? source : read
  value.end = Number.isNaN(read) ? -1 : at
}

const isOfNumber = (next: number): boolean =>
  (next >= code.zero && next <= code.nine) ||
  next === code.minus ||
  next === code.plus ||
  next === code.point ||
  next === code.lowerE ||
  next === code.upperE

/** Reads an object or a list as JSON text, as it comes out of `JSON.stringify`. */
function readNested(value: Value, text: string, from: number, stop: number): void {
  const end = endOfNested(text, from, stop)
  value.end = -1
  if (end === -1) return
  const source = text.substring(from, end)
  const inside = tryParse(source)
  if (inside === undefined) return
  const keys = countKeys(inside, bounds.nestingLevels - 1)
  if (keys === -1 || repeatsKey(source, keys)) return
  value.cell = JSON.stringify(mayBeInexact(source) ? parseExactJson(source) : inside)
  value.end = end
}

function tryParse(source: string): object | undefined {
  try {
    return JSON.parse(source)
  } catch {
    return undefined
  }
}

/** The end of an object or a list, in a text without backslashes; -1 if it is not before the end of the line. */
function endOfNested(text: string, from: number, stop: number): number {
  let depth = 0
  for (let at = from; at < stop; at += 1) {
    const next = text.charCodeAt(at)
    if (next === code.quote) {
      at = text.indexOf('"', at + 1)
      if (at === -1) return -1
    } else if (next === code.open || next === code.openList) {
      depth += 1
    } else if (next === code.close || next === code.closeList) {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return -1
}
