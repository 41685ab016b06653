import { asConnectorError, ConnectorError } from '../connector-error.ts'
import type { Cell, Json, Row } from '../rows.ts'
import { bounds, isTooLong, rowErrors } from './bounds.ts'
import { type ByteStream, openBytesAt, pieceBytes } from './bytes.ts'
import { distinctNames } from './column-names.ts'
import type { FilePiece, OpenedFile } from './opened-file.ts'
import { noText } from './parquet-cells.ts'
import { type Footer, type ReadRange, type RowGroup, readFooter } from './parquet-footer.ts'
import { type NestedColumn, openNested } from './parquet-nested.ts'
import { type ChunkBytes, type LeafReader, type Meter, makeMeter, openLeaf } from './parquet-pages.ts'
import { leavesOf, type SchemaNode } from './parquet-schema.ts'
import type { FileStore, StoredFile } from './store.ts'

const pieceRowsMax = 5000

/** A place in a Parquet file: a group of rows, and a row in it. */
type GroupPlace = { readonly group: number; readonly row: number; readonly storedBytes: number }

/**
 * Opens a Parquet file. Its rows are read group by group, and the pages of a group as its rows come to them; what is
 * nested becomes JSON text, decimals and whole numbers beyond 2^53 become text, days and timestamps become ISO 8601 text,
 * bytes that are marked as no text become hexadecimal. Rows that the footer claims and the pages do not hold are an error.
 */
export async function openParquet(
  store: FileStore,
  file: StoredFile,
  { chunkBytes = 4 * pieceBytes }: { chunkBytes?: number },
  signal: AbortSignal,
): Promise<OpenedFile> {
  const readRange: ReadRange = async (start, end) => {
    const range = openBytesAt(store, file, start, signal)
    try {
      return Buffer.from(await range.peek(end - start))
    } finally {
      await range.close()
    }
  }
  const footer = await damaged(file, () => readFooter(file, readRange))
  let stream: ByteStream | undefined
  /** Reads a group as a whole. Groups mostly follow each other, so one stream serves them all. */
  const readGroup = async ({ start, end }: RowGroup): Promise<Buffer> => {
    if (stream && stream.storedBytes > start) {
      await stream.close()
      stream = undefined
    }
    stream ??= openBytesAt(store, file, start, signal)
    await stream.skip(start - stream.storedBytes)
    const bytes = Buffer.from(await stream.peek(end - start))
    stream.take(bytes.length)
    return bytes
  }
  return {
    columns: distinctNames(footer.columns.map(({ name }) => name)),
    async *read(after) {
      const place = (after ?? { group: 0, row: 0, storedBytes: 0 }) as GroupPlace
      const meter = makeMeter(file)
      for (const [index, group] of footer.groups.entries()) {
        if (index < place.group || group.rows === 0) continue
        meter.beginGroup()
        const { start, end } = group
        const whole = end - start <= bounds.parquet.wholeGroupBytes ? await readGroup(group) : undefined
        const columns = openColumns(file, footer, group, meter, whole, readRange)
        const from = index === place.group ? place.row : 0
        for await (const { rows, errors, row } of groupRows(file, group, columns, meter, from, chunkBytes)) {
          signal.throwIfAborted()
          const storedBytes = Math.round(start + ((end - start) * row) / group.rows)
          const at: Json = { group: index, row, storedBytes }
          yield { rows, errors, place: at, storedBytes } satisfies FilePiece
        }
      }
    },
    async close() {
      await stream?.close()
    },
  }
}

/** A column with a plain value in each row, or one that is nested. */
type Column = { readonly node: SchemaNode } & (
  | { readonly leaf: LeafReader; readonly nested?: never }
  | { readonly nested: NestedColumn; readonly leaf?: never }
)

function openColumns(
  file: StoredFile,
  { columns }: Footer,
  group: RowGroup,
  meter: Meter,
  whole: Buffer | undefined,
  readRange: ReadRange,
): Column[] {
  const readAhead = Math.floor(bounds.parquet.wholeGroupBytes / group.chunks.length)
  let next = 0
  return columns.map((node): Column => {
    const nodeLeaves = leavesOf([node])
    const leaves = nodeLeaves.map((leaf) => {
      const chunk = group.chunks[next]
      if (!chunk) throw new Error('a row group without a column of the schema')
      next += 1
      const bytes = whole
        ? bytesOf(whole.subarray(chunk.start - group.start, chunk.end - group.start))
        : rangeOf(chunk.start, chunk.end, readAhead, readRange)
      return openLeaf(file, leaf, chunk, bytes, meter)
    })
    const [leaf] = leaves
    if (leaf && node.element && node.repetition !== 'REPEATED') return { node, leaf }
    return { node, nested: openNested(node, nodeLeaves, leaves) }
  })
}

function bytesOf(chunk: Buffer): ChunkBytes {
  let at = 0
  return {
    peek: async (bytes) => chunk.subarray(at, at + bytes),
    take(bytes) {
      at += bytes
    },
  }
}

/** Reads a column of a large group range by range, so that no more of each has to be in memory. */
function rangeOf(start: number, end: number, readAhead: number, readRange: ReadRange): ChunkBytes {
  const aheadBytes = Math.max(16 << 10, Math.min(1 << 20, readAhead))
  let at = start
  let held: Buffer = Buffer.alloc(0)
  return {
    async peek(bytes) {
      const wanted = Math.min(bytes, end - at)
      if (held.length < wanted) held = await readRange(at, Math.min(end, at + Math.max(wanted, aheadBytes)))
      return held.subarray(0, wanted)
    },
    take(bytes) {
      at += bytes
      held = held.subarray(bytes)
    },
  }
}

