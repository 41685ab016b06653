import { deflateRawSync, gzipSync } from 'node:zlib'
import { seeded } from '../simulation/random.ts'

/** Small files that ask for much: memory, time, or rows that are not there. Generated, the same ones every time. */
export type HostileFile = { readonly fileName: string; readonly bytes: () => Buffer }

const text = (make: () => string) => () => Buffer.from(make())
const times = (count: number, make: (index: number) => string, between = '') =>
  Array.from({ length: count }, (_, index) => make(index)).join(between)

const csv: Readonly<Record<string, () => Buffer>> = {
  'a-million-columns': text(() => `${times(1_000_000, (i) => `c${i}`, ',')}\n${'1\n'.repeat(1_000)}`),
  'equal-column-names': text(() => `${times(300_000, () => 'a', ',')}\n1\n`),
  'a-column-of-digests': text(() => `${'md5'.repeat(100_000)},email\n1,a@example.com\n`),
  'a-hundred-thousand-columns': text(() => `${times(100_000, (i) => `c${i}`, ',')}\n${'1,2\n'.repeat(100)}`),
  'blank-lines': text(() => `id,email\n${'\n'.repeat(1 << 20)}1,a@example.com\n`),
  'blank-lines-before-the-header': text(() => `${'\r\n'.repeat(1 << 20)}id,email\n1,a@example.com\n`),
  'an-open-quote': text(() => `id,email\n1,"${'a,b\n'.repeat(1 << 20)}`),
  'open-quotes': text(() => `id,email\n${'1,"x\n'.repeat(300_000)}`),
  'quotes-alone': text(() => `id,email\n${'"'.repeat(4 << 20)}\n`),
  'a-long-cell': text(() => `id,email\n1,${'x'.repeat(20 << 20)}\n`),
  'a-long-line': text(() => 'x'.repeat(20 << 20)),
  'carriage-returns': text(() => `id,email\n${'\r'.repeat(1 << 20)}`),
  'zero-bytes': () => Buffer.alloc(4 << 20),
  'no-text': () => Buffer.alloc(1 << 20, 0xff),
  'half-characters': text(() => `id,email\n${'1,'}${'\ud800'.repeat(1_000)}\n`),
  'sixteen-bits': () =>
    Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('id,email\n1,a\n', 'utf16le'), Buffer.from([1])]),
  'a-web-page': text(() => '<!DOCTYPE html><html><body>Sign in</body></html>\n'),
  'rows-of-many-cells': text(() => `id\n${times(50, () => times(100_000, () => '1', ','), '\n')}\n`),
  formulas: text(() => `=cmd|' /C calc'!A0,@SUM(1)\n${'=1+1,+1\n'.repeat(1_000)}`),
  empty: () => Buffer.alloc(0),
  'one-byte': () => Buffer.from('"'),
  'delimiters-alone': text(() => `${','.repeat(1 << 20)}\n`),
  'prototype-columns': text(() => '__proto__,constructor,toString\n1,2,3\n'),
}

const ndjson: Readonly<Record<string, () => Buffer>> = {
  'many-keys': text(() => `{${times(400_000, (i) => `"k${i}":1`, ',')}}\n{}\n{}\n`),
  deep: text(() => `{"id":1}\n{"id":${'['.repeat(100_000)}${']'.repeat(100_000)}}\n`),
  'deep-objects': text(() => `{"id":1}\n${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}\n`),
  'a-long-number': text(() => `{"id":${'9'.repeat(1 << 20)}}\n`),
  exponents: text(() => `{"id":1e999999999}\n{"id":1e-999999999}\n`),
  'open-object': text(() => `{"id":"${'x'.repeat(18 << 20)}`),
  'equal-keys': text(() => `{${times(100_000, () => '"a":1', ',')}}\n`),
  escapes: text(() => `{"id":"${'\\u0000'.repeat(100_000)}"}\n`),
  prototypes: text(() => `{"__proto__":{"x":1},"constructor":1}\n{"__proto__":null}\n`),
  'blank-lines': text(() => '\n'.repeat(1 << 20)),
  'other-columns-each': text(() => times(20_000, (i) => `{"k${i}":1}\n`)),
  'no-json': text(() => 'id,email\n1,a\n'),
  arrays: text(() => '[1,2,3]\n'.repeat(1_000)),
  'strings-alone': text(() => '"'.repeat(1 << 20)),
}

