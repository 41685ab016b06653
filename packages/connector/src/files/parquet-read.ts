import {
  type AsyncBuffer,
  type FileMetaData,
  parquetMetadataAsync,
  parquetScan,
  parquetSchema,
  type RowGroup,
} from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { asOutcome, Outcome } from '../outcome.ts'
import type { Cell, Json, Row } from '../rows.ts'
import { type ByteStream, openBytesAt, pieceBytes } from './bytes.ts'
import { distinctNames } from './column-names.ts'
import type { FilePiece, OpenedFile } from './opened-file.ts'
import { type ColumnReading, nestedOf, noText, parsers, readingOf } from './parquet-cells.ts'
import type { FileStore, StoredFile } from './store.ts'

/** How many chunks a group of rows may hold to be read whole; the pages of a larger one are read one by one. */
const groupChunksMax = 64
/** The same for a group whose pages cannot be told apart: a larger one would take more memory than a worker has. */
const pagelessChunksMax = 512
const pieceRowsMax = 5000

/** A place in a Parquet file: a group of rows, and a row in it. */
type GroupPlace = { readonly group: number; readonly row: number; readonly storedBytes: number }

type Column = Pick<ColumnReading, 'cellOf'> & { readonly name: string }

/**
 * Opens a Parquet file. Its rows are read group by group; what is nested becomes JSON text, decimals and whole numbers
 * beyond 2^53 become text, days and moments become ISO 8601 text, bytes that are marked as no text become hexadecimal.
 */
export async function openParquet(
  store: FileStore,
  file: StoredFile,
  { chunkBytes = 4 * pieceBytes }: { chunkBytes?: number },
  signal: AbortSignal,
): Promise<OpenedFile> {
  const metadata = await damaged(file, () =>
    parquetMetadataAsync(fileBuffer(store, file, signal), { geoparquet: false }),
  )
  const columns = columnsOf(metadata)
  let stream: ByteStream | undefined
  return {
    columns: distinctNames(columns.map(({ name }) => name)),
    async *read(after) {
      const place = (after ?? { group: 0, row: 0, storedBytes: 0 }) as GroupPlace
      for (const [index, group] of metadata.row_groups.entries()) {
        if (index < place.group) continue
        const { start, end } = bytesOf(group)
        const pieceRows = pieceRowsOf(group, chunkBytes)
        const chunks = Number(group.total_byte_size) / chunkBytes
        const whole = chunks <= groupChunksMax || !hasPages(group)
        if (whole && chunks > pagelessChunksMax) throw groupTooLarge(file, pagelessChunksMax * chunkBytes)
        let buffer = fileBuffer(store, file, signal)
        if (whole) {
          // Groups follow each other, so one stream serves them all.
          stream ??= openBytesAt(store, file, start, signal)
          const bytes = await readRange(stream, start, end)
          if (!bytes) {
            await stream.close()
            stream = undefined
          }
          buffer = bytes ? windowOf(buffer, start, bytes) : buffer
        }
        const from = index === place.group ? place.row : 0
        for await (const { rows, faults, row } of groupRows(file, metadata, group, columns, buffer, {
          from,
          pieceRows,
          whole,
        })) {
          signal.throwIfAborted()
          const storedBytes = Math.round(start + ((end - start) * row) / Number(group.num_rows))
          const at: Json = { group: index, row, storedBytes }
          yield { rows, faults, place: at, storedBytes } satisfies FilePiece
        }
      }
    },
    async close() {
      await stream?.close()
    },
  }
}

/** The columns of a file; changes how the library reads those that it would read with fewer digits. */
function columnsOf(metadata: FileMetaData): Column[] {
  return parquetSchema(metadata).children.map(({ element, children }) => {
    const repeated = children.length > 0 || element.repetition_type === 'REPEATED'
    if (repeated) return { name: element.name, cellOf: nestedOf }
    const reading = readingOf(element)
    metadata.schema[metadata.schema.indexOf(element)] = reading.element
    return { name: element.name, cellOf: reading.cellOf }
  })
}

type GroupRows = { rows: Row[]; faults: Map<number, string>; row: number }

