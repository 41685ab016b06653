import { type Cell, ConnectorError, type Row } from '@penstock/connector'
import { isObject, type JsonObject } from '../../platform-api/json.ts'
import type { ApiStream } from '../definition/definition.ts'

/** The columns of a page whose columns are not listed, at most: so many, and so many bytes of names, since each checkpoint has them. */
const columnsMax = 500
const columnBytesMax = 8_192

/**
 * The records of an answer. A record that is no object becomes one with the key `value`.
 * Throws `unexpected_response` if nothing is where the definition says that the records are; `null` there is no record.
 */
export function recordsIn(
  content: unknown,
  { records, recordsOptional }: Pick<ApiStream, 'records' | 'recordsOptional'>,
): JsonObject[] {
  let found: unknown[] = [content]
  for (const key of records) {
    found = found.flatMap((value) => {
      if (key === '*') return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []
      if (Array.isArray(value) && /^\d{1,6}$/.test(key)) return value.slice(Number(key), Number(key) + 1)
      return isObject(value) && Object.hasOwn(value, key) ? [value[key]] : []
    })
  }
  if (found.length === 0 && !recordsOptional && !records.includes('*')) {
    const message = `An answer has nothing at ${records.join('.')}, where the definition says that the records are; correct the path.`
    throw new ConnectorError('unexpected_response', message)
  }
  return found
    .flatMap((value) => (Array.isArray(value) ? value : isNothing(value, recordsOptional) ? [] : [value]))
    .map((value) => (isObject(value) ? value : { value }))
}

const isNothing = (value: unknown, isOptional: boolean): boolean =>
  value === null || value === undefined || (isOptional && (value === '' || (isObject(value) && !hasKeys(value))))

function hasKeys(value: JsonObject): boolean {
  for (const key in value) if (Object.hasOwn(value, key)) return true
  return false
}

/** The value at a path of keys; `undefined` if there is none. */
export function valueIn(value: unknown, path: readonly string[]): unknown {
  let at = value
  for (const key of path) {
    if (isObject(at) && Object.hasOwn(at, key)) at = at[key]
    else if (Array.isArray(at) && /^\d{1,6}$/.test(key)) at = at[Number(key)]
    else return undefined
  }
  return at
}

/** The columns that records have, in the order in which they occur. Throws `too_many_columns`. */
export function columnsOf(records: readonly JsonObject[]): string[] {
  const names = [...new Set(records.flatMap((record) => Object.keys(record)))].filter((name) => name !== '')
  if (names.length <= columnsMax && Buffer.byteLength(JSON.stringify(names)) <= columnBytesMax) return names
  throw new ConnectorError('too_many_columns', 'The records have too many fields; list the columns in the definition.')
}

/** The row of a record: a nested value as JSON, a field that is missing as null. */
export const rowOf = (record: JsonObject, columns: readonly string[]): Row =>
  columns.map((name) => cellOf(Object.hasOwn(record, name) ? record[name] : valueIn(record, name.split('.'))))

const cellOf = (value: unknown): Cell => {
  if (value === undefined || value === null) return null
  if (typeof value === 'object') return JSON.stringify(value)
  return value as Cell
}
