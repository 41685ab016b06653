import type { RowNumbers } from '../row-places.ts'
import type { Json, Row } from '../rows.ts'
import { bounds, isTooLong, mebibytes, outOfBounds, rowErrors } from './bounds.ts'
import { type ByteStream, openBytesAt } from './bytes.ts'
import type { Encoding } from './encoding.ts'
import type { FilePiece } from './opened-file.ts'
import type { FileStore, StoredFile } from './store.ts'

/** Reading formats that are text, line by line or nearly so. */

/** Rows that were read from a text. */
export type ParsedRows = {
  readonly rows: Row[]
  /** Errors of rows, by their index in `rows`. */
  readonly errors: Map<number, string>
  /** Characters that were read: whole rows, including their ends. */
  readonly consumed: number
  /** The line of each row in the text, from 0, and of the row after the last one. */
  readonly lines: RowNumbers
}

/** How whole rows are read; `ended`: the text is the end of the file; `rowsMax`: maximum rows. */
export type RowParser = {
  /** Number of cells of a row. */
  readonly width: number
  parse(text: string, ended: boolean, rowsMax: number): ParsedRows
  /** The same for bytes that are partly invalid UTF-8. Only the rows with such bytes are errors. */
  parseBroken(bytes: Buffer, ended: boolean, rowsMax: number): ParsedRows
}

export const notUtf8 = 'The row is not valid UTF-8 text. If the file has another encoding, choose it in the settings.'

export const notUtf16 =
  'The row is not valid UTF-16 text. Write the file again, or choose its encoding in the settings.'

export type TextFile = {
  readonly store: FileStore
  readonly file: StoredFile
  readonly signal: AbortSignal
  readonly encoding: Encoding
  readonly newline: '\n' | '\r'
  readonly chunkBytes: number
}

/**
 * A place in a text file: unpacked bytes before it, stored bytes before it, and its line, from 1. The line is absent in places of
 * earlier versions, and if the rows are no lines of the file.
 */
export type TextPlace = { readonly offset: number; readonly storedBytes: number; readonly line?: number }

/** A stored place of a piece. */
export function textPlaceOf(place: Json): TextPlace {
  const { offset, storedBytes, line } = place as TextPlace
  return { offset, storedBytes, ...(line !== undefined && { line }) }
}

/** Moves a stream to a later place: a compressed file must be unpacked up to there, another file is opened there. */
export async function goTo(stream: ByteStream, text: TextFile, from: number, place: TextPlace): Promise<ByteStream> {
  if (stream.packed) {
    await stream.skip(place.offset - from)
    return stream
  }
  await stream.close()
  return openBytesAt(text.store, text.file, place.offset, text.signal)
}

/** Reads the rows from the current place of a stream, in pieces of about a chunk, within the limit of cells. */
export async function* readTextRows(
  stream: ByteStream,
  text: TextFile,
  from: TextPlace,
  parser: RowParser,
): AsyncGenerator<FilePiece> {
  const rowsMax = Math.max(1, Math.floor(bounds.pieceCells / Math.max(1, parser.width)))
  let { offset, line } = from
  let wanted = text.chunkBytes
  for (;;) {
    const bytes = await stream.peek(wanted)
    if (bytes.length === 0) return
    const { ended } = stream
    const lines = ended ? bytes : bytes.subarray(0, endOfLines(bytes, text))
    let consumed = 0
    for (const { rows, errors, lines: numbers, consumedBytes } of parseBytes(lines, text, ended, parser, rowsMax)) {
      consumed += consumedBytes
      stream.take(consumedBytes)
      offset += consumedBytes
      // Unpacked bytes that are not yet used are treated as used, because their size in the compressed file is unknown.
      const storedBytes = Math.max(stream.storedBytes, from.storedBytes)
      const places = line === undefined ? {} : { places: { unit: 'line' as const, numbers: numbers.from(line) } }
      line = line === undefined ? undefined : line + numbers.next(rows.length)
      const place = { offset, storedBytes, ...(line !== undefined && { line }) }
      if (rows.length > 0) yield { rows, errors, ...places, place, storedBytes }
    }
    if (consumed > 0) {
      wanted = text.chunkBytes
    } else {
      if (wanted >= bounds.rowBytes) throw rowTooLong(text.file)
      wanted = Math.min(2 * wanted, bounds.rowBytes)
    }
  }
}