async function* groupRows(
  file: StoredFile,
  metadata: FileMetaData,
  group: RowGroup,
  columns: readonly Column[],
  buffer: AsyncBuffer,
  { from, pieceRows, whole }: { from: number; pieceRows: number; whole: boolean },
): AsyncGenerator<GroupRows> {
  const groupSize = Number(group.num_rows)
  const scan = await damaged(file, () =>
    parquetScan({
      file: buffer,
      metadata: { ...metadata, row_groups: [group], num_rows: group.num_rows },
      ...{ compressors, parsers, utf8: false, geoparquet: false, useOffsetIndex: !whole },
    }),
  )
  const stepRows = whole ? groupSize : pieceRows
  for (let step = from; step < groupSize; step += stepRows) {
    const stepEnd = whole ? groupSize : Math.min(groupSize, step + stepRows)
    const data: ArrayLike<unknown>[] = []
    for (const { name } of columns) {
      data.push(await damaged(file, () => scan.readColumn({ column: name, rowStart: step, rowEnd: stepEnd })))
    }
    for (let row = step; row < stepEnd; row += pieceRows) {
      const end = Math.min(stepEnd, row + pieceRows)
      yield { ...rowsOf(columns, data, row - step, end - step), row: end }
    }
  }
}

function rowsOf(
  columns: readonly Column[],
  data: readonly ArrayLike<unknown>[],
  from: number,
  to: number,
): Omit<GroupRows, 'row'> {
  const faults = new Map<number, string>()
  const rows: Row[] = []
  for (let index = from; index < to; index += 1) {
    const row: Cell[] = new Array(columns.length)
    for (const [position, { name, cellOf }] of columns.entries()) {
      const cell = cellOf(data[position]?.[index])
      if (cell === noText) faults.set(rows.length, `The row has bytes in ${name} that are no text.`)
      row[position] = cell === noText ? null : cell
    }
    rows.push(row)
  }
  return { rows, faults }
}

/** Rows of a group that are handed on at once. */
function pieceRowsOf(group: RowGroup, chunkBytes: number): number {
  const rowBytes = Math.max(1, Number(group.total_byte_size) / Math.max(1, Number(group.num_rows)))
  return Math.max(1, Math.min(pieceRowsMax, Math.floor(chunkBytes / rowBytes)))
}

/** Where the bytes of a group stand in the file. */
function bytesOf(group: RowGroup): { start: number; end: number } {
  let start = Number.POSITIVE_INFINITY
  let end = 0
  for (const { meta_data: column } of group.columns) {
    if (!column) continue
    const first = Number(column.dictionary_page_offset || column.data_page_offset)
    start = Math.min(start, first, Number(column.data_page_offset))
    end = Math.max(end, first + Number(column.total_compressed_size))
  }
  return end === 0 ? { start: 0, end: 0 } : { start, end }
}

const hasPages = (group: RowGroup): boolean =>
  group.columns.every(({ offset_index_offset: offset }) => offset !== undefined)

/** Reads a range from a stream that stands before it; undefined where it stands behind. */
async function readRange(stream: ByteStream, start: number, end: number): Promise<Buffer | undefined> {
  if (stream.storedBytes > start) return undefined
  await stream.skip(start - stream.storedBytes)
  const bytes = Buffer.from(await stream.peek(end - start))
  stream.take(bytes.length)
  return bytes
}

/** A file of which one range is at hand. */
const windowOf = (whole: AsyncBuffer, from: number, bytes: Buffer): AsyncBuffer => ({
  byteLength: whole.byteLength,
  slice: (start, end = whole.byteLength) =>
    start >= from && end <= from + bytes.length
      ? arrayBufferOf(bytes.subarray(start - from, end - from))
      : whole.slice(start, end),
})

const fileBuffer = (store: FileStore, file: StoredFile, signal: AbortSignal): AsyncBuffer => ({
  byteLength: file.sizeBytes,
  async slice(start, end = file.sizeBytes) {
    const stream = openBytesAt(store, file, start, signal)
    try {
      return arrayBufferOf(await stream.peek(end - start))
    } finally {
      await stream.close()
    }
  },
})

const arrayBufferOf = (bytes: Buffer): ArrayBuffer => new Uint8Array(bytes).buffer

/** What the library throws is about the file; outcomes are about the store. */
async function damaged<Result>({ name }: StoredFile, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (asOutcome(error) || (error instanceof Error && error.name === 'AbortError')) throw error
    const message = `${name} cannot be read as Parquet: it is damaged, not whole, encrypted or another format.`
    throw new Outcome('failed', 'file_damaged', message, { cause: error })
  }
}

const groupTooLarge = ({ name }: StoredFile, bytesMax: number) =>
  new Outcome(
    'failed',
    'row_group_too_large',
    `${name} has a row group of more than ${Math.round(bytesMax / 2 ** 20)} MiB and no page index. Write it with smaller row groups.`,
  )
