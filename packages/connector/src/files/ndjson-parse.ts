import { isUtf8 } from 'node:buffer'
import { RowNumbers } from '../row-places.ts'
import type { Cell } from '../rows.ts'
import { bounds, rowErrors } from './bounds.ts'
import { countKeys, mayBeInexact, parseExactJson, repeatsKey } from './exact-json.ts'
import { findSpecial, plainReader } from './ndjson-plain.ts'
import { notUtf8, notUtf16, type ParsedRows, type RowParser } from './text-rows.ts'

/** Reading rows of JSON objects, one a line. */

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A JSON value; `undefined` if the text is not valid JSON. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Creates a reader of rows of JSON objects.
 * @param keys the keys that are columns; another key is an error of the row, and a missing key is null
 */
export function ndjsonRows(keys: readonly string[]): RowParser {
  const readPlain = plainReader(keys)
  const indexOf = new Map(keys.map((key, index) => [key, index]))

  /** Fills a row; returns whether it has a key that is not a column. */
  const fill = (row: Cell[], value: JsonObject): boolean => {
    let unknown = false
    for (const key in value) {
      const index = indexOf.get(key)
      if (index === undefined) unknown = true
      else row[index] = cellOf(value[key])
    }
    return unknown
  }
  const addLine = (parsed: ParsedRows, line: string): void => {
    if (line.trim() === '') {
      parsed.lines.skip(parsed.rows.length, 1)
      return
    }
    const row: Cell[] = new Array(keys.length).fill(null)
    const error = readLine(row, line)
    if (error !== undefined) parsed.errors.set(parsed.rows.length, error)
    parsed.rows.push(row)
  }
  /** Reads any line. @returns its error */
  const readLine = (row: Cell[], line: string): string | undefined => {
    if (!line.isWellFormed()) return notUtf16
    const value = tryJson(line)
    if (!isObject(value)) return 'The row is not a JSON object.'
    const count = countKeys(value, bounds.nestingLevels)
    if (count === -1) return rowErrors.nestedTooDeep
    const unknown = fill(row, mayBeInexact(line) ? (parseExactJson(line) as JsonObject) : value)
    if (unknown) return 'The row has a field that is not in the first rows.'
    if (repeatsKey(line, count)) return 'The row has the same key twice.'
    if (line.includes('\\u') && row.some((cell) => typeof cell === 'string' && !cell.isWellFormed())) {
      for (const [index, cell] of row.entries()) if (typeof cell === 'string') row[index] = cell.toWellFormed()
      return 'The row has half of a character (a lone surrogate).'
    }
    return undefined
  }
  return {
    width: keys.length,
    parse(text, ended, rowsMax) {
      const parsed = parsedRows(text.length)
      const { rows } = parsed
      const special = { at: findSpecial(text, 0) }
      // Before the end of a line, this character belongs to the line end. Anywhere else it is ignored.
      let carriageReturn = text.indexOf('\r')
      const halved = !text.isWellFormed()
      let at = 0
      while (at < text.length) {
        if (rows.length === rowsMax) return { ...parsed, consumed: at }
        const end = text.indexOf('\n', at)
        if (end === -1 && !ended) return { ...parsed, consumed: at }
        const stop = end === -1 ? text.length : end
        if (special.at < at) special.at = findSpecial(text, at)
        if (carriageReturn !== -1 && carriageReturn < at) carriageReturn = text.indexOf('\r', at)
        const plain = !halved && (carriageReturn === -1 || carriageReturn >= stop - 1)
        const row = plain ? readPlain(text, at, stop, special) : undefined
        if (row) rows.push(row)
        else addLine(parsed, text.substring(at, stop))
        at = stop + 1
      }
      return parsed
    },
    parseBroken(bytes, ended, rowsMax) {
      const parsed = parsedRows(bytes.length)
      let at = 0
      while (at < bytes.length) {
        if (parsed.rows.length === rowsMax) return { ...parsed, consumed: at }
        const end = bytes.indexOf(10, at)
        if (end === -1 && !ended) return { ...parsed, consumed: at }
        const line = bytes.subarray(at, end === -1 ? bytes.length : end)
        if (isUtf8(line)) {
          addLine(parsed, line.toString())
        } else {
          parsed.errors.set(parsed.rows.length, notUtf8)
          parsed.rows.push(new Array(keys.length).fill(null))
        }
        at = end === -1 ? bytes.length : end + 1
      }
      return parsed
    },
  }
}

const parsedRows = (consumed: number): ParsedRows => ({
  rows: [],
  errors: new Map(),
  consumed,
  lines: new RowNumbers(0),
})

function cellOf(value: unknown): Cell {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'number':
      return value
    case 'object':
      // JSON text of a nested value. A number that was kept as written is only its digits.
      return value === null ? null : JSON.stringify(value)
    default:
      return null
  }
}
