import type { Element } from './schema.ts'

/**
 * The encodings of values in pages of Parquet. Each reader decodes values when they are requested. So a page needs memory only
 * for the values that are used, not for the number that it claims, and reading fails if the bytes do not contain them.
 */

/** A value in its stored form. Numbers of 64 bits are bigints, 96 bits and bytes are buffers. */
export type Stored = number | bigint | boolean | Buffer

/** Returns the next values of a page. */
export type TakeValues = (count: number) => ArrayLike<Stored>

/**
 * Whole numbers as runs and packed bits (`RLE`): levels, indexes of dictionaries, booleans.
 * @param width bits of a number, at most 32
 */
export function runReader(bytes: Buffer, from: number, width: number): (count: number) => Uint32Array {
  if (width > 32) throw new Error('numbers of more than 32 bits')
  let at = from
  /** Remaining length of the run, and its number; or of the packed numbers, and the position of their next bits. */
  let left = 0
  let packed = false
  let value = 0
  let bit = 0
  const next = () => {
    const header = readVarint(bytes, at)
    at = header.end
    packed = header.value % 2 === 1
    left = Math.floor(header.value / 2)
    if (packed) {
      // Missing bytes at the end of a page matter only if their values are read.
      left *= 8
      bit = at * 8
      at += (left * width) / 8
    } else {
      const size = (width + 7) >> 3
      value = size === 0 ? 0 : bytes.readUIntLE(at, size)
      at += size
    }
    if (left === 0) throw new Error('a run of nothing')
  }
  return (count) => {
    const numbers = new Uint32Array(count)
    let filled = 0
    while (filled < count) {
      if (left === 0) next()
      const taken = Math.min(left, count - filled)
      if (packed) {
        unpackBits(bytes, bit, width, numbers, filled, taken)
        bit += taken * width
      } else {
        numbers.fill(value, filled, filled + taken)
      }
      filled += taken
      left -= taken
    }
    return numbers
  }
}

function unpackBits(bytes: Buffer, from: number, width: number, into: Uint32Array, at: number, count: number): void {
  if (Math.ceil((from + count * width) / 8) > bytes.length) throw new Error('fewer numbers than there should be')
  let bit = from
  for (let index = at; index < at + count; index += 1) {
    let value = 0
    let factor = 1
    for (let left = width; left > 0; ) {
      const offset = bit & 7
      const taken = Math.min(8 - offset, left)
      value += ((((bytes[Math.floor(bit / 8)] as number) >> offset) & ((1 << taken) - 1)) as number) * factor
      factor *= 2 ** taken
      left -= taken
      bit += taken
    }
    into[index] = value
  }
}

function readVarint(bytes: Buffer, from: number): { value: number; end: number } {
  let value = 0
  let factor = 1
  for (let at = from; at < from + 8; at += 1) {
    const byte = bytes[at]
    if (byte === undefined) throw new Error('fewer numbers than there should be')
    value += (byte & 0x7f) * factor
    if (byte < 0x80) return { value, end: at + 1 }
    factor *= 128
  }
  throw new Error('a number that is too long')
}

/** Whole numbers of 64 bits in at most ten bytes, with the sign in the last bit. */
function readSigned64(bytes: Buffer, from: number): { value: bigint; end: number } {
  let value = 0n
  for (let at = from; at < from + 10; at += 1) {
    const byte = bytes[at]
    if (byte === undefined) throw new Error('fewer numbers than there should be')
    value |= BigInt(byte & 0x7f) << BigInt(7 * (at - from))
    if (byte < 0x80) return { value: BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n)), end: at + 1 }
  }
  throw new Error('a number that is too long')
}

