import { type ByteStream, pieceBytes } from './bytes.ts'
import { type HuffmanTable, huffmanTable, PackedBits } from './bzip2-codes.ts'

/** The first bytes of a block, and of the end of a stream: the digits of π, and of its square root. */
const blockStart = 0x314159265359n
const streamEnd = 0x177245385090n

/** Bytes of a level. A block has one to nine levels. */
const levelBytes = 100_000
/** Larger than a block of the highest level: 900,000 symbols of at most 20 bits, and its tables. */
const packedBlockBytes = 2_400_000
/** Symbols between two changes of the table. */
const groupSymbols = 50

/**
 * Whether a file begins like bzip2: with a block, or with the end of a stream without blocks. A CSV file can begin with “BZh”.
 */
export const isBzip2 = (start: Buffer): boolean =>
  /^425a683[1-9](?:314159265359|177245385090)/.test(start.toString('hex', 0, 10))

/** The code is like the codes of the decompressors of Node.js, so that a damaged file is reported in the same way. */
const damage = (): Error => Object.assign(new Error('damaged bzip2 data'), { code: 'Z_DATA_ERROR' })

/**
 * Unpacks a bzip2 file with one or several streams, piece by piece. Uses about 6 MiB of memory and a piece.
 * @param raw at the beginning of the file
 * @throws an error with the code `Z_DATA_ERROR` if the file is damaged, cut off, or continues after its last stream
 */
export async function* unbzip2(raw: ByteStream): AsyncGenerator<Uint8Array> {
  // All streams share it: a file can consist of streams of 14 bytes.
  const links = new Uint32Array(9 * levelBytes)
  for (let start = await raw.peek(4); start.length > 0; start = await raw.peek(4)) {
    const level = /^BZh([1-9])$/.exec(start.toString('latin1'))?.[1]
    if (level === undefined) throw damage()
    raw.take(4)
    yield* unpackedStream(raw, links.subarray(0, Number(level) * levelBytes))
  }
}

/** The text of a stream after its first four bytes. Blocks begin at any bit. */
async function* unpackedStream(raw: ByteStream, links: Uint32Array): AsyncGenerator<Uint8Array> {
  let checksums = 0
  for (let bit = 0; ; ) {
    const packed = new PackedBits(await raw.peek(packedBlockBytes), bit)
    const mark = (BigInt(packed.read(24)) << 24n) | BigInt(packed.read(24))
    const checksum = ((packed.read(16) << 16) | packed.read(16)) >>> 0
    if (mark === streamEnd) {
      if (packed.isOverrun || checksum !== checksums) throw damage()
      raw.take(Math.ceil(packed.position / 8))
      return
    }
    if (mark !== blockStart) throw damage()
    const { size, origin } = readBlock(packed, links)
    bit = packed.position % 8
    raw.take(Math.floor(packed.position / 8))
    let sum = 0xffffffff
    for (const piece of textOf(links, size, origin)) {
      sum = checksumOf(sum, piece)
      yield piece
    }
    sum = ~sum >>> 0
    if (sum !== checksum) throw damage()
    checksums = (((checksums << 1) | (checksums >>> 31)) ^ sum) >>> 0
  }
}

/**
 * Reads a block, and links its bytes in the order of the text.
 * @param links gets each byte, with the place of the next byte in the bits above
 */
function readBlock(packed: PackedBits, links: Uint32Array): { readonly size: number; readonly origin: number } {
  // Only versions from before 2000 set the bit, for blocks that are mixed at random.
  if (packed.read(1) === 1) throw damage()
  const origin = packed.read(24)
  const symbols = readSymbols(packed)
  const { tables, selectors } = readTables(packed, symbols.length + 2)
  const counts = new Uint32Array(256)
  const end = symbols.length + 1
  let size = 0
  let run = 0
  let weight = 1
  const put = (byte: number, times: number) => {
    if (size + times > links.length) throw damage()
    if (times === 1) links[size] = byte
    else links.fill(byte, size, size + times)
    counts[byte] = (counts[byte] ?? 0) + times
    size += times
  }
  let table: HuffmanTable | undefined
  for (let read = 0; ; read++) {
    if (read % groupSymbols === 0) table = tables[selectors[read / groupSymbols] ?? -1]
    if (table === undefined || packed.isOverrun) throw damage()
    const symbol = packed.symbol(table)
    if (symbol === undefined) throw damage()
    // Two symbols write the length of a run of the first byte, the lowest digit first.
    if (symbol < 2) {
      run += weight << symbol
      weight <<= 1
      if (run > links.length) throw damage()
      continue
    }
    if (run > 0) put(symbols[0] ?? 0, run)
    run = 0
    weight = 1
    if (symbol === end) break
    const byte = symbols[symbol - 1] ?? 0
    symbols.copyWithin(1, 0, symbol - 1)
    symbols[0] = byte
    put(byte, 1)
  }
  if (packed.isOverrun || origin >= size) throw damage()
  let before = 0
  const places = counts.map((count) => {
    before += count
    return before - count
  })
  for (let at = 0; at < size; at++) {
    const byte = (links[at] ?? 0) & 0xff
    const place = places[byte] ?? 0
    places[byte] = place + 1
    links[place] = ((links[place] ?? 0) | (at << 8)) >>> 0
  }
  return { size, origin }
}

