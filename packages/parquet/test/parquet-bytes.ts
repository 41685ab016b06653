/** Builds Parquet files byte by byte for tests, which no program would write. No claim of a file is checked here. */

/** A value of Thrift: whole numbers, bytes or text, lists of structures or text, structures, and raw bytes. */
type Value = number | bigint | string | Buffer | boolean | Struct | readonly Struct[] | readonly string[] | Raw
/** A structure: its fields by their numbers, in ascending order. */
export type Struct = { readonly [field: number]: Value }
/** The type of a field and any bytes. */
export type Raw = { readonly type: number; readonly bytes: Buffer }

const isRaw = (value: Value): value is Raw => typeof value === 'object' && 'type' in value && 'bytes' in value

export function varint(value: number | bigint): Buffer {
  const bytes: number[] = []
  let left = BigInt(value)
  do {
    bytes.push(Number(left & 127n) | (left > 127n ? 128 : 0))
    left >>= 7n
  } while (left > 0n)
  return Buffer.from(bytes)
}

const zigzag = (value: number | bigint): Buffer => {
  const whole = BigInt(value)
  return varint(whole < 0n ? -whole * 2n - 1n : whole * 2n)
}

/** A structure in the compact protocol; numbers are written as i32, bigints as i64. */
export function thrift(struct: Struct): Buffer {
  const parts: Buffer[] = []
  let last = 0
  for (const [key, value] of Object.entries(struct)) {
    const { type, bytes } = isRaw(value) ? value : encode(value)
    const delta = Number(key) - last
    parts.push(
      delta > 0 && delta < 16
        ? Buffer.from([(delta << 4) | type])
        : Buffer.concat([Buffer.from([type]), zigzag(Number(key))]),
      bytes,
    )
    last = Number(key)
  }
  return Buffer.concat([...parts, Buffer.from([0])])
}

function encode(value: Exclude<Value, Raw>): Raw {
  if (typeof value === 'number') return { type: 5, bytes: zigzag(value) }
  if (typeof value === 'bigint') return { type: 6, bytes: zigzag(value) }
  if (typeof value === 'boolean') return { type: value ? 1 : 2, bytes: Buffer.alloc(0) }
  if (typeof value === 'string' || Buffer.isBuffer(value)) {
    const bytes = Buffer.from(value as string)
    return { type: 8, bytes: Buffer.concat([varint(bytes.length), bytes]) }
  }
  if (Array.isArray(value)) {
    const items = (value as readonly (Struct | string)[]).map((item) =>
      typeof item === 'string' ? encode(item).bytes : thrift(item),
    )
    const type = typeof value[0] === 'string' ? 8 : 12
    const head =
      items.length < 15
        ? Buffer.from([(items.length << 4) | type])
        : Buffer.concat([Buffer.from([0xf0 | type]), varint(items.length)])
    return { type: 9, bytes: Buffer.concat([head, ...items]) }
  }
  return { type: 12, bytes: thrift(value as Struct) }
}

/** Numbers of the enumerations of the format. */
export const types = { BOOLEAN: 0, INT32: 1, INT64: 2, INT96: 3, FLOAT: 4, DOUBLE: 5, BYTE_ARRAY: 6, FIXED: 7 } as const
export const codecs = { UNCOMPRESSED: 0, SNAPPY: 1, GZIP: 2, BROTLI: 4, LZ4: 5, ZSTD: 6, LZ4_RAW: 7 } as const
export const encodings = {
  PLAIN: 0,
  PLAIN_DICTIONARY: 2,
  RLE: 3,
  DELTA: 5,
  DELTA_LENGTH: 6,
  DELTA_BYTE: 7,
  RLE_DICTIONARY: 8,
  SPLIT: 9,
} as const

export type Page = {
  readonly kind?: 'data' | 'dictionary' | 'second'
  readonly values: number
  readonly encoding?: number
  /** As it is stored. */
  readonly body: Buffer
  /** Its unpacked size; the size of the body by default. */
  readonly size?: number
  /** Of a page of the second kind. */
  readonly levels?: { readonly definitions: number; readonly repeats: number; readonly packed: boolean }
}

export type Leaf = {
  readonly path: readonly string[]
  readonly type: number
  readonly pages: readonly (Page | Buffer)[]
  readonly codec?: number
  /** Number of values in the footer; by default, the number in the pages. */
  readonly values?: number | bigint
  /** Fields of the column's metadata that are other than they should be. */
  readonly meta?: Struct
}