/** Consecutive values (`PLAIN`). */
export function plainReader(bytes: Buffer, from: number, { type, typeLength }: Element): TakeValues {
  let at = from
  const each = (size: number, read: (at: number) => Stored): TakeValues => {
    return (count) => {
      if (at + count * size > bytes.length) throw new Error('fewer values than there should be')
      const values: Stored[] = new Array(count)
      for (let index = 0; index < count; index += 1) {
        values[index] = read(at)
        at += size
      }
      return values
    }
  }
  switch (type) {
    case 'BOOLEAN': {
      let bit = from * 8
      return (count) => {
        const bits = new Uint32Array(count)
        unpackBits(bytes, bit, 1, bits, 0, count)
        bit += count
        return Array.from(bits, (value) => value === 1)
      }
    }
    case 'INT32':
      return each(4, (place) => bytes.readInt32LE(place))
    case 'INT64':
      return each(8, (place) => bytes.readBigInt64LE(place))
    case 'FLOAT':
      return each(4, (place) => bytes.readFloatLE(place))
    case 'DOUBLE':
      return each(8, (place) => bytes.readDoubleLE(place))
    case 'INT96':
      return each(12, (place) => bytes.subarray(place, place + 12))
    case 'FIXED_LEN_BYTE_ARRAY':
      return each(typeLength, (place) => bytes.subarray(place, place + typeLength))
    case 'BYTE_ARRAY':
      return (count) => {
        // Each value has at least the four bytes of its length.
        if (at + count * 4 > bytes.length) throw new Error('fewer values than there should be')
        const values: Buffer[] = new Array(count)
        for (let index = 0; index < count; index += 1) {
          const length = bytes.readUInt32LE(at)
          if (at + 4 + length > bytes.length) throw new Error('a value that is longer than its page')
          values[index] = bytes.subarray(at + 4, at + 4 + length)
          at += 4 + length
        }
        return values
      }
  }
}

/** Numbers and bytes of a fixed size, the first bytes of all of them first (`BYTE_STREAM_SPLIT`). */
export function splitReader(bytes: Buffer, from: number, element: Element): TakeValues {
  const sizes: Partial<Record<Element['type'], number>> = { INT32: 4, FLOAT: 4, INT64: 8, DOUBLE: 8 }
  const size = element.type === 'FIXED_LEN_BYTE_ARRAY' ? element.typeLength : sizes[element.type]
  if (size === undefined) throw new Error(`values of ${element.type} that are split`)
  const stride = (bytes.length - from) / size
  if (!Number.isInteger(stride)) throw new Error('values that are not whole')
  let taken = 0
  return (count) => {
    if (taken + count > stride) throw new Error('fewer values than there should be')
    const joined = Buffer.allocUnsafe(count * size)
    for (let index = 0; index < count; index += 1) {
      for (let byte = 0; byte < size; byte += 1) {
        joined[index * size + byte] = bytes[from + byte * stride + taken + index] as number
      }
    }
    taken += count
    return plainReader(joined, 0, element)(count)
  }
}

/** Maximum values of a block of differences. Writers create blocks of 128 to 2048 values. */
const blockMax = 1 << 20

type Differences = { readonly take: (count: number) => BigInt64Array; readonly count: number; end(): number }

/** Differences between whole numbers, packed in blocks (`DELTA_BINARY_PACKED`). They wrap around at 64 bits. */
function differenceReader(bytes: Buffer, from: number): Differences {
  const block = readVarint(bytes, from)
  const miniblocks = readVarint(bytes, block.end)
  const total = readVarint(bytes, miniblocks.end)
  const first = readSigned64(bytes, total.end)
  const perMiniblock = block.value / miniblocks.value
  if (block.value > blockMax || !Number.isInteger(perMiniblock / 8) || perMiniblock === 0) {
    throw new Error('blocks of an impossible size')
  }
  let at = first.end
  let value = first.value
  let given = 0
  /** Position of the widths of the block's miniblocks, the current miniblock, and the number of its remaining values. */
  let widths = 0
  let miniblock = miniblocks.value
  let least = 0n
  let left = 0
  let width = 0
  let bit = 0
  const next = () => {
    if (miniblock === miniblocks.value) {
      const start = readSigned64(bytes, at)
      least = start.value
      widths = start.end
      at = widths + miniblocks.value
      miniblock = 0
    }
    width = bytes.readUInt8(widths + miniblock)
    if (width > 64) throw new Error('numbers of more than 64 bits')
    miniblock += 1
    left = perMiniblock
    bit = at * 8
    at += (perMiniblock * width) / 8
  }
  const take = (count: number): BigInt64Array => {
    if (given + count > total.value) throw new Error('fewer values than there should be')
    const values = new BigInt64Array(count)
    const halves = new Uint32Array(2)
    for (let index = 0; index < count; index += 1) {
      if (given > 0) {
        if (left === 0) next()
        let difference = least
        if (width > 0) {
          unpackBits(bytes, bit, Math.min(width, 32), halves, 0, 1)
          difference += BigInt(halves[0] as number)
          if (width > 32) {
            unpackBits(bytes, bit + 32, width - 32, halves, 1, 1)
            difference += BigInt(halves[1] as number) << 32n
          }
        }
        bit += width
        left -= 1
        value = BigInt.asIntN(64, value + difference)
      }
      values[index] = value
      given += 1
    }
    return values
  }
  return { take, count: total.value, end: () => at }
}

