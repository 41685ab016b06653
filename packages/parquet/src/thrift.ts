/**
 * Reads structures of Thrift's compact protocol, in which Parquet writes its footer and the headers of its pages. A list is never
 * assumed to be longer than the remaining bytes, and a number never has more than ten bytes. The depth and the number of values
 * are limited. So the memory and time of reading are proportional to the bytes.
 */

/** A field's value; undefined if the field is missing. */
export type Thrift = number | boolean | Buffer | readonly Thrift[] | ThriftStruct | undefined
export type ThriftStruct = { readonly [field: number]: Thrift }

/** Thrown if the bytes end before the structure ends. For the header of a page, more bytes can follow. */
export class EndOfBytes extends Error {}

const depthMax = 16

const kind = {
  stop: 0,
  true: 1,
  false: 2,
  byte: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  struct: 12,
} as const

/**
 * Reads a structure.
 * @param valuesMax maximum number of values, including nested ones
 * @returns the structure, its fields by their numbers, and the place where it ends; whole numbers beyond 2^53 are approximate
 * @throws `EndOfBytes`, or an error if it is not a structure
 */
export function readStruct(bytes: Buffer, from: number, valuesMax: number): { struct: ThriftStruct; end: number } {
  let at = from
  let left = valuesMax

  const readByte = (): number => {
    const byte = bytes[at]
    if (byte === undefined) throw new EndOfBytes()
    at += 1
    return byte
  }
  const readVarint = (): number => {
    let value = 0
    let factor = 1
    for (let count = 0; count < 10; count += 1) {
      const byte = readByte()
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
      factor *= 128
    }
    throw new Error('a number of more than ten bytes')
  }
  const readSigned = (): number => {
    const value = readVarint()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new EndOfBytes()
    const taken = bytes.subarray(at, at + length)
    at += length
    return taken
  }
  const readValue = (type: number, depth: number, inList: boolean): Thrift => {
    left -= 1
    if (left < 0) throw new TooManyValues()
    switch (type) {
      case kind.true:
      case kind.false:
        return inList ? readByte() === kind.true : type === kind.true
      case kind.byte:
        return (readByte() << 24) >> 24
      case kind.i16:
      case kind.i32:
      case kind.i64:
        return readSigned()
      case kind.double:
        return take(8).readDoubleLE()
      case kind.binary:
        return take(readVarint())
      case kind.list:
      case kind.set:
        return readList(depth + 1)
      case kind.struct:
        return readFields(depth + 1)
      default:
        throw new Error(`a field of an unknown type ${type}`)
    }
  }
  const readList = (depth: number): Thrift[] => {
    if (depth > depthMax) throw new Error('a structure that is nested too deep')
    const header = readByte()
    const size = header >> 4 === 15 ? readVarint() : header >> 4
    // Each value takes at least one byte.
    if (size > bytes.length - at) throw new EndOfBytes()
    const values: Thrift[] = []
    for (let index = 0; index < size; index += 1) values.push(readValue(header & 15, depth, true))
    return values
  }
  const readFields = (depth: number): ThriftStruct => {
    if (depth > depthMax) throw new Error('a structure that is nested too deep')
    const fields: Record<number, Thrift> = {}
    let field = 0
    for (;;) {
      const header = readByte()
      const type = header & 15
      if (type === kind.stop) return fields
      field = header >> 4 === 0 ? readSigned() : field + (header >> 4)
      if (field < 0 || field > 32_767) throw new Error('a field with a number that no field has')
      fields[field] = readValue(type, depth, false)
    }
  }
  const struct = readFields(0)
  return { struct, end: at }
}

/** Thrown if a structure exceeds the maximum number of values. */
export class TooManyValues extends Error {}

/** A field as a whole number; `fallback` if it is missing. Throws if it has another type, or is not an exact whole number. */
export function numberOf(value: Thrift, fallback?: number): number {
  const number = value === undefined ? fallback : value
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) throw new Error('a field that is not a number')
  return number
}

/** A field as a structure; undefined if it is missing. */
export function structOf(value: Thrift): ThriftStruct | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'object' || Array.isArray(value) || Buffer.isBuffer(value)) throw new Error('no structure')
  return value as ThriftStruct
}

/** A field as a list of structures; empty if it is missing. */
export function structsOf(value: Thrift): readonly ThriftStruct[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw new Error('no list')
  return value.map((item) => structOf(item) ?? {})
}

/** A field as text; undefined if it is missing. */
export function textOf(value: Thrift): string | undefined {
  if (value === undefined) return undefined
  if (!Buffer.isBuffer(value)) throw new Error('no text')
  return value.toString('utf8')
}
