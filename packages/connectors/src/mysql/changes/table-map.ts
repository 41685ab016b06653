import { BrokenEvent, ByteReader } from './bytes.ts'

/** The numbers that the log gives types of columns. */
export const columnTypes = {
  decimal: 0,
  tiny: 1,
  short: 2,
  long: 3,
  float: 4,
  double: 5,
  longLong: 8,
  int24: 9,
  date: 10,
  year: 13,
  newDate: 14,
  varchar: 15,
  bit: 16,
  timestamp: 17,
  datetime: 18,
  time: 19,
  compressedBlob: 140,
  compressedVarchar: 141,
  vector: 242,
  json: 245,
  newDecimal: 246,
  enum: 247,
  set: 248,
  blob: 252,
  varString: 253,
  string: 254,
  geometry: 255,
} as const

/** A column of a table as it was when the change was written. */
export type LoggedColumn = {
  readonly name: string
  /** One of `columnTypes`. */
  readonly type: number
  /** Metadata of the type: a length, digits and decimals, the size of a length. */
  readonly meta: number
  readonly isUnsigned: boolean
  /** Number of the collation of a text, 63 of bytes; absent if it has none. */
  readonly collation?: number
  /** The values of an ENUM or SET, as bytes in its character set. */
  readonly members?: readonly Buffer[]
}

export type TableMap = {
  readonly id: number
  readonly database: string
  readonly table: string
  /** Absent if the server writes no names of columns: `binlog_row_metadata` is not FULL. */
  readonly columns: readonly LoggedColumn[] | undefined
}

/** The number and the name of a table in a table map, which are read before the rest. */
export function tableIn(body: Buffer): {
  readonly id: number
  readonly database: string
  readonly table: string
  readonly rest: Buffer
} {
  const reader = new ByteReader(body)
  const id = reader.uint(6)
  reader.skip(2)
  const database = reader.counted().toString('utf8')
  reader.skip(1)
  const table = reader.counted().toString('utf8')
  reader.skip(1)
  return { id, database, table, rest: reader.rest() }
}

/**
 * Reads a table map. Throws `BrokenEvent` if it has another form, or a type of column whose values have an unknown length.
 * @param isMariadb MariaDB counts geometries as texts, MySQL does not
 */
export function tableMapIn(body: Buffer, isMariadb: boolean): TableMap {
  const { id, database, table, rest } = tableIn(body)
  const reader = new ByteReader(rest)
  const types = [...reader.counted()]
  const metas = new ByteReader(reader.counted())
  const shapes = types.map((type) => shapeIn(type, metas))
  reader.skip(Math.ceil(types.length / 8))
  return { id, database, table, columns: describedIn(reader, shapes, isMariadb) }
}

type Shape = { readonly type: number; readonly meta: number }

/** The type of a column with its metadata. An ENUM or SET is inside the metadata of a text. */
function shapeIn(type: number, metas: ByteReader): Shape {
  switch (type) {
    case columnTypes.float:
    case columnTypes.double:
    case columnTypes.blob:
    case columnTypes.compressedBlob:
    case columnTypes.geometry:
    case columnTypes.json:
    case columnTypes.vector:
    case columnTypes.timestamp:
    case columnTypes.datetime:
    case columnTypes.time:
      return { type, meta: metas.uint(1) }
    case columnTypes.varchar:
    case columnTypes.compressedVarchar:
      return { type, meta: metas.uint(2) }
    case columnTypes.bit: {
      const bits = metas.uint(1)
      return { type, meta: metas.uint(1) * 8 + bits }
    }
    case columnTypes.newDecimal: {
      const precision = metas.uint(1)
      return { type, meta: precision * 256 + metas.uint(1) }
    }
    case columnTypes.enum:
    case columnTypes.set:
    case columnTypes.string:
    case columnTypes.varString: {
      const first = metas.uint(1)
      const length = metas.uint(1)
      if (first === columnTypes.enum || first === columnTypes.set) return { type: first, meta: length }
      // Two bits of the length are in the type, inverted.
      return { type: columnTypes.string, meta: (((first & 0x30) ^ 0x30) << 4) | length }
    }
    case columnTypes.tiny:
    case columnTypes.short:
    case columnTypes.int24:
    case columnTypes.long:
    case columnTypes.longLong:
    case columnTypes.year:
    case columnTypes.date:
    case columnTypes.newDate:
      return { type, meta: 0 }
    default:
      throw new BrokenEvent(`a column of the unknown type ${type}`)
  }
}

