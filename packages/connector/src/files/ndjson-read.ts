import { isUtf8 } from 'node:buffer'
import type { Cell, Row } from '../rows.ts'
import { type ByteStream, openBytes, pieceBytes, textChunkBytes } from './bytes.ts'
import { distinctNames } from './column-names.ts'
import { type Encoding, encodingOf } from './encoding.ts'
import { mayLackDigits, parseExactJson } from './exact-json.ts'
import type { OpenedFile } from './opened-file.ts'
import type { FileStore, StoredFile } from './store.ts'
import { goTo, notUtf8, type ParsedRows, type RowParser, readTextRows, textPlaceOf } from './text-rows.ts'

/** How much of the first file is looked at to find the columns, whichever ends first. */
const scanned = { rows: 10_000, bytes: 16 * pieceBytes }

/**
 * Opens a file of JSON objects, one a line. Its columns are the keys of its first rows, in the order in which they
 * appear; a later row with another key is at fault, because columns cannot be added once rows are on their way. A key
 * that a row lacks is null in it.
 * @param columns the columns, where an earlier file has given them
 */
export async function openNdjson(
  store: FileStore,
  file: StoredFile,
  options: { encoding?: string; chunkBytes?: number },
  signal: AbortSignal,
  columns: readonly string[] | undefined,
): Promise<OpenedFile> {
  let stream = await openBytes(store, file, signal)
  try {
    const encoding = encodingOf(await stream.peek(3), options.encoding)
    stream.take(encoding.markBytes)
    const start = { offset: encoding.markBytes, storedBytes: 0 }
    const text = {
      store,
      file,
      signal,
      encoding,
      newline: '\n',
      chunkBytes: options.chunkBytes ?? textChunkBytes,
    } as const
    const keys = columns ?? (await scanKeys(stream, encoding))
    return {
      // A key is taken as it is; only one that is blank needs another name.
      columns: columns ?? distinctNames(keys),
      async *read(after) {
        const place = after === undefined ? start : textPlaceOf(after)
        if (after !== undefined) stream = await goTo(stream, text, start.offset, place)
        yield* readTextRows(stream, text, place, ndjsonRows(keys))
      },
      close: () => stream.close(),
    }
  } catch (error) {
    await stream.close()
    throw error
  }
}

/** The keys of the first rows. */
async function scanKeys(stream: ByteStream, encoding: Encoding): Promise<string[]> {
  const bytes = await stream.peek(scanned.bytes)
  const text = encoding.decode(bytes)
  // What is cut off at the end is no whole row, unless the file ends there; it then fails to be JSON.
  const lines = text.split('\n', scanned.rows)
  const keys = new Set<string>()
  for (const line of lines) {
    const value = line.trim() === '' ? undefined : tryJson(line)
    if (isObject(value)) for (const key of Object.keys(value)) keys.add(key)
  }
  return [...keys]
}

type JsonObject = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function tryJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function ndjsonRows(keys: readonly string[]): RowParser {
  const indexOf = new Map(keys.map((key, index) => [key, index]))

  /** Fills a row; tells whether it has a key that is no column, and whether a number may lack digits. */
  const fill = (row: Cell[], value: JsonObject): { unknown: boolean; doubtful: boolean } => {
    let unknown = false
    let doubtful = false
    let position = 0
    for (const key in value) {
      // Rows mostly have their keys in the same order.
      const index = keys[position] === key ? position : indexOf.get(key)
      const inside = value[key]
      if (index === undefined) unknown = true
      else row[index] = cellOf(inside)
      doubtful ||= mayLackDigits(inside)
      position += 1
    }
    return { unknown, doubtful }
  }
  const addLine = (parsed: ParsedRows, line: string): void => {
    if (line.trim() === '') return
    const row: Cell[] = new Array(keys.length).fill(null)
    const value = tryJson(line)
    if (isObject(value)) {
      const { unknown, doubtful } = fill(row, value)
      // Digit by digit takes several times as long, so it is done where it matters.
      if (doubtful) fill(row, parseExactJson(line) as JsonObject)
      if (unknown) parsed.faults.set(parsed.rows.length, 'The row has a field that the first rows did not have.')
    } else {
      parsed.faults.set(parsed.rows.length, 'The row is no JSON object.')
    }
    parsed.rows.push(row)
  }
  return {
    parse(text, ended) {
      const parsed = { rows: [] as Row[], faults: new Map<number, string>(), consumed: text.length }
      let at = 0
      while (at < text.length) {
        const end = text.indexOf('\n', at)
        if (end === -1 && !ended) return { ...parsed, consumed: at }
        addLine(parsed, text.substring(at, end === -1 ? text.length : end))
        at = end === -1 ? text.length : end + 1
      }
      return parsed
    },
    parseBroken(bytes, ended) {
      const parsed = { rows: [] as Row[], faults: new Map<number, string>(), consumed: bytes.length }
      let at = 0
      while (at < bytes.length) {
        const end = bytes.indexOf(10, at)
        if (end === -1 && !ended) return { ...parsed, consumed: at }
        const line = bytes.subarray(at, end === -1 ? bytes.length : end)
        if (isUtf8(line)) {
          addLine(parsed, line.toString())
        } else {
          parsed.faults.set(parsed.rows.length, notUtf8)
          parsed.rows.push(new Array(keys.length).fill(null))
        }
        at = end === -1 ? bytes.length : end + 1
      }
      return parsed
    },
  }
}

function cellOf(value: unknown): Cell {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'number':
      return value
    case 'object':
      return value === null ? null : textOfObject(value)
    default:
      return null
  }
}

/** JSON text of what is nested; the digits alone of a number that was kept as it was written. */
const textOfObject = (value: object): string => JSON.stringify(value)