/** A struct of Thrift's compact protocol: numbers, texts, lists and structs by their field ids. */
type Field = { i32: number } | { i64: bigint } | { text: string } | { list: readonly Field[] } | { struct: Struct }
type Struct = Readonly<Record<number, Field>>

const varint = (value: bigint): number[] => {
  const bytes: number[] = []
  for (let rest = BigInt.asUintN(64, value); ; rest >>= 7n) {
    if (rest < 128n) return [...bytes, Number(rest)]
    bytes.push(Number(rest & 127n) | 128)
  }
}
const zigzag = (value: bigint) => varint((value << 1n) ^ (value >> 63n))
const typeOf = (field: Field): number =>
  'i32' in field ? 5 : 'i64' in field ? 6 : 'text' in field ? 8 : 'list' in field ? 9 : 12

function bytesOf(field: Field): number[] {
  if ('i32' in field) return zigzag(BigInt(field.i32))
  if ('i64' in field) return zigzag(field.i64)
  if ('text' in field) return [...varint(BigInt(field.text.length)), ...Buffer.from(field.text)]
  if ('struct' in field) return structOf(field.struct)
  const [first] = field.list
  const type = first ? typeOf(first) : 12
  const { length } = field.list
  const head = length < 15 ? [(length << 4) | type] : [0xf0 | type, ...varint(BigInt(length))]
  return [...head, ...field.list.flatMap(bytesOf)]
}

function structOf(struct: Struct): number[] {
  let last = 0
  const fields = Object.entries(struct).flatMap(([key, field]) => {
    const id = Number(key)
    const head = [((id - last) << 4) | typeOf(field)]
    last = id
    return [...head, ...bytesOf(field)]
  })
  return [...fields, 0]
}

type Claims = {
  rows?: bigint
  values?: bigint
  pageValues?: number
  size?: bigint
  pageSize?: number
  offset?: bigint
  codec?: number
  encoding?: number
  columns?: number
  groups?: number
  page?: Buffer
  footerLength?: number
}

/** A file of optional columns of numbers with one page each, which claims what it is given. */
function parquet({
  rows = 3n,
  values = rows,
  pageValues = Number(values),
  size,
  pageSize,
  offset = 4n,
  codec = 0,
  encoding = 0,
  columns = 1,
  groups = 1,
  page = nulls(pageValues),
  footerLength,
}: Claims): Buffer {
  const header = Buffer.from(
    structOf({
      1: { i32: 0 },
      2: { i32: pageSize ?? page.length },
      3: { i32: page.length },
      5: { struct: { 1: { i32: pageValues }, 2: { i32: encoding }, 3: { i32: 3 }, 4: { i32: 3 } } },
    }),
  )
  const bytes = BigInt(header.length + page.length)
  const chunk: Field = {
    struct: {
      2: { i64: offset },
      3: {
        struct: {
          1: { i32: 1 },
          2: { list: [{ i32: encoding }] },
          3: { list: [{ text: 'a' }] },
          4: { i32: codec },
          5: { i64: values },
          6: { i64: size ?? bytes },
          7: { i64: size ?? bytes },
          9: { i64: offset },
        },
      },
    },
  }
  const group: Field = { struct: { 1: { list: Array(columns).fill(chunk) }, 2: { i64: bytes }, 3: { i64: rows } } }
  const leaves = Array.from(
    { length: columns },
    (_, i): Field => ({
      struct: { 1: { i32: 1 }, 3: { i32: 1 }, 4: { text: columns === 1 ? 'a' : `a${i}` } },
    }),
  )
  const footer = Buffer.from(
    structOf({
      1: { i32: 1 },
      2: { list: [{ struct: { 4: { text: 'root' }, 5: { i32: columns } } }, ...leaves] },
      3: { i64: rows * BigInt(groups) },
      4: { list: Array(groups).fill(group) },
    }),
  )
  const length = Buffer.alloc(4)
  length.writeUInt32LE((footerLength ?? footer.length) >>> 0)
  const magic = Buffer.from('PAR1')
  return Buffer.concat([magic, header, page, footer, length, magic])
}

/** Definition levels with this number of missing values, as one run. */
function nulls(count: number): Buffer {
  const run = Buffer.from([...varint(BigInt(Math.max(0, count)) << 1n), 0])
  const length = Buffer.alloc(4)
  length.writeUInt32LE(run.length)
  return Buffer.concat([length, run])
}

