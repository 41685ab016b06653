import { isUtf8 } from 'node:buffer'
import { ConnectorError } from '../connector-error.ts'
import type { Cell } from '../rows.ts'
import { boundColumns, bounds, mebibytes, outOfBounds } from './bounds.ts'
import { type ByteStream, pieceBytes, textChunkBytes } from './bytes.ts'
import { distinctNames } from './column-names.ts'
import { dialectOf } from './csv-dialect.ts'
import { type CsvDialect, parseCsv } from './csv-parse.ts'
import { type Encoding, encodingOf } from './encoding.ts'
import type { OpenedFile } from './opened-file.ts'
import type { FileStore, StoredFile } from './store.ts'
import { goTo, notUtf8, type ParsedRows, type RowParser, readTextRows, textPlaceOf } from './text-rows.ts'
import { assertNoPage } from './web-page.ts'

/** The `ReadOptions` for CSV. */
type CsvOptions = {
  readonly encoding?: string
  readonly delimiter?: string
  readonly skipLines?: number
  readonly columns?: readonly string[]
  readonly shortRows?: boolean
  readonly chunkBytes?: number
}

/**
 *  Opens a CSV file with the bytes `opened`. Its header is the first line that is neither skipped nor empty, unless columns are
 *  given. A file without a header has no columns and no rows.
 */
export async function openCsv(
  opened: ByteStream,
  store: FileStore,
  file: StoredFile,
  options: CsvOptions,
  signal: AbortSignal,
): Promise<OpenedFile> {
  let stream = opened
  try {
    const encoding = encodingOf(await stream.peek(3), options.encoding)
    const { skipLines = 0 } = options
    const before = encoding.markBytes + (await skip(stream, file, encoding, skipLines))
    const separator = await takeSeparatorLine(stream, encoding)
    const skipped = before + separator.bytes
    const delimiter = options.delimiter && options.delimiter !== 'auto' ? options.delimiter : separator.delimiter
    const { dialect, names, bytes, lines } = options.columns
      ? await withoutHeader(stream, file, encoding, delimiter, options.columns)
      : await readHeader(stream, file, encoding, delimiter)
    stream.take(bytes)
    const line = 1 + skipLines + (separator.bytes > 0 ? 1 : 0) + lines
    const start = { offset: skipped + bytes, storedBytes: 0, line }
    const text = {
      store,
      file,
      signal,
      encoding,
      newline: dialect.newline,
      chunkBytes: options.chunkBytes ?? textChunkBytes,
    }
    const columns = distinctNames(names)
    return {
      columns,
      typeNames: columns.map(() => 'text'),
      async *read(after) {
        const place = after === undefined ? start : textPlaceOf(after)
        if (after !== undefined) stream = await goTo(stream, text, start.offset, place)
        yield* readTextRows(
          stream,
          text,
          place,
          csvRows({ ...dialect, short: options.shortRows ?? false }, columns.length),
        )
      },
      close: () => stream.close(),
    }
  } catch (error) {
    await stream.close()
    throw error
  }
}

/**
 * Skips the byte order mark and the first lines of a file. Quotes have no meaning in these lines.
 * @returns the number of skipped bytes
 */
async function skip(stream: ByteStream, file: StoredFile, encoding: Encoding, lines: number): Promise<number> {
  stream.take(encoding.markBytes)
  for (let wanted = pieceBytes; lines > 0; wanted *= 2) {
    const bytes = await stream.peek(wanted)
    const { ended } = stream
    const text = encoding.decode(ended || encoding.unitBytes !== 2 ? bytes : bytes.subarray(0, bytes.length & ~1))
    const newline = text.includes('\n') ? '\n' : '\r'
    const before = text.split(newline, lines + 1)
    if (before.length > lines || ended) {
      const skipped = before.length > lines ? before.slice(0, lines).join(newline) + newline : text
      if (skipped.includes('\uFFFD') || !skipped.isWellFormed()) throw headerNotText(file, encoding)
      const count = encoding.unitBytes ? skipped.length * encoding.unitBytes : Buffer.byteLength(skipped)
      stream.take(count)
      return count
    }
    if (wanted >= bounds.headerBytes) throw headerTooLong(file)
  }
  return 0
}

/**
 * Skips a line such as `sep=;`, in which Excel declares the delimiter of a file. It is not a row.
 * @returns the number of skipped bytes; 0 if the file begins with another line
 */