type GroupRows = { rows: Row[]; errors: Map<number, string>; row: number }

/** The rows of a group, about as many at once as make a chunk. */
async function* groupRows(
  file: StoredFile,
  group: RowGroup,
  columns: readonly Column[],
  meter: Meter,
  from: number,
  chunkBytes: number,
): AsyncGenerator<GroupRows> {
  await damaged(file, () => skipRows(columns, from))
  const rowBytes = Math.max(1, group.bytes / group.rows)
  const cellRows = Math.floor(bounds.pieceCells / Math.max(1, columns.length))
  const pieceRows = Math.max(1, Math.min(pieceRowsMax, cellRows, Math.floor(chunkBytes / rowBytes)))
  for (let row = from; row < group.rows; ) {
    meter.beginPiece()
    const wanted = Math.min(pieceRows, group.rows - row)
    const piece = await damaged(file, () => readPiece(columns, wanted))
    for (const part of partsOf(piece, meter)) {
      row += part.rows.length
      yield { ...part, row }
    }
  }
  await damaged(file, () => assertRead(columns))
}

async function skipRows(columns: readonly Column[], count: number): Promise<void> {
  for (const { leaf, nested } of columns) {
    for (let left = count; left > 0; ) {
      if (nested) {
        if (!(await nested.next())) throw fewerRows()
        left -= 1
      } else {
        if (leaf.left === 0 && !(await leaf.open())) throw fewerRows()
        const skipped = Math.min(left, leaf.left)
        leaf.skip(skipped)
        left -= skipped
      }
    }
  }
}

const fewerRows = () => new Error('fewer rows than the footer claims')

/** A group has no more rows than the footer claims, either. */
async function assertRead(columns: readonly Column[]): Promise<void> {
  for (const { leaf, nested } of columns) {
    const more = nested ? await nested.next() : leaf.left > 0 || (await leaf.open())
    if (more) throw new Error('more rows than the footer claims')
  }
}

type Piece = { readonly rows: Cell[][]; readonly errors: Map<number, string> }

/** Reads some rows; fewer than wanted where what is nested in them is long. */
async function readPiece(columns: readonly Column[], wanted: number): Promise<Piece> {
  const nested = columns.flatMap((column, index) => (column.nested ? [{ column: column.nested, index }] : []))
  const rows: Cell[][] = []
  const errors = new Map<number, string>()
  // What is nested comes first, since its text is made here and may take most of the memory.
  for (let chars = 0; rows.length < wanted && (chars < bounds.pieceChars || rows.length === 0); ) {
    const row: Cell[] = new Array(columns.length).fill(null)
    for (const { column, index } of nested) {
      const taken = await column.next()
      if (!taken) throw fewerRows()
      if (taken.error !== undefined) errors.set(rows.length, taken.error)
      row[index] = taken.cell
      if (typeof taken.cell === 'string') chars += taken.cell.length
    }
    rows.push(row)
  }
  for (const [index, { leaf, node }] of columns.entries()) {
    if (leaf) await fillColumn(rows, errors, index, leaf, node)
  }
  return { rows, errors }
}

/** Fills a column of rows from its leaf. */
async function fillColumn(
  rows: readonly Cell[][],
  errors: Map<number, string>,
  index: number,
  leaf: LeafReader,
  { definition, name }: SchemaNode,
): Promise<void> {
  for (let filled = 0; filled < rows.length; ) {
    if (leaf.left === 0 && !(await leaf.open())) throw fewerRows()
    const count = Math.min(leaf.left, rows.length - filled)
    const { definitions, cells } = leaf.take(count)
    let next = 0
    for (let at = 0; at < count; at += 1) {
      if (definitions && definitions[at] !== definition) continue
      const cell = cells[next]
      next += 1
      const row = rows[filled + at] as Cell[]
      if (cell === noText) errors.set(filled + at, `The row has bytes in ${name} that are not text.`)
      else if (typeof cell === 'string' && isTooLong(cell)) errors.set(filled + at, rowErrors.cellTooLong)
      else row[index] = cell ?? null
    }
    filled += count
  }
}

/** Parts of a piece that have no more text than is handed on at once: many rows may have one text of a dictionary. */
function* partsOf({ rows, errors }: Piece, meter: Meter): Generator<Omit<GroupRows, 'row'>> {
  let part: Row[] = []
  let partErrors = new Map<number, string>()
  let chars = 0
  for (const [index, row] of rows.entries()) {
    let rowChars = 0
    for (const cell of row) if (typeof cell === 'string') rowChars += cell.length
    meter.emit(rowChars)
    const tooLong = rowChars > bounds.rowBytes
    if (part.length > 0 && chars + rowChars > bounds.pieceChars) {
      yield { rows: part, errors: partErrors }
      part = []
      partErrors = new Map()
      chars = 0
    }
    const error = tooLong ? rowErrors.rowTooLong : errors.get(index)
    if (error !== undefined) partErrors.set(part.length, error)
    part.push(tooLong ? new Array(row.length).fill(null) : row)
    chars += tooLong ? 0 : rowChars
  }
  yield { rows: part, errors: partErrors }
}

/** What is thrown while a file is read is about the file; connector errors are about the store, or name a bound. */
async function damaged<Result>({ name }: StoredFile, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (asConnectorError(error) || (error instanceof Error && error.name === 'AbortError')) throw error
    const message = `${name} cannot be read as Parquet: it is damaged, incomplete, encrypted or of another format.`
    throw new ConnectorError('invalid_file', message, { cause: error })
  }
}
