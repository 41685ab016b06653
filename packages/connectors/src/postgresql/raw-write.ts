import { type Cell, type RawColumn, type RawLayout, type RawRows, rowIn } from '@penstock/connector'
import { fieldBounds } from '../databases/copy-text.ts'
import { reserveBytes, sliceBytes, type Write, writeText } from '../databases/tab-separated.ts'
import type { Slice } from './copy.ts'
import type { PostgresColumn, PostgresTable } from './table.ts'

/** How raw rows are written to a table. */
export type RawPlan = {
  /** Columns whose values are read and written again, since the table needs another text of them, or a check. The others pass. */
  readonly opened: readonly number[]
  /** The columns that are looked at before rows are sent: these, and keys that may have no value. */
  readonly watched: readonly number[]
}

/** Plans how the rows of a layout are written to a table. The columns of both are the same, in their order. */
export function planRaw({ columns }: RawLayout, table: PostgresTable): RawPlan {
  const all = [...columns.keys()]
  const opened = all.filter((at) => {
    const [column, to] = [columns[at], table.columns[at]]
    return !column || !to || !passes(column, to)
  })
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
 * Whether the text that COPY writes of a column is what a batch of values would give the other column, so that its bytes can pass. Of
 * all other types, values are read, checked and written.
 */
function passes({ type: { id, modifier }, isShown }: RawColumn, to: PostgresColumn): boolean {
  if (isShown || to.element) return false
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
): Iterable<Slice> {
  const rows = picked ? raw.pick(picked) : raw
  return opened.length > 0 ? rewritten(rows, opened, writes) : messages(rows)
}

/** The messages of the rows, as they came. */
function* messages({ pieces }: RawRows): Generator<Slice> {
  for (const piece of pieces) {
    const { bytes, bounds, from, until, picked } = piece
    if (!picked) {
      yield { messages: bytes.subarray(bounds[from], bounds[until]) }
      continue
    }
    const some: Buffer[] = []
    for (let at = from; at < until; ) {
      const begin = picked[at] as number
      let end = begin + 1
      for (at++; at < until && picked[at] === end; at++) end++
      some.push(bytes.subarray(bounds[begin], bounds[end]))
    }
    yield { messages: Buffer.concat(some) }
  }
}

/** The rows with other texts in some columns. */
function* rewritten(
  { pieces, layout }: RawRows,
  opened: readonly number[],
  writes: readonly Write[],
): Generator<Slice> {
  let block = Buffer.allocUnsafe(sliceBytes)
  let end = 0
  const cells: Cell[] = []
  const bounds = new Uint32Array(2 * opened.length)
  for (const piece of pieces) {
    const { bytes } = piece
    for (let at = piece.from; at < piece.until; at++) {
      const row = rowIn(piece, at)
      const [from, to] = [piece.bounds[row] as number, piece.bounds[row + 1] as number]
      layout.open(bytes, from, to, opened, cells)
      fieldBounds(bytes, from, to, opened, bounds)
      let longest = to - from
      const texts = opened.map((column) => writes[column]?.(cells[column] ?? null) ?? null)
      // A character takes three bytes at most; an escaped one takes two.
      for (const text of texts) longest += (text?.length ?? 0) * 3 + reserveBytes
      if (end + longest > block.length) {
        if (end > 0) yield block.subarray(0, end)
        block = Buffer.allocUnsafe(Math.max(sliceBytes, longest))
        end = 0
      }
      let passed = from + layout.headBytes
      for (let next = 0; next < opened.length; next++) {
        end += bytes.copy(block, end, passed, bounds[2 * next])
        end = writeText(block, end, texts[next] ?? null)
        passed = bounds[2 * next + 1] as number
      }
      end += bytes.copy(block, end, passed, to)
    }
  }
  if (end > 0) yield block.subarray(0, end)
}
