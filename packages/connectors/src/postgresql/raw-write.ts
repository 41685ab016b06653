import { type Cell, type RawColumn, type RawFormat, type RawRows, rowIn } from '@penstock/connector'
import { fieldBounds, lineFeed, tab } from '../databases/copy-text.ts'
import { reserveBytes, sliceBytes, type Write, writeText } from '../databases/tab-separated.ts'
import { binaryBounds } from './copy-binary.ts'
import type { PostgresColumn, PostgresTable } from './table.ts'

/** How raw rows are written to a table. */
export type RawPlan = {
  /** Columns whose values are read and written again, since the table needs another text of them, or a check. The others pass. */
  readonly opened: readonly number[]
  /** The columns that are looked at before rows are sent: these, and keys that may have no value. */
  readonly watched: readonly number[]
}

/**
 * Plans how raw rows are written to a table. The columns of both are the same, in their order.
 * @returns `undefined` if values must be written
 */
export function planRaw({ columns, format }: RawRows, table: PostgresTable): RawPlan | undefined {
  const all = [...columns.keys()]
  const opened = all.filter((at) => {
    const [column, to] = [columns[at], table.columns[at]]
    return !column || !to || !passes(column, to, format)
  })
  if (opened.length > 0 && format === 'copy-binary') return undefined
  const mayLack = table.keys.filter((at) => columns[at]?.isPresent !== true || isText(table.columns[at]))
  return { opened, watched: all.filter((at) => opened.includes(at) || mayLack.includes(at)) }
}

const oids = {
  boolean: 16,
  bytea: 17,
  bigint: 20,
  smallint: 21,
  integer: 23,
  text: 25,
  oid: 26,
  json: 114,
  cidr: 650,
  real: 700,
  double: 701,
  macaddr: 829,
  inet: 869,
  char: 1042,
  varchar: 1043,
  date: 1082,
  time: 1083,
  timestamp: 1114,
  instant: 1184,
  interval: 1186,
  timeWithZone: 1266,
  bit: 1560,
  varbit: 1562,
  numeric: 1700,
  uuid: 2950,
  jsonb: 3802,
} as const

const isText = (column: PostgresColumn | undefined): boolean => column?.category === 'S'

/** Types of which the text of a value is also the text of a value of other types, which have all values of the type. */
const widened: Readonly<Record<number, readonly number[]>> = {
  [oids.smallint]: [oids.integer, oids.bigint, oids.numeric],
  [oids.integer]: [oids.bigint, oids.numeric],
  [oids.bigint]: [oids.numeric],
  [oids.real]: [oids.double],
  [oids.varchar]: [oids.text],
  [oids.text]: [oids.varchar],
}
const same: ReadonlySet<number> = new Set(Object.values(oids))

/**
 * Whether what COPY writes of a column is what a batch of values would give the other column, so that its bytes can pass. Of
 * all other types, values are read, checked and written.
 */
export function passes({ type: { id, modifier }, isShown }: RawColumn, to: PostgresColumn, format: RawFormat): boolean {
  if (isShown || to.element) return false
  if (to.oid !== id && format === 'copy-binary') return false
  if (to.oid !== id) return to.modifier === -1 && (widened[id]?.includes(to.oid) ?? false)
  // Blanks at the end mean nothing to this type, and count where the other length is.
  if (id === oids.char || id === oids.bit) return same.has(id) && to.modifier === modifier
  return same.has(id) && (to.modifier === -1 || to.modifier === modifier)
}

/**
 * The rows as a COPY takes them, in slices.
 * @param writes by column, for columns that do not pass
 * @param picked indexes of the rows to write; by default all
 */
export function rawSlices(
  raw: RawRows,
  { opened }: RawPlan,
  writes: readonly Write[],
  picked: readonly number[] | undefined,
): Iterable<Buffer> {
  const rows = picked ? raw.pick(picked) : raw
  if (opened.length === 0 && isWhole(raw)) return wholeRows(rows)
  return raw.format === 'copy-binary' ? reordered(rows) : rewritten(rows, opened, writes)
}

/** Whether the columns are the ones of the layout, in their order. */
const isWhole = ({ view, layout }: RawRows): boolean =>
  view === undefined || (view.length === layout.columns.length && view.every(({ column }, at) => column === at))