/** The bytes that a block has, in ascending order. */
function readSymbols(packed: PackedBits): Uint8Array {
  const symbols: number[] = []
  const ranges = packed.read(16)
  for (let range = 0; range < 16; range++) {
    const bytes = ranges & (0x8000 >> range) ? packed.read(16) : 0
    for (let low = 0; low < 16; low++) if (bytes & (0x8000 >> low)) symbols.push(range * 16 + low)
  }
  if (symbols.length === 0) throw damage()
  return Uint8Array.from(symbols)
}

/** The tables of a block, and which of them each group of symbols is written with. */
function readTables(packed: PackedBits, size: number): { tables: HuffmanTable[]; selectors: number[] } {
  const count = packed.read(3)
  const groups = packed.read(15)
  if (count < 2 || count > 6 || groups === 0) throw damage()
  const recent = [...Array(count).keys()]
  const selectors = Array.from({ length: groups }, () => {
    let at = 0
    while (packed.read(1) === 1) if (++at >= count) throw damage()
    const [table = 0] = recent.splice(at, 1)
    recent.unshift(table)
    return table
  })
  const tables = Array.from({ length: count }, () => {
    let length = packed.read(5)
    const lengths = Array.from({ length: size }, () => {
      while (packed.read(1) === 1) {
        length += packed.read(1) === 1 ? -1 : 1
        if (length < 1 || length > 20) throw damage()
      }
      if (length < 1 || length > 20) throw damage()
      return length
    })
    return huffmanTable(lengths)
  })
  return { tables, selectors }
}

/** The text of a block: its bytes in order. After four equal bytes, the next byte is the number of further repetitions. */
function* textOf(links: Uint32Array, size: number, origin: number): Generator<Uint8Array> {
  // Five bytes of a block are at most 259 bytes of text. A short block gets a short piece, because a file can have millions of
  // blocks.
  const piecesBytes = Math.min(pieceBytes, 512 + size * 64)
  let piece = Buffer.alloc(piecesBytes)
  let filled = 0
  let link = (links[origin] ?? 0) >>> 8
  let last = -1
  let equal = 0
  for (let at = 0; at < size; at++) {
    const next = links[link] ?? 0
    link = next >>> 8
    const value = next & 0xff
    const repeats = equal === 4
    const byte = repeats ? last : value
    if (filled + 256 > piece.length) {
      yield piece.subarray(0, filled)
      piece = Buffer.alloc(piecesBytes)
      filled = 0
    }
    const times = repeats ? value : 1
    if (times === 1) piece[filled] = byte
    else piece.fill(byte, filled, filled + times)
    filled += times
    equal = repeats ? 0 : byte === last ? equal + 1 : 1
    last = repeats ? -1 : byte
  }
  if (filled > 0) yield piece.subarray(0, filled)
}

/** The checksum of bzip2 is CRC-32 with the highest bit first. */
const remainders = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte << 24
  for (let bit = 0; bit < 8; bit++) remainder = remainder < 0 ? (remainder << 1) ^ 0x04c11db7 : remainder << 1
  return remainder >>> 0
})

function checksumOf(sum: number, bytes: Uint8Array): number {
  let result = sum
  for (const byte of bytes) result = ((result << 8) ^ (remainders[(result >>> 24) ^ byte] ?? 0)) >>> 0
  return result
}