const most = 2_147_483_647
const parquets: Readonly<Record<string, Claims>> = {
  'two-billion-nulls': { rows: 2_000_000_000n },
  'more-rows-than-data': { rows: 9_000_000_000_000_000n, values: 3n },
  'more-values-than-rows': { rows: 3n, values: 9_000_000_000_000_000n, pageValues: 3 },
  'negative-rows': { rows: -5n, values: 3n },
  'negative-values': { rows: 3n, values: -3n, pageValues: -3, page: nulls(3) },
  'a-large-page': { pageSize: most },
  'a-negative-page': { pageSize: -1 },
  'a-large-chunk': { size: 9_000_000_000_000_000n },
  'an-offset-beyond-the-end': { offset: 9_000_000_000n },
  'a-negative-offset': { offset: -4n },
  'an-unknown-codec': { codec: 99 },
  'a-broken-snappy': { codec: 1, pageSize: most, page: Buffer.from([0xff, 0xff, 0xff, 0xff, 7, 0]) },
  'a-broken-gzip': { codec: 2, page: Buffer.from('no gzip') },
  'a-gzip-bomb': { codec: 2, pageSize: 1 << 29, page: gzipSync(Buffer.alloc(1 << 27)) },
  'a-zstd-claim': { codec: 6, pageSize: most, page: Buffer.from('28b52ffd', 'hex') },
  'an-unknown-encoding': { encoding: 77 },
  'a-dictionary-that-is-not-there': { encoding: 8 },
  'delta-of-everything': {
    encoding: 5,
    page: Buffer.concat([nulls(3), Buffer.from([128, 1, 4, ...varint(2n ** 40n), 0])]),
  },
  'many-columns': { columns: 50_000 },
  'many-groups': { groups: 3_000 },
  'very-many-groups': { groups: 30_000 },
  'a-footer-longer-than-the-file': { footerLength: most },
  'a-footer-of-four-gigabytes': { footerLength: 0xffffffff },
  'an-empty-footer': { footerLength: 0 },
}

/** A real file with some bytes changed, the same ones for the same number. */
function spoilt(seed: number): Buffer {
  const random = seeded(seed)
  const bytes = Buffer.from(parquet({ rows: 1_000n, columns: 3 }))
  for (let change = 0; change <= seed % 5; change++) bytes[random.int(bytes.length)] = random.int(256)
  return seed % 7 === 0 ? bytes.subarray(0, random.int(bytes.length)) : bytes
}

const gzips: Readonly<Record<string, () => Buffer>> = {
  'zeros.csv.gz': () => gzipSync(Buffer.alloc(1 << 28)),
  'lines.csv.gz': () => gzipSync(Buffer.alloc(1 << 27, '\n')),
  'rows.csv.gz': () => gzipSync(`id,email\n${'1,a@example.com\n'.repeat(4_000_000)}`),
  'cut.csv.gz': () => gzipSync('id,email\n1,a@example.com\n').subarray(0, 20),
  'no-gzip.csv.gz': () => Buffer.from('id,email\n1,a@example.com\n'),
  'deflate.csv.gz': () => deflateRawSync('id,email\n'),
  'members.csv.gz': () => Buffer.concat(Array(10_000).fill(gzipSync('1,a\n'))),
  'nested.csv.gz': () => gzipSync(gzipSync(gzipSync(Buffer.alloc(1 << 26)))),
  'an-open-quote.csv.gz': () => gzipSync(`id,email\n1,"${'x'.repeat(1 << 27)}`),
  'one-line.ndjson.gz': () => gzipSync(`{"a":"${'x'.repeat(1 << 27)}"}`),
}

const spoiltCount = 60

export const hostileFiles: readonly HostileFile[] = [
  ...Object.entries(csv).map(([name, bytes]) => ({ fileName: `csv-${name}.csv`, bytes })),
  ...Object.entries(ndjson).map(([name, bytes]) => ({ fileName: `ndjson-${name}.ndjson`, bytes })),
  ...Object.entries(parquets).map(([name, claims]) => ({
    fileName: `parquet-${name}.parquet`,
    bytes: () => parquet(claims),
  })),
  ...Array.from({ length: spoiltCount }, (_, i) => ({ fileName: `spoilt-${i}.parquet`, bytes: () => spoilt(i + 1) })),
  ...Object.entries(gzips).map(([name, bytes]) => ({ fileName: `gzip-${name}`, bytes })),
]
