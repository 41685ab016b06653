import { CompressionCodecs } from 'hyparquet/src/constants.js'
import { mebibytes, parquetBounds } from './bounds.ts'
import { isKnownCodec } from './codecs.ts'
import { ParquetError } from './parquet-error.ts'
import type { RowLimits } from './rows.ts'
import { leavesOf, readSchema, type SchemaNode } from './schema.ts'
import type { ParquetSource } from './source.ts'
import {
  numberOf,
  readStruct,
  structOf,
  structsOf,
  type Thrift,
  type ThriftStruct,
  TooManyValues,
  textOf,
} from './thrift.ts'

/** The place of the values of a leaf column in a row group. */
export type ColumnChunk = {
  readonly codec: string
  /** Number of values, including nulls and placeholders of empty lists. */
  readonly values: number
  /** Its bytes in the file. */
  readonly start: number
  readonly end: number
}

export type RowGroup = {
  readonly rows: number
  /** The unpacked bytes of its columns according to the footer; only a hint. */
  readonly bytes: number
  /** The bytes in the file from the first of its columns to the end of the last. */
  readonly start: number
  readonly end: number
  /** One for each leaf of the schema. */
  readonly chunks: readonly ColumnChunk[]
}

export type Footer = { readonly columns: readonly SchemaNode[]; readonly groups: readonly RowGroup[] }

const mark = 'PAR1'
/** The length of the footer and the mark, after the footer. */
const tailBytes = 8
const firstReadBytes = 64 << 10

/**
 * Reads the footer of a Parquet file, and compares its claims with the size of the file before they are used, because the footer
 * can claim anything.
 * @throws a `ParquetError` if a limit is exceeded, an error of another kind if the footer is damaged
 */
export async function readFooter({ sizeBytes, readRange }: ParquetSource, limits: RowLimits): Promise<Footer> {
  let tail = await readRange(Math.max(0, sizeBytes - firstReadBytes), sizeBytes)
  if (tail.length < tailBytes || tail.toString('latin1', tail.length - 4) !== mark)
    throw new Error('no mark at the end')
  const footerBytes = tail.readUInt32LE(tail.length - tailBytes)
  const start = sizeBytes - tailBytes - footerBytes
  if (start < mark.length) throw new Error('a footer that is larger than the file')
  if (footerBytes > parquetBounds.footerBytes) throw footerTooLarge()
  if (footerBytes + tailBytes > tail.length) tail = await readRange(start, sizeBytes)
  const bytes = tail.subarray(tail.length - tailBytes - footerBytes, tail.length - tailBytes)
  if (bytes.length !== footerBytes) throw new Error('a footer that is not whole')
  let fields: ThriftStruct
  try {
    fields = readStruct(bytes, 0, parquetBounds.footerValues).struct
  } catch (error) {
    throw error instanceof TooManyValues ? footerTooLarge() : error
  }
  const columns = readSchema(structsOf(fields[2]), limits)
  const groupFields = structsOf(fields[4])
  if (groupFields.length > parquetBounds.rowGroups) throw footerTooLarge()
  const leaves = leavesOf(columns)
  const groups = groupFields.map((group) => groupOf(group, leaves, start))
  assertPlausible(sizeBytes, groups, numberOf(fields[3]))
  return { columns, groups }
}

function groupOf(group: ThriftStruct, leaves: readonly SchemaNode[], dataEnd: number): RowGroup {
  const rows = countOf(group[3])
  // Some writers leave other content if there are no rows. It is not read.
  if (rows === 0) return { rows, bytes: 0, start: dataEnd, end: dataEnd, chunks: [] }
  const stored = structsOf(group[1])
  if (stored.length !== leaves.length) throw new Error('a row group with other columns than the schema')
  const chunks = stored.map((column, index): ColumnChunk => {
    const meta = structOf(column[3])
    const leaf = leaves[index] as SchemaNode
    if (!meta || column[1] !== undefined) throw new Error('a column whose data are in another file')
    if (!isPath(meta[3], leaf.path)) throw new Error('a column that is not at its place')
    const codec = CompressionCodecs[countOf(meta[4])] ?? 'none'
    if (!isKnownCodec(codec)) throw new Error(`the codec ${codec}`)
    const dictionary = countOf(meta[11] ?? 0)
    const data = countOf(meta[9])
    const start = dictionary > 0 ? Math.min(dictionary, data) : data
    const end = start + countOf(meta[7])
    if (start < mark.length || end > dataEnd) throw new Error('a column that is not in the file')
    const values = countOf(meta[5])
    // A column without lists has a value for each row.
    if (leaf.repeats === 0 ? values !== rows : values < rows) throw new Error('a column with fewer values than rows')
    return { codec, values, start, end }
  })
  const start = chunks.reduce((least, chunk) => Math.min(least, chunk.start), dataEnd)
  const end = chunks.reduce((most, chunk) => Math.max(most, chunk.end), start)
  return { rows, bytes: countOf(group[2] ?? 0), start, end, chunks }
}

/** A field as a number of things. */
function countOf(value: Thrift): number {
  const count = numberOf(value)
  if (count < 0) throw new Error('fewer than none')
  return count
}

const isPath = (value: Thrift, path: readonly string[]): boolean =>
  Array.isArray(value) && value.length === path.length && path.every((name, index) => textOf(value[index]) === name)

/** Compares rows, values and bytes with the maximum for a file of this size. */
function assertPlausible(sizeBytes: number, groups: readonly RowGroup[], rowsClaimed: number): void {
  const { rows, values } = parquetBounds
  let rowCount = 0
  let valueCount = 0
  let storedBytes = 0
  for (const group of groups) {
    rowCount += group.rows
    for (const chunk of group.chunks) {
      valueCount += chunk.values
      storedBytes += chunk.end - chunk.start
    }
  }
  const expands = (what: string, count: number, { free, perByte }: { free: number; perByte: number }) => {
    if (count <= free + perByte * sizeBytes) return
    const clause = `claims ${count} ${what} in ${sizeBytes} bytes; there may be ${free}, and ${perByte} more for each byte`
    throw new ParquetError('too_large', clause, 'Write the file in parts, or as CSV or NDJSON.')
  }
  expands('rows', rowCount, rows)
  expands('values', valueCount, values)
  if (rowCount !== rowsClaimed) throw new Error('row groups with other rows than the file')
  // Columns that share bytes would be a small file that unpacks to a large one.
  if (storedBytes > sizeBytes) throw new Error('columns that overlap')
}

const footerTooLarge = () => {
  const { footerBytes, footerValues, rowGroups } = parquetBounds
  const clause = `has a footer of more than ${mebibytes(footerBytes)}, ${footerValues} values or ${rowGroups} row groups`
  return new ParquetError('too_large', clause, 'Write it with fewer columns or larger row groups.')
}
