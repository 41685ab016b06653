import { Outcome } from '../outcome.ts'
import type { Json, Row } from '../rows.ts'
import { type ByteStream, openBytesAt } from './bytes.ts'
import type { Encoding } from './encoding.ts'
import type { FilePiece } from './opened-file.ts'
import type { FileStore, StoredFile } from './store.ts'

/** Reading formats that are text, line by line or nearly so. */

/** No row may be longer: it has to be in memory as a whole, and is mostly the work of a quote that is never closed. */
export const rowBytesMax = 16 << 20

/** Rows that were read from a text. */
export type ParsedRows = {
  readonly rows: Row[]
  /** What is wrong with a row, by its index in `rows`. */
  readonly faults: Map<number, string>
  /** Characters that were read: whole rows, with what ends them. */
  readonly consumed: number
}

/** How whole rows are read; `ended` says that the text is the end of the file. */
export type RowParser = {
  parse(text: string, ended: boolean): ParsedRows
  /** The same for bytes that are partly none of UTF-8; only the rows that have such bytes are at fault. */
  parseBroken(bytes: Buffer, ended: boolean): ParsedRows
}

export const notUtf8 =
  'The row has bytes that are no text in UTF-8: if the file is in another encoding, choose it in the settings.'

export type TextFile = {
  readonly store: FileStore
  readonly file: StoredFile
  readonly signal: AbortSignal
  readonly encoding: Encoding
  readonly newline: '\n' | '\r'
  readonly chunkBytes: number
}

/** A place in a text file: bytes before it, once unpacked, and of the file as it is stored. */
export type TextPlace = { readonly offset: number; readonly storedBytes: number }

/** A place that a piece had, as it comes back. */
export function textPlaceOf(place: Json): TextPlace {
  const { offset, storedBytes } = place as TextPlace
  return { offset, storedBytes }
}

/**
 * Goes to a place behind the one at which a stream is: a file that is packed has to be unpacked up to there again,
 * another one is opened there.
 */
export async function goTo(stream: ByteStream, text: TextFile, from: number, place: TextPlace): Promise<ByteStream> {
  if (stream.packed) {
    await stream.skip(place.offset - from)
    return stream
  }
  await stream.close()
  return openBytesAt(text.store, text.file, place.offset, text.signal)
}

/** Reads the rows from where a stream is, about as many at once as make a chunk. */
export async function* readTextRows(
  stream: ByteStream,
  text: TextFile,
  from: TextPlace,
  parser: RowParser,
): AsyncGenerator<FilePiece> {
  let { offset } = from
  let wanted = text.chunkBytes
  for (;;) {
    const bytes = await stream.peek(wanted)
    if (bytes.length === 0) return
    const { ended } = stream
    const lines = ended ? bytes : bytes.subarray(0, endOfLines(bytes, text))
    const { rows, faults, consumedBytes } = parseBytes(lines, text, ended, parser)
    if (consumedBytes === 0) {
      if (wanted >= rowBytesMax) throw rowTooLong(text.file)
      wanted = Math.min(2 * wanted, rowBytesMax)
      continue
    }
    stream.take(consumedBytes)
    offset += consumedBytes
    wanted = text.chunkBytes
    // What was unpacked and not yet used counts as used: how much that was in the packed file, nobody knows.
    const storedBytes = Math.max(stream.storedBytes, from.storedBytes)
    if (rows.length > 0) yield { rows, faults, place: { offset, storedBytes }, storedBytes }
  }
}

const rowTooLong = (file: StoredFile) =>
  new Outcome(
    'failed',
    'row_too_long',
    `${file.name} has a row of more than ${rowBytesMax >> 20} MiB. Mostly a quote that is never closed is to blame, or another format than was chosen.`,
  )

/** Bytes up to the end of the last line in them; 0: they have none. */
function endOfLines(bytes: Buffer, { encoding, newline }: TextFile): number {
  if (encoding.unitBytes !== 2) return bytes.lastIndexOf(newline) + 1
  const pattern =
    encoding.name === 'utf-16le' ? Buffer.from([newline.charCodeAt(0), 0]) : Buffer.from([0, newline.charCodeAt(0)])
  let at = bytes.lastIndexOf(pattern)
  // Bytes of two neighbours may look the same.
  while (at > 0 && at % 2 === 1) at = bytes.lastIndexOf(pattern, at - 1)
  return at === -1 || at % 2 === 1 ? 0 : at + 2
}

type ParsedBytes = Pick<ParsedRows, 'rows' | 'faults'> & { readonly consumedBytes: number }

function parseBytes(bytes: Buffer, { encoding }: TextFile, ended: boolean, parser: RowParser): ParsedBytes {
  if (encoding.name === 'utf-8' && !encoding.fits(bytes)) {
    const { rows, faults, consumed } = parser.parseBroken(bytes, ended)
    return { rows, faults, consumedBytes: consumed }
  }
  const text = encoding.decode(bytes)
  const { rows, faults, consumed } = parser.parse(text, ended)
  if (consumed === text.length) return { rows, faults, consumedBytes: bytes.length }
  if (encoding.unitBytes) return { rows, faults, consumedBytes: consumed * encoding.unitBytes }
  return { rows, faults, consumedBytes: Buffer.byteLength(text.slice(0, consumed)) }
}