export async function takeSeparatorLine(
  stream: ByteStream,
  encoding: Encoding,
): Promise<{ readonly bytes: number; readonly delimiter?: string }> {
  const text = encoding.decode(await stream.peek(32))
  const [line, delimiter] = /^"?sep=([^\r\n])"?(?:\r\n|\r|\n)/i.exec(text) ?? []
  if (line === undefined || delimiter === undefined) return { bytes: 0 }
  const bytes = encoding.unitBytes ? line.length * encoding.unitBytes : Buffer.byteLength(line)
  stream.take(bytes)
  return { bytes, delimiter }
}

/** How a file is written, the names in its header, and the bytes and lines up to its end. */
export type CsvHeader = {
  readonly dialect: CsvDialect
  readonly names: readonly string[]
  readonly bytes: number
  readonly lines: number
}

/** How a file without a header begins: with its first row. */
async function withoutHeader(
  stream: ByteStream,
  file: StoredFile,
  encoding: Encoding,
  delimiter: string | undefined,
  columns: readonly string[],
): Promise<CsvHeader> {
  const bytes = await stream.peek(pieceBytes)
  const text = encoding.decode(encoding.unitBytes === 2 ? bytes.subarray(0, bytes.length & ~1) : bytes)
  assertNoPage(file, text)
  return { dialect: dialectOf(text, delimiter), names: columns, bytes: 0, lines: 0 }
}

/** Reads the beginning of a file, up to the end of the header. Throws `invalid_file` if it is not a header. */
export async function readHeader(
  stream: ByteStream,
  file: StoredFile,
  encoding: Encoding,
  delimiter: string | undefined,
): Promise<CsvHeader> {
  for (let wanted = pieceBytes; ; wanted *= 2) {
    const bytes = await stream.peek(wanted)
    const { ended } = stream
    const text = encoding.decode(ended || encoding.unitBytes !== 2 ? bytes : bytes.subarray(0, bytes.length & ~1))
    assertNoPage(file, text)
    const dialect = dialectOf(text, delimiter)
    const { rows, errors, consumed, lines } = parseCsv(text, dialect, 0, ended, 1)
    const [header] = rows
    if (header) {
      const error = errors.get(0)
      if (error) throw badHeader(file, error)
      const before = text.slice(0, consumed)
      if (before.includes('\uFFFD') || !before.isWellFormed()) throw headerNotText(file, encoding)
      return {
        dialect,
        names: boundColumns(
          file.name,
          header.map((cell) => String(cell ?? '')),
        ),
        bytes: encoding.unitBytes ? consumed * encoding.unitBytes : Buffer.byteLength(before),
        lines: lines.next(1),
      }
    }
    if (ended) return { dialect, names: [], bytes: bytes.length, lines: 0 }
    if (wanted >= bounds.headerBytes) throw headerTooLong(file)
  }
}

function csvRows(dialect: CsvDialect, width: number): RowParser {
  return {
    width,
    parse: (text, ended, rowsMax) => parseCsv(text, dialect, width, ended, rowsMax),
    parseBroken: (bytes, ended, rowsMax) =>
      decodeRows(parseCsv(bytes.toString('latin1'), dialect, width, ended, rowsMax)),
  }
}

/** Decodes cells in which each byte was read as a character, so that rows could be found regardless of their bytes. */
function decodeRows({ rows, errors, ...read }: ParsedRows): ParsedRows {
  const decoded = rows.map((row, index) =>
    row.map((cell): Cell => {
      if (typeof cell !== 'string') return cell
      const bytes = Buffer.from(cell, 'latin1')
      if (!isUtf8(bytes)) errors.set(index, notUtf8)
      return bytes.toString('utf8')
    }),
  )
  return { rows: decoded, errors, ...read }
}

const headerTooLong = ({ name }: StoredFile) =>
  outOfBounds(
    'invalid_file',
    name,
    `has a first line of more than ${mebibytes(bounds.headerBytes)}, which should contain the column names`,
    'Close an open quote in it, or choose the right format and encoding of the file.',
  )

const badHeader = ({ name }: StoredFile, error: string) =>
  new ConnectorError(
    'invalid_file',
    `The first line of ${name} does not contain valid column names. ${error} Correct the line, or choose the right format of the file.`,
  )

const headerNotText = ({ name }: StoredFile, { name: encoding }: Encoding) =>
  new ConnectorError(
    'invalid_file',
    `The first line of ${name} is not valid ${encoding} text. Choose the right encoding of the file.`,
  )