const rowTooLong = ({ name }: StoredFile) =>
  outOfBounds(
    'row_too_large',
    name,
    `has a row of more than ${mebibytes(bounds.rowBytes)}`,
    'Check for a quote that is never closed, or choose another format.',
  )

/** Bytes up to the end of the last complete line; 0 if no line is complete. */
function endOfLines(bytes: Buffer, { encoding, newline }: TextFile): number {
  if (encoding.unitBytes !== 2) return bytes.lastIndexOf(newline) + 1
  const pattern =
    encoding.name === 'utf-16le' ? Buffer.from([newline.charCodeAt(0), 0]) : Buffer.from([0, newline.charCodeAt(0)])
  let at = bytes.lastIndexOf(pattern)
  // Adjacent bytes of two characters can look the same.
  while (at > 0 && at % 2 === 1) at = bytes.lastIndexOf(pattern, at - 1)
  return at === -1 || at % 2 === 1 ? 0 : at + 2
}

type ParsedBytes = Pick<ParsedRows, 'rows' | 'errors' | 'lines'> & { readonly consumedBytes: number }

/** Reads the rows of whole lines, up to `rowsMax` at a time. The lines are decoded once. */
function* parseBytes(
  bytes: Buffer,
  { encoding }: TextFile,
  ended: boolean,
  parser: RowParser,
  rowsMax: number,
): Generator<ParsedBytes> {
  const broken = encoding.name === 'utf-8' && !encoding.fits(bytes)
  const text = broken ? '' : encoding.decode(bytes)
  const halved = encoding.unitBytes === 2 && !text.isWellFormed()
  const length = broken ? bytes.length : text.length
  for (let at = 0, atByte = 0; at < length; ) {
    const parsed = broken
      ? parser.parseBroken(bytes.subarray(at), ended, rowsMax)
      : parser.parse(at === 0 ? text : text.slice(at), ended, rowsMax)
    const { rows, errors, lines, consumed } = parsed
    if (halved) findHalves(parsed)
    if (bytes.length * 3 > bounds.cellBytes) findLongCells(parsed)
    if (consumed === 0) return
    const end = at + consumed
    const consumedBytes = broken ? consumed : bytesOf(text, at, end, encoding, bytes.length - atByte)
    yield { rows, errors, lines, consumedBytes }
    if (rows.length < rowsMax) return
    at = end
    atByte += consumedBytes
  }
}

/** Bytes of a part of a text that has `left` bytes at its end. */
function bytesOf(text: string, from: number, to: number, { unitBytes }: Encoding, left: number): number {
  if (to === text.length) return left
  return unitBytes ? (to - from) * unitBytes : Buffer.byteLength(text.slice(from, to))
}

/** Rejects rows with half of a surrogate pair, which is not text. */
function findHalves({ rows, errors }: ParsedRows): void {
  for (const [index, row] of rows.entries()) {
    if (row.every((cell) => typeof cell !== 'string' || cell.isWellFormed())) continue
    rows[index] = row.map((cell) => (typeof cell === 'string' ? cell.toWellFormed() : cell))
    errors.set(index, notUtf16)
  }
}

function findLongCells({ rows, errors }: ParsedRows): void {
  for (const [index, row] of rows.entries()) {
    if (!row.some((cell) => typeof cell === 'string' && isTooLong(cell))) continue
    rows[index] = row.map((cell) => (typeof cell === 'string' && isTooLong(cell) ? null : cell))
    errors.set(index, rowErrors.cellTooLong)
  }
}