const fields = {
  signs: 1,
  defaultCollation: 2,
  collations: 3,
  names: 4,
  sets: 5,
  enums: 6,
  defaultMemberCollation: 10,
  memberCollations: 11,
} as const

const numeric: ReadonlySet<number> = new Set([
  columnTypes.decimal,
  columnTypes.tiny,
  columnTypes.short,
  columnTypes.int24,
  columnTypes.long,
  columnTypes.longLong,
  columnTypes.newDecimal,
  columnTypes.float,
  columnTypes.double,
  columnTypes.year,
])
const textual: ReadonlySet<number> = new Set([
  columnTypes.string,
  columnTypes.varchar,
  columnTypes.blob,
  columnTypes.compressedBlob,
  columnTypes.compressedVarchar,
])

/** The optional metadata, which describes columns; `undefined` without their names. */
function describedIn(reader: ByteReader, shapes: readonly Shape[], isMariadb: boolean): LoggedColumn[] | undefined {
  const found = new Map<number, Buffer>()
  while (reader.left > 0) {
    const field = reader.uint(1)
    found.set(field, reader.counted())
  }
  const names = found.get(fields.names)
  if (!names) return undefined
  const of = (is: (type: number) => boolean) => shapes.flatMap(({ type }, at) => (is(type) ? [at] : []))
  const texts = of((type) => textual.has(type) || (isMariadb && type === columnTypes.geometry))
  const members = of((type) => type === columnTypes.enum || type === columnTypes.set)
  const collationOf = new Map([
    ...collationsIn(found.get(fields.defaultCollation), found.get(fields.collations), texts),
    ...collationsIn(found.get(fields.defaultMemberCollation), found.get(fields.memberCollations), members),
  ])
  const membersOf = new Map([
    ...membersIn(
      found.get(fields.enums),
      of((type) => type === columnTypes.enum),
    ),
    ...membersIn(
      found.get(fields.sets),
      of((type) => type === columnTypes.set),
    ),
  ])
  const signs = found.get(fields.signs)
  const unsigned = new Set(
    of((type) => numeric.has(type)).filter((_, at) => ((signs?.[at >> 3] ?? 0) & (0x80 >> (at & 7))) !== 0),
  )
  const reading = new ByteReader(names)
  const columns = shapes.map((shape, at): LoggedColumn => {
    const collation = collationOf.get(at)
    const values = membersOf.get(at)
    return {
      ...shape,
      name: reading.counted().toString('utf8'),
      isUnsigned: unsigned.has(at),
      ...(collation !== undefined && { collation }),
      ...(values && { members: values }),
    }
  })
  return columns
}

function countsIn(bytes: Buffer): number[] {
  const reader = new ByteReader(bytes)
  const counts: number[] = []
  while (reader.left > 0) counts.push(reader.count())
  return counts
}

/** Collations by column: either one for each, or a default and the exceptions, which name a text by its place among texts. */
function collationsIn(
  fallback: Buffer | undefined,
  each: Buffer | undefined,
  columns: readonly number[],
): [number, number][] {
  if (each) {
    const counts = countsIn(each)
    if (counts.length !== columns.length) throw new BrokenEvent('texts without their character sets')
    return columns.map((column, at) => [column, counts[at] ?? 0])
  }
  if (!fallback) return []
  const [usual = 0, ...pairs] = countsIn(fallback)
  const special = new Map<number, number>()
  for (let at = 0; at < pairs.length; at += 2) special.set(pairs[at] ?? 0, pairs[at + 1] ?? 0)
  return columns.map((column, at) => [column, special.get(at) ?? usual])
}

function membersIn(bytes: Buffer | undefined, columns: readonly number[]): [number, Buffer[]][] {
  if (!bytes) return []
  const reader = new ByteReader(bytes)
  return columns.map((column) => [column, Array.from({ length: countIn(reader) }, () => reader.counted())])
}

/** A count of things that take a byte each at least. */
function countIn(reader: ByteReader): number {
  const count = reader.count()
  if (count > reader.left) throw new BrokenEvent('an event that ends too early')
  return count
}
