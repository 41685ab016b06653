import { ConnectorError } from '../connector-error.ts'
import type { ByteStream } from './bytes.ts'
import { encodingOf } from './encoding.ts'
import { type FileFormat, formatOfName } from './format.ts'
import { isObject, tryJson } from './ndjson-parse.ts'
import type { StoredFile } from './store.ts'

/** Format of a file, by its content: JSON is one object a line, objects over several lines, or an array of objects. */
export type FileContent = 'CSV' | 'Parquet' | 'Excel' | 'Avro' | 'DuckDB' | 'JSON lines' | 'JSON objects' | 'JSON array'

/** Unpacked bytes of a file that are inspected. */
const lookedAtBytes = 64 << 10

/**
 * Detects the content of a file from its unpacked beginning; its name decides only if the content is ambiguous.
 * @param chosen the chosen format, with which the content is compared
 * @throws a `ConnectorError`, `invalid_file`, if the content has no known format, or clearly another format than the chosen one
 */
export async function contentOf(
  stream: ByteStream,
  file: StoredFile,
  { format: chosen, encoding: chosenEncoding }: { format: FileFormat; encoding?: string },
): Promise<FileContent> {
  const { name } = file
  const bytes = await stream.peek(lookedAtBytes)
  if (bytes.subarray(0, 4).toString('latin1') === 'PAR1') {
    if (stream.packed)
      throw invalid(`${name} is a compressed Parquet file. Store it uncompressed: Parquet compresses its own data.`)
    if (chosen !== 'auto' && chosen !== 'Parquet') throw otherFormat(name, 'a Parquet file', chosen)
    return 'Parquet'
  }
  if (bytes.subarray(0, 4).toString('latin1') === 'Obj\x01') {
    if (chosen !== 'auto' && chosen !== 'Avro') throw otherFormat(name, 'an Avro file', chosen)
    return 'Avro'
  }
  if (chosen === 'Avro') throw invalid(`${name} is not an Avro file. Set the right format, or auto.`)
  if (isDuckdb(bytes)) {
    if (chosen !== 'auto' && chosen !== 'DuckDB') throw otherFormat(name, 'a DuckDB database', chosen)
    return 'DuckDB'
  }
  if (chosen === 'DuckDB') throw invalid(`${name} is not a DuckDB database. Set the right format, or auto.`)
  if (isWorkbook(name, bytes)) {
    if (stream.packed) throw invalid(`${name} is a compressed Excel workbook. Store the workbook itself.`)
    if (chosen !== 'auto' && chosen !== 'Excel') throw otherFormat(name, 'an Excel workbook or a ZIP archive', chosen)
    return 'Excel'
  }
  if (chosen === 'Excel') throw invalid(`${name} is not an Excel workbook (.xlsx). Set the right format, or auto.`)
  // Other content is damaged, and so is an empty file with this name.
  const named = chosen === 'auto' ? formatOfName(name) : chosen
  if (chosen === 'Parquet' || (named === 'Parquet' && bytes.length === 0)) return 'Parquet'
  if (bytes.subarray(0, 4).toString('latin1') === 'PARE') {
    throw invalid(`${name} is an encrypted Parquet file. Write it without encryption.`)
  }
  if (bytes.subarray(257, 262).toString('latin1') === 'ustar') {
    throw invalid(`${name} is a tar archive. Unpack it, and store the files in it.`)
  }
  const encoding = encodingOf(bytes, chosenEncoding)
  const text = encoding.decode(bytes.subarray(encoding.markBytes))
  const json = jsonIn(text)
  if (json !== undefined) {
    if (chosen === 'CSV') throw otherFormat(name, 'JSON', chosen)
    // In lines of JSON, only a line that is not an object is an error.
    if (json === 'other' && named === 'NDJSON') return 'JSON lines'
    if (json === 'other')
      throw invalid(`${name} is a JSON array of values that are not objects. Write one object for each row.`)
    if (json !== 'JSON lines' && encoding.unitBytes === 2) {
      throw invalid(`${name} is JSON over several lines in UTF-16. Write it in UTF-8, or with one object per line.`)
    }
    return json
  }
  if (chosen !== 'CSV') assertText(name, text)
  if (named === 'NDJSON') return 'JSON lines'
  if (named === 'JSON' && text.trim() !== '') {
    throw invalid(`${name} has a JSON name, but its content is not JSON. Write it again, or choose the right format.`)
  }
  return named === 'JSON' ? 'JSON lines' : 'CSV'
}

/** Whether a file begins as a DuckDB database. */
export const isDuckdb = (start: Uint8Array): boolean => Buffer.from(start.subarray(8, 12)).toString('latin1') === 'DUCK'

/**
 * Whether a file begins like a workbook, or another ZIP file.
 * @throws a `ConnectorError` for encrypted workbooks and the format from before 2007, which have the same beginning
 */
function isWorkbook(name: string, start: Buffer): boolean {
  if (start.subarray(0, 8).toString('hex') === 'd0cf11e0a1b11ae1') {
    const says =
      'is an Excel workbook with a password, an Excel workbook in the old format (.xls), or another old Office document'
    throw invalid(`${name} ${says}. Save it as .xlsx without a password.`)
  }
  return ['PK\x03\x04', 'PK\x05\x06'].includes(start.subarray(0, 4).toString('latin1'))
}

/** Kind of JSON of a text, by its beginning; `undefined` if it is not JSON: a CSV file may begin with a bracket, too. */
function jsonIn(text: string): 'JSON lines' | 'JSON objects' | 'JSON array' | 'other' | undefined {
  if (/^\s*\[\s*(?:[{\]]|$)/.test(text)) return 'JSON array'
  if (/^\s*\[\s*(?:[["\d-]|(?:true|false|null)\s*[,\]])/.test(text)) return 'other'
  if (!/^\s*\{\s*(?:["}]|$)/.test(text)) return undefined
  const [line = ''] = text.trimStart().split('\n', 1)
  return isObject(tryJson(line)) || line.trimEnd().endsWith('}') || line.length > lookedAtBytes / 2
    ? 'JSON lines'
    : 'JSON objects'
}

/** Characters that do not occur in texts, and the replacement of invalid bytes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for these characters
const notText = /[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]/g
/**
 *  The share of such characters from which on a file is not text: half of random bytes are invalid, and few bytes of any text.
 */
const notTextPart = 0.3
/** Beginnings of other kinds of files that contain text. */
const magics = ['%PDF-', 'SQLite format 3\0', '\ufffd\ufffd\x11\ufffd']

function assertText(name: string, text: string): void {
  if (/^\s*<\?xml\s/.test(text)) throw invalid(`${name} is XML, which is not supported. Write it as ${readable}.`)
  const head = text.slice(0, 4096)
  const count = head.match(notText)?.length ?? 0
  if (count <= head.length * notTextPart && !magics.some((magic) => head.startsWith(magic))) return
  throw invalid(
    `${name} is neither text nor a Parquet file or Excel workbook. Write it as ${readable}. If it is text in UTF-16, choose its encoding in the settings.`,
  )
}

const readable = 'CSV, JSON, Excel (.xlsx) or Parquet'

const otherFormat = (name: string, what: string, chosen: string) =>
  invalid(`${name} is ${what}, but the format ${chosen} is set. Set the right format, or auto.`)

const invalid = (message: string) => new ConnectorError('invalid_file', message)
