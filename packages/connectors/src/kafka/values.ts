import { isUtf8 } from 'node:buffer'
import { type Cell, type Chunk, ConnectorError, type Row, type Values } from '@penstock/connector'
import { parseExactJson } from '@penstock/connector/files'
import type { ReadRecord } from './record-batch.ts'
import { namesIn } from './settings.ts'

/** Messages as rows. */

const before = ['key', 'value'] as const
const behind = ['_partition', '_offset', '_timestamp', '_headers'] as const
const fieldsMax = 1_000
/** Of a JSON value, as of files. */
const depthMax = 100

/** Turns the messages of a topic into rows. */
export type MessageReading = {
  readonly columns: readonly string[]
  readonly types: NonNullable<Chunk['types']>
  /** The row of a message, and why it cannot be used, if it cannot. */
  row(record: ReadRecord, partition: number): { readonly row: Row; readonly error?: string }
}

/** Makes the columns and the reading of rows from the settings of a source. Throws `invalid_setting` for too many fields. */
export function messageReading(settings: Values): MessageReading {
  const isJson = settings.valueFormat !== 'Text'
  const fields = isJson ? namesIn(settings.valueFields) : []
  if (fields.length > fieldsMax) {
    throw new ConnectorError('invalid_setting', `Name at most ${fieldsMax} fields of the value.`)
  }
  const own: readonly string[] = [...before, ...behind]
  const columns = [...before, ...fields.map((field) => (own.includes(field) ? `value.${field}` : field)), ...behind]
  return {
    columns,
    types: [
      { kind: 'text' },
      { kind: isJson ? 'json' : 'text' },
      ...fields.map(() => null),
      { kind: 'integer' },
      { kind: 'bigint' },
      { kind: 'instant', digits: 3 },
      { kind: 'json' },
    ],
    row({ key, value, headers, offset, timestampMs }, partition) {
      const read = isJson ? jsonOf(value) : { text: value === null ? null : textOf(value), error: undefined }
      const error = read.error ?? (read.text === undefined ? notText : undefined)
      const object = 'json' in read ? read.json : undefined
      const row: Cell[] = [
        keyOf(key),
        read.text ?? null,
        ...fields.map((field) => cellAt(object, field)),
        partition,
        offset,
        timestampMs < 0 || timestampMs > 8.64e15 ? null : new Date(timestampMs).toISOString(),
        headers.length === 0
          ? null
          : JSON.stringify(headers.map(([name, content]) => ({ name, value: keyOf(content) }))),
      ]
      return error === undefined ? { row } : { row, error }
    },
  }
}

const notText = 'The value is not text in UTF-8.'

const textOf = (bytes: Buffer): string | undefined => (isUtf8(bytes) ? bytes.toString() : undefined)

/** A key, or the value of a header: text, or its bytes in hexadecimal digits. */
const keyOf = (bytes: Buffer | null): string | null =>
  bytes === null ? null : (textOf(bytes) ?? `\\x${bytes.toString('hex')}`)

type ReadJson = { readonly text: string | null; readonly json?: unknown; readonly error?: string | undefined }

/** A value as JSON text. One without a value, as deletions have, is null. */
function jsonOf(value: Buffer | null): ReadJson {
  if (value === null) return { text: null }
  // The header of a schema registry: a zero byte, and the number of the schema.
  const isRegistered = value.length >= 5 && value[0] === 0
  const text = textOf(isRegistered ? value.subarray(5) : value)
  const invalid = isRegistered
    ? 'The value was encoded with a schema registry, and is not JSON: Avro and Protobuf are not supported.'
    : 'The value is not JSON.'
  if (text === undefined) return { text: null, error: isRegistered ? invalid : notText }
  try {
    const json = parseExactJson(text)
    if (isTooDeep(json, depthMax)) return { text: null, error: `The value is nested deeper than ${depthMax} levels.` }
    return { text, json }
  } catch {
    return { text: null, error: invalid }
  }
}

function isTooDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((each) => isTooDeep(each, levels - 1))
}

/** A field of an object, by its name, or else by the names in its path. */
function cellAt(json: unknown, field: string): Cell {
  const found = at(json, field) ?? field.split('.').reduce(at, json)
  if (found === undefined || found === null) return null
  // Numbers that are not doubles are objects, whose JSON is their digits.
  if (typeof found === 'object') return JSON.stringify(found)
  return found as Cell
}

const at = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
