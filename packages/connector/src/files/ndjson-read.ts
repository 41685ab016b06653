import { boundColumns, bounds, tooManyColumns } from './bounds.ts'
import { type ByteStream, changed, pieceBytes, textChunkBytes } from './bytes.ts'
import { distinctNames } from './column-names.ts'
import { type Encoding, encodingOf } from './encoding.ts'
import { jsonLines } from './json-lines.ts'
import { isObject, ndjsonRows, tryJson } from './ndjson-parse.ts'
import type { OpenedFile } from './opened-file.ts'
import type { FileStore, StoredFile } from './store.ts'
import { goTo, readTextRows, textPlaceOf } from './text-rows.ts'
import { assertNoPage } from './web-page.ts'

/** Limits of the first file that is read to find the columns; the first limit that is reached applies. */
const scanned = { rows: 10_000, bytes: 16 * pieceBytes }

/**
 * Opens a file of JSON objects: one a line, over several lines, or in an array. Its columns are the keys of its first rows, in
 * the order in which they appear. A later row with another key is an error, because columns cannot be added once rows are sent.
 * A missing key is null.
 * @param opened the bytes of the file
 * @param columns the columns of an earlier file
 */
export async function openJson(
  opened: ByteStream,
  layout: 'JSON lines' | 'JSON objects' | 'JSON array',
  store: FileStore,
  file: StoredFile,
  options: { encoding?: string; chunkBytes?: number },
  signal: AbortSignal,
  columns: readonly string[] | undefined,
): Promise<OpenedFile> {
  let stream = opened
  const asLines = (bytes: ByteStream, at: number, begun: boolean): ByteStream =>
    layout === 'JSON lines' ? bytes : changed(bytes, at, signal, (source) => jsonLines(file, source, layout, begun))
  try {
    const encoding = encodingOf(await stream.peek(3), options.encoding)
    stream.take(encoding.markBytes)
    stream = asLines(stream, encoding.markBytes, false)
    const start = { offset: encoding.markBytes, storedBytes: 0, ...(layout === 'JSON lines' && { line: 1 }) }
    const text = {
      store,
      file,
      signal,
      encoding,
      newline: '\n',
      chunkBytes: options.chunkBytes ?? textChunkBytes,
    } as const
    const keys = columns ?? (await scanKeys(stream, file, encoding))
    return {
      // A key is not changed, except that a blank key gets a name.
      columns: columns ?? distinctNames(keys),
      async *read(after) {
        const place = after === undefined ? start : textPlaceOf(after)
        if (after !== undefined) {
          const there = await goTo(stream, text, start.offset, place)
          stream = there === stream ? stream : asLines(there, place.offset, true)
        }
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
async function scanKeys(stream: ByteStream, file: StoredFile, encoding: Encoding): Promise<string[]> {
  let bytes = await stream.peek(scanned.bytes)
  // The first row can be larger than these limits.
  for (let wanted = scanned.bytes; wanted < bounds.rowBytes && !stream.ended && !bytes.includes('\n'); ) {
    wanted *= 2
    bytes = await stream.peek(wanted)
  }
  const text = encoding.decode(bytes)
  assertNoPage(file, text)
  // A line that is cut off is not a whole row, unless the file ends there. It then fails to parse as JSON.
  const lines = text.split('\n', scanned.rows)
  const keys = new Set<string>()
  for (const line of lines) {
    const value = line.trim() === '' ? undefined : tryJson(line)
    if (!isObject(value)) continue
    // Half of a character is not a name. The row that contains it is an error.
    for (const key of Object.keys(value)) if (key.isWellFormed()) keys.add(key)
    if (keys.size > bounds.columns) throw tooManyColumns(file.name)
  }
  boundColumns(file.name, [...keys])
  return [...keys]
}
