import { parquetBounds } from './bounds.ts'
import { noText } from './cells.ts'
import type { ColumnType } from './column-types.ts'
import { type Footer, type RowGroup, readFooter } from './footer.ts'
import { type Meter, makeMeter } from './meter.ts'
import { type NestedColumn, openNested } from './nested.ts'
import { typeOfNode } from './node-types.ts'
import { type ChunkBytes, type LeafReader, openLeaf } from './pages.ts'
import type { Cell, Row, RowLimits } from './rows.ts'
import { leavesOf, type SchemaNode, typeNameOf } from './schema.ts'
import { checked, marked, type ParquetSource } from './source.ts'

export { ParquetError, type ParquetErrorCode } from './parquet-error.ts'
export type { Cell, ParquetSource, Row, RowLimits }

const pieceRowsMax = 5000

/** A place in a file: a row group, and a row in it. */
export type ParquetPlace = { readonly group: number; readonly row: number }

/** Some rows of a file, in the order of its columns. */
export type ParquetPiece = {
  readonly rows: readonly Row[]
  /** Errors of rows by their index in the piece. The cells that they are about are null. */
  readonly errors: ReadonlyMap<number, string>
  /** The place in the file after these rows. */
  readonly place: ParquetPlace
  /** About how many bytes of the file lie before that place. */
  readonly storedBytes: number
}

export type ParquetFile = {
  /** The names of its columns in the file. */
  readonly columns: readonly string[]
  /** Their types, if the file declares them; maps are JSON. */
  readonly types: readonly (ColumnType | null)[]
  /** The same, in the words of the format: `STRING`, `INT64`, `TIMESTAMP`, `LIST`. */
  readonly typeNames: readonly string[]
  /** Its rows, from its beginning or from the place of an earlier piece. */
  read(from?: ParquetPlace): AsyncGenerator<ParquetPiece>
}

export type ParquetOptions = {
  readonly limits: RowLimits
  /** Approximate unpacked bytes of the file in a piece. */
  readonly chunkBytes: number
  /** Ends the reading after the current piece. */
  readonly signal?: AbortSignal
}

/**
 * Opens a Parquet file. Its rows are read group by group, and the pages of a group when its rows need them. Nested values become
 * JSON text. Decimals and whole numbers beyond 2^53 become text. Days and timestamps become ISO 8601 text. Bytes that are not
 * marked as text become hexadecimal. If the pages contain fewer rows than the footer claims, this is an error.
 * @throws a `ParquetError`, and the errors of the source; so does `read`
 */
export async function openParquet(
  source: ParquetSource,
  { limits, chunkBytes, signal }: ParquetOptions,
): Promise<ParquetFile> {
  const bytes = marked(source)
  const footer = await checked(() => readFooter(bytes, limits))
  return {
    columns: footer.columns.map(({ name }) => name),
    types: footer.columns.map(typeOfNode),
    typeNames: footer.columns.map(typeNameOf),
    async *read(from = { group: 0, row: 0 }) {
      const meter = makeMeter(bytes.sizeBytes)
      for (const [index, group] of footer.groups.entries()) {
        if (index < from.group || group.rows === 0) continue
        meter.beginGroup()
        const { start, end } = group
        const isWhole = end - start <= parquetBounds.wholeGroupBytes
        const whole = isWhole ? await checked(() => bytes.readNext(start, end)) : undefined
        const columns = openColumns(footer, group, meter, whole, bytes, limits)
        const firstRow = index === from.group ? from.row : 0
        for await (const { rows, errors, row } of groupRows(group, columns, meter, firstRow, chunkBytes, limits)) {
          signal?.throwIfAborted()
          const storedBytes = Math.round(start + ((end - start) * row) / group.rows)
          yield { rows, errors, place: { group: index, row }, storedBytes }
        }
      }
    },
  }
}

/** A column with a plain value in each row, or one that is nested. */
type Column = { readonly node: SchemaNode } & (
  | { readonly leaf: LeafReader; readonly nested?: never }
  | { readonly nested: NestedColumn; readonly leaf?: never }
)