/** The rows as they came. */
function* wholeRows({ pieces }: RawRows): Generator<Buffer> {
  for (const piece of pieces) {
    const { bytes, bounds, from, until, picked } = piece
    if (!picked) {
      yield bytes.subarray(bounds[from], bounds[until])
      continue
    }
    const some: Buffer[] = []
    for (let at = from; at < until; ) {
      const begin = picked[at] as number
      let end = begin + 1
      for (at++; at < until && picked[at] === end; at++) end++
      some.push(bytes.subarray(bounds[begin], bounds[end]))
    }
    yield Buffer.concat(some)
  }
}

/** Rows of the binary format with other columns of the layout. */
function* reordered({ pieces, layout, view = [] }: RawRows): Generator<Buffer> {
  const bounds = new Uint32Array(layout.columns.length + 1)
  let block = Buffer.allocUnsafe(sliceBytes)
  let end = 0
  for (const piece of pieces) {
    const { bytes, bounds: rows } = piece
    for (let at = piece.from; at < piece.until; at++) {
      const row = rowIn(piece, at)
      binaryBounds(bytes, rows[row] as number, rows[row + 1] as number, layout.columns.length, bounds)
      let length = 2
      for (const { column = 0 } of view) length += (bounds[column + 1] as number) - (bounds[column] as number)
      if (end + length > block.length) {
        if (end > 0) yield block.subarray(0, end)
        block = Buffer.allocUnsafe(Math.max(sliceBytes, length))
        end = 0
      }
      end = block.writeInt16BE(view.length, end)
      for (const { column = 0 } of view) end += bytes.copy(block, end, bounds[column], bounds[column + 1])
    }
  }
  if (end > 0) yield block.subarray(0, end)
}

/** A part of a row: the bytes of consecutive columns of the layout, or a column whose value is written. */
type Segment = { readonly first: number; readonly last: number } | { readonly written: number }

/** The parts of each row, in their order. */
function segmentsOf({ view, columns }: RawRows, opened: readonly number[]): readonly Segment[] {
  const segments: Segment[] = []
  for (const at of columns.keys()) {
    const column = view ? (view[at]?.column ?? -1) : at
    const before = segments.at(-1)
    if (opened.includes(at)) segments.push({ written: at })
    else if (before && 'last' in before && before.last === column - 1) {
      segments[segments.length - 1] = { first: before.first, last: column }
    } else segments.push({ first: column, last: column })
  }
  return segments
}

/** The rows with other texts in some columns, or other columns. */
function* rewritten(raw: RawRows, opened: readonly number[], writes: readonly Write[]): Generator<Buffer> {
  const segments = segmentsOf(raw, opened)
  const edges = [...new Set(segments.flatMap((one) => ('last' in one ? [one.first, one.last] : [])))].sort(
    (a, b) => a - b,
  )
  const placeOf = new Map(edges.map((column, place) => [column, place]))
  const parts = segments.map((one) =>
    'last' in one ? { from: 2 * (placeOf.get(one.first) ?? 0), to: 2 * (placeOf.get(one.last) ?? 0) + 1 } : one,
  )
  const open = raw.opener(opened)
  const cells: Cell[] = []
  const offsets = new Uint32Array(2 * edges.length)
  let block = Buffer.allocUnsafe(sliceBytes)
  let end = 0
  for (const piece of raw.pieces) {
    const { bytes, bounds } = piece
    for (let at = piece.from; at < piece.until; at++) {
      const row = rowIn(piece, at)
      fieldBounds(bytes, bounds[row] as number, bounds[row + 1] as number, edges, offsets)
      open(piece, row, cells)
      let longest = parts.length
      for (const part of parts) {
        if ('to' in part) longest += (offsets[part.to] as number) - (offsets[part.from] as number)
        // A character takes three bytes at most; an escaped one takes two.
        else longest += String(writes[part.written]?.(cells[part.written] ?? null) ?? '').length * 3 + reserveBytes
      }
      if (end + longest > block.length) {
        if (end > 0) yield block.subarray(0, end)
        block = Buffer.allocUnsafe(Math.max(sliceBytes, longest))
        end = 0
      }
      for (const part of parts) {
        if ('to' in part) end += bytes.copy(block, end, offsets[part.from], offsets[part.to])
        else end = writeText(block, end, writes[part.written]?.(cells[part.written] ?? null) ?? null)
        block[end++] = tab
      }
      // The tab behind the last field gives way to the end of the line.
      block[end - 1] = lineFeed
    }
  }
  if (end > 0) yield block.subarray(0, end)
}