export type Parts = {
  /** The schema below its root. */
  readonly schema: readonly Struct[]
  /** Columns at the top of the schema; by default, the number of elements. */
  readonly columns?: number
  readonly groups: readonly { readonly rows: number | bigint; readonly leaves: readonly Leaf[] }[]
  readonly rows?: number | bigint
  /** Fields of the footer that are other than they should be. */
  readonly footer?: Struct
  readonly footerBytes?: number
}

function pageBytes(page: Page | Buffer): Buffer {
  if (Buffer.isBuffer(page)) return page
  const { kind = 'data', values, encoding = encodings.PLAIN, body, size = body.length, levels } = page
  const head = { 1: kind === 'data' ? 0 : kind === 'dictionary' ? 2 : 3, 2: size, 3: body.length }
  const data: Struct =
    kind === 'data'
      ? { 5: { 1: values, 2: encoding, 3: encodings.RLE, 4: encodings.RLE } }
      : kind === 'dictionary'
        ? { 7: { 1: values, 2: encoding } }
        : {
            8: {
              1: values,
              2: 0,
              3: values,
              4: encoding,
              5: levels?.definitions ?? 0,
              6: levels?.repeats ?? 0,
              7: levels?.packed ?? true,
            },
          }
  return Buffer.concat([thrift({ ...head, ...data }), body])
}

/** A Parquet file of these parts. */
export function parquetOf({ schema, columns = schema.length, groups, rows, footer = {}, footerBytes }: Parts): Buffer {
  const parts: Buffer[] = [Buffer.from('PAR1')]
  let at = 4
  const groupStructs = groups.map((group): Struct => {
    const chunks = group.leaves.map((leaf): Struct => {
      const start = at
      for (const page of leaf.pages) {
        const bytes = pageBytes(page)
        parts.push(bytes)
        at += bytes.length
      }
      const values =
        leaf.values ??
        leaf.pages.reduce(
          (sum, page) => sum + (Buffer.isBuffer(page) || page.kind === 'dictionary' ? 0 : page.values),
          0,
        )
      const meta: Struct = {
        1: leaf.type,
        2: [] as readonly Struct[],
        3: leaf.path,
        4: leaf.codec ?? 0,
        5: BigInt(values),
        6: BigInt(at - start),
        7: BigInt(at - start),
        9: BigInt(start),
        ...leaf.meta,
      }
      return { 2: BigInt(start), 3: meta }
    })
    return { 1: chunks, 2: 100n, 3: BigInt(group.rows) }
  })
  const total = groups.reduce((sum, group) => sum + BigInt(group.rows), 0n)
  const bytes = thrift({
    1: 1,
    2: [{ 4: 'root', 5: columns }, ...schema],
    3: BigInt(rows ?? total),
    4: groupStructs,
    ...footer,
  })
  const length = Buffer.alloc(4)
  length.writeUInt32LE(footerBytes ?? bytes.length)
  return Buffer.concat([...parts, bytes, length, Buffer.from('PAR1')])
}

/** Schema elements: required 0, optional 1, repeated 2. */
export const element = (name: string, type: number, repetition: number, more: Struct = {}): Struct => ({
  1: type,
  3: repetition,
  4: name,
  ...more,
})

/** A run of one number, in the way of levels: with its length before it. */
export function levelRun(count: number | bigint, value: number): Buffer {
  const run = Buffer.concat([varint(BigInt(count) * 2n), Buffer.from([value])])
  const length = Buffer.alloc(4)
  length.writeUInt32LE(run.length)
  return Buffer.concat([length, run])
}

/** Texts as a plain page has them. */
export const plainTexts = (texts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(
    texts.flatMap((text) => {
      const bytes = Buffer.from(text as string)
      const length = Buffer.alloc(4)
      length.writeUInt32LE(bytes.length)
      return [length, bytes]
    }),
  )

/** Whole numbers of 32 bits in the form of a plain page. */
export const plainInts = (numbers: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(numbers.length * 4)
  for (const [index, number] of numbers.entries()) bytes.writeInt32LE(number | 0, index * 4)
  return bytes
}

/** A file of one column, the usual shape of the tests. */
export function oneColumn(
  leaf: Omit<Leaf, 'path' | 'type'> & { type?: number },
  options: { rows: number | bigint; repetition?: number; more?: Struct },
): Buffer {
  const type = leaf.type ?? types.INT32
  return parquetOf({
    schema: [element('x', type, options.repetition ?? 0, options.more)],
    groups: [{ rows: options.rows, leaves: [{ ...leaf, path: ['x'], type }] }],
  })
}