function openColumns(
  { columns }: Footer,
  group: RowGroup,
  meter: Meter,
  whole: Buffer | undefined,
  source: ParquetSource,
  limits: RowLimits,
): Column[] {
  const readAhead = Math.floor(parquetBounds.wholeGroupBytes / group.chunks.length)
  let next = 0
  return columns.map((node): Column => {
    const nodeLeaves = leavesOf([node])
    const leaves = nodeLeaves.map((leaf) => {
      const chunk = group.chunks[next]
      if (!chunk) throw new Error('a row group without a column of the schema')
      next += 1
      const bytes = whole
        ? bytesOf(whole.subarray(chunk.start - group.start, chunk.end - group.start))
        : rangeOf(chunk.start, chunk.end, readAhead, source)
      return openLeaf(leaf, chunk, bytes, meter)
    })
    const [leaf] = leaves
    if (leaf && node.element && node.repetition !== 'REPEATED') return { node, leaf }
    return { node, nested: openNested(node, nodeLeaves, leaves, limits) }
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

/** Reads a column of a large group range by range, so that only one range of each column must be in memory. */
function rangeOf(start: number, end: number, readAhead: number, source: ParquetSource): ChunkBytes {
  const aheadBytes = Math.max(16 << 10, Math.min(1 << 20, readAhead))
  let at = start
  let held: Buffer = Buffer.alloc(0)
  return {
    async peek(bytes) {
      const wanted = Math.min(bytes, end - at)
      if (held.length < wanted) held = await source.readRange(at, Math.min(end, at + Math.max(wanted, aheadBytes)))
      return held.subarray(0, wanted)
    },
    take(bytes) {
      at += bytes
      held = held.subarray(bytes)
    },
  }
}

type GroupRows = { rows: Row[]; errors: Map<number, string>; row: number }

/** The rows of a group, in pieces of approximately one chunk. */
async function* groupRows(
  group: RowGroup,
  columns: readonly Column[],
  meter: Meter,
  from: number,
  chunkBytes: number,
  limits: RowLimits,
): AsyncGenerator<GroupRows> {
  await checked(() => skipRows(columns, from))
  const rowBytes = Math.max(1, group.bytes / group.rows)
  const cellRows = Math.floor(limits.pieceCells / Math.max(1, columns.length))
  const pieceRows = Math.max(1, Math.min(pieceRowsMax, cellRows, Math.floor(chunkBytes / rowBytes)))
  for (let row = from; row < group.rows; ) {
    meter.beginPiece()
    const wanted = Math.min(pieceRows, group.rows - row)
    const piece = await checked(() => readPiece(columns, wanted, limits))
    for (const part of partsOf(piece, meter, limits)) {
      row += part.rows.length
      yield { ...part, row }
    }
  }
  await checked(() => assertRead(columns))
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

/** Reads some rows; fewer than requested if their nested values are long. */
async function readPiece(columns: readonly Column[], wanted: number, limits: RowLimits): Promise<Piece> {
  const nested = columns.flatMap((column, index) => (column.nested ? [{ column: column.nested, index }] : []))
  const rows: Cell[][] = []
  const errors = new Map<number, string>()
  // Nested columns come first, because their text is created here and can need most of the memory.
  for (let chars = 0; rows.length < wanted && (chars < limits.pieceChars || rows.length === 0); ) {
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
    if (leaf) await fillColumn(rows, errors, index, leaf, node, limits)
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
  { cellBytes, rowErrors }: RowLimits,
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
      else if (typeof cell === 'string' && isTooLong(cell, cellBytes)) errors.set(filled + at, rowErrors.cellTooLong)
      else row[index] = cell ?? null
    }
    filled += count
  }
}

/** Looks at the bytes of a text only if its characters leave it open. */
const isTooLong = (text: string, cellBytes: number): boolean =>
  text.length * 3 > cellBytes && Buffer.byteLength(text) > cellBytes

/** Splits a piece by the maximum length of its text: many rows can have the same text of a dictionary. */
function* partsOf({ rows, errors }: Piece, meter: Meter, limits: RowLimits): Generator<Omit<GroupRows, 'row'>> {
  let part: Row[] = []
  let partErrors = new Map<number, string>()
  let chars = 0
  for (const [index, row] of rows.entries()) {
    let rowChars = 0
    for (const cell of row) if (typeof cell === 'string') rowChars += cell.length
    meter.emit(rowChars)
    const tooLong = rowChars > limits.rowBytes
    if (part.length > 0 && chars + rowChars > limits.pieceChars) {
      yield { rows: part, errors: partErrors }
      part = []
      partErrors = new Map()
      chars = 0
    }
    const error = tooLong ? limits.rowErrors.rowTooLong : errors.get(index)
    if (error !== undefined) partErrors.set(part.length, error)
    part.push(tooLong ? new Array(row.length).fill(null) : row)
    chars += tooLong ? 0 : rowChars
  }
  yield { rows: part, errors: partErrors }
}
