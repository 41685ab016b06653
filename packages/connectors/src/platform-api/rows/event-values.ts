import { isObject, type JsonObject, parseJson } from '../json.ts'
import type { BatchRow } from './batch-rows.ts'
import { type Read, readTimestamp, wrong } from './events.ts'

/** Values of an event in separate columns. Each is read, or the problem is returned. Absent values are `undefined`. */

/**
 * A time in seconds since 1970, also from milliseconds.
 * @param daysMax how old the platform allows it to be; absent for no limit
 */
export const readSeconds = (row: BatchRow, column: string, daysMax: number | undefined): Read<number> =>
  readTimestamp({ ...row, text: (name) => row.text(name)?.replace(/^(\d{10})\d{3}$/, '$1') }, column, daysMax)

/** A decimal number with a point: `12.5`. */
export function readNumber(row: BatchRow, column: string): Read<number | undefined> {
  const text = row.text(column)
  if (text === undefined) return { read: undefined }
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,2})?$/i.test(text)) return { read: Number(text) }
  return wrong('The value must be a number with a point: 12.50.', column)
}

/** A whole number that is not negative. */
export function readCount(row: BatchRow, column: string): Read<number | undefined> {
  const text = row.text(column)
  if (text === undefined) return { read: undefined }
  if (/^\d{1,9}$/.test(text)) return { read: Number(text) }
  return wrong('The value must be a whole number.', column)
}

/** A currency as three letters of ISO 4217, in upper case. */
export function readCurrency(row: BatchRow, column: string): Read<string | undefined> {
  const text = row.text(column)
  if (text === undefined) return { read: undefined }
  if (/^[A-Za-z]{3}$/.test(text)) return { read: text.toUpperCase() }
  return wrong('The currency must be three letters of ISO 4217: EUR.', column)
}

const yes = new Set(['true', '1', 'yes', 'y', 't'])
const no = new Set(['false', '0', 'no', 'n', 'f'])

/** Yes or no, in the common spellings. */
export function readBoolean(row: BatchRow, column: string): Read<boolean | undefined> {
  const text = row.text(column)?.toLowerCase()
  if (text === undefined) return { read: undefined }
  if (yes.has(text)) return { read: true }
  return no.has(text) ? { read: false } : wrong('The value must be true or false.', column)
}

/** Several texts: a JSON list, or parted by semicolons, else by commas. */
export function readTexts(row: BatchRow, column: string): Read<string[] | undefined> {
  const text = row.text(column)
  if (text === undefined) return { read: undefined }
  const list = text.startsWith('[') ? parseJson(text) : text.split(text.includes(';') ? ';' : ',')
  if (!Array.isArray(list) || !list.every((each) => typeof each === 'string' || typeof each === 'number')) {
    return wrong('The value must be a JSON list of texts, or texts separated by semicolons or commas.', column)
  }
  const texts = list.map((each) => String(each).trim()).filter((each) => each !== '')
  return { read: texts.length > 0 ? texts : undefined }
}

/** A list of objects that a cell contains as JSON. A single object is treated as a list of one. */
export function readObjects(row: BatchRow, column: string): Read<readonly JsonObject[] | undefined> {
  const text = row.text(column)
  if (text === undefined) return { read: undefined }
  const list = [parseJson(text)].flat()
  return list.every(isObject) ? { read: list } : wrong('The value is not a JSON list of objects.', column)
}

/** The texts of columns by the platform's names. Columns without a text are omitted. */
export function textsOf(row: BatchRow, columns: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(columns).flatMap(([name, column]) => {
      const text = row.text(column)
      return text === undefined ? [] : [[name, text]]
    }),
  )
}

/** Reads several values. The first invalid value determines the error. */
export function readAll<Values extends Readonly<Record<string, unknown>>>(
  reads: {
    readonly [Key in keyof Values]: Read<Values[Key]>
  },
): Read<Values> {
  const values: Record<string, unknown> = {}
  for (const [key, found] of Object.entries(reads) as [string, Read<unknown>][]) {
    if ('wrong' in found) return found
    values[key] = found.read
  }
  return { read: values as Values }
}

/** Without the keys that hold nothing: `undefined`, or an object without a key. */
export const filled = (object: Readonly<Record<string, unknown>>): JsonObject =>
  Object.fromEntries(
    Object.entries(object).filter(
      ([, value]) => value !== undefined && !(isObject(value) && Object.keys(value).length === 0),
    ),
  )