/** Whole numbers as differences. */
export function deltaReader(bytes: Buffer, from: number, { type }: Element): TakeValues {
  if (type !== 'INT32' && type !== 'INT64') throw new Error(`differences between values of ${type}`)
  const { take } = differenceReader(bytes, from)
  return type === 'INT64' ? take : (count) => Array.from(take(count), (value) => Number(BigInt.asIntN(32, value)))
}

/** All lengths at the beginning of a page, and their end. */
function readLengths(bytes: Buffer, from: number, countMax: number): { lengths: Int32Array; end: number } {
  const { take, count, end } = differenceReader(bytes, from)
  if (count > countMax) throw new Error('more lengths than values')
  const lengths = new Int32Array(count)
  // Part by part, because each value takes eight bytes until it is converted.
  for (let at = 0; at < count; at += 4096) {
    for (const [index, length] of take(Math.min(4096, count - at)).entries()) {
      if (length < 0n || length > BigInt(bytes.length)) throw new Error('a value that is longer than its page')
      lengths[at + index] = Number(length)
    }
  }
  return { lengths, end: end() }
}

/**
 * Bytes after all of their lengths (`DELTA_LENGTH_BYTE_ARRAY`).
 * @param countMax maximum values of the page
 */
export function lengthReader(bytes: Buffer, from: number, countMax: number): TakeValues {
  const { lengths, end } = readLengths(bytes, from, countMax)
  let at = end
  let given = 0
  return (count) => {
    if (given + count > lengths.length) throw new Error('fewer values than there should be')
    const values: Buffer[] = new Array(count)
    for (let index = 0; index < count; index += 1) {
      const length = lengths[given] as number
      if (at + length > bytes.length) throw new Error('a value that is longer than its page')
      values[index] = bytes.subarray(at, at + length)
      at += length
      given += 1
    }
    return values
  }
}

/**
 * Bytes that share a prefix with the previous value (`DELTA_BYTE_ARRAY`).
 * @param countMax maximum values of the page
 * @param expand called with the number of bytes that a value copies from the previous one; throws if there are too many
 */
export function prefixReader(
  bytes: Buffer,
  from: number,
  countMax: number,
  expand: (bytes: number) => void,
): TakeValues {
  const prefixes = readLengths(bytes, from, countMax)
  const suffixes = lengthReader(bytes, prefixes.end, countMax)
  let last: Buffer = Buffer.alloc(0)
  let given = 0
  return (count) => {
    const values: Buffer[] = new Array(count)
    for (const [index, suffix] of Array.from(suffixes(count)).entries()) {
      const prefix = prefixes.lengths[given]
      if (prefix === undefined || prefix > last.length) throw new Error('a value that begins like none before it')
      if (prefix === 0) {
        last = suffix as Buffer
      } else {
        expand(prefix)
        last = Buffer.concat([last.subarray(0, prefix), suffix as Buffer])
      }
      values[index] = last
      given += 1
    }
    return values
  }
}
