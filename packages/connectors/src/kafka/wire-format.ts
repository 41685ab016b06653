/** The primitive types of Kafka's protocol, in the versions of messages that have no tagged fields. */

/** More entries of one array are no answer of a broker. */
const entriesMax = 1_000_000

/** Reads a message. Throws an error of any kind if the message ends early or has an impossible length. */
export class KafkaReader {
  at = 0
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  get left(): number {
    return this.bytes.length - this.at
  }

  int8(): number {
    this.at += 1
    return this.bytes.readInt8(this.at - 1)
  }

  int16(): number {
    this.at += 2
    return this.bytes.readInt16BE(this.at - 2)
  }

  int32(): number {
    this.at += 4
    return this.bytes.readInt32BE(this.at - 4)
  }

  uint32(): number {
    this.at += 4
    return this.bytes.readUInt32BE(this.at - 4)
  }

  /** An offset, a time or an identifier. Throws if a number cannot hold it. */
  int64(): number {
    this.at += 8
    const value = Number(this.bytes.readBigInt64BE(this.at - 8))
    if (!Number.isSafeInteger(value)) throw new RangeError('a number beyond 2^53')
    return value
  }

  /** A number of variable length, in zigzag form, of at most 53 bits. */
  varint(): number {
    let value = 0
    let scale = 1
    for (;;) {
      const byte = this.bytes.readUInt8(this.at)
      this.at += 1
      value += (byte & 0x7f) * scale
      if (byte < 0x80) break
      scale *= 128
      if (scale > 2 ** 56) throw new RangeError('a number of too many bytes')
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  take(length: number): Buffer {
    if (length < 0 || length > this.left) throw new RangeError('a length beyond the end')
    this.at += length
    return this.bytes.subarray(this.at - length, this.at)
  }

  string(): string {
    return this.nullableString() ?? ''
  }

  nullableString(): string | null {
    const length = this.int16()
    return length === -1 ? null : this.take(length).toString()
  }

  nullableBytes(): Buffer | null {
    const length = this.int32()
    return length === -1 ? null : this.take(length)
  }

  /** The same with a length of variable size, as in records. */
  varBytes(): Buffer | null {
    const length = this.varint()
    return length === -1 ? null : this.take(length)
  }

  array<T>(read: () => T): T[] {
    const length = this.int32()
    if (length > Math.min(entriesMax, this.left)) throw new RangeError('an array beyond the end')
    const entries: T[] = []
    for (let index = 0; index < length; index += 1) entries.push(read())
    return entries
  }
}

/** Writes a message. */
export class KafkaWriter {
  #bytes = Buffer.allocUnsafe(1024)
  #at = 0

  #grow(length: number): number {
    const at = this.#at
    if (at + length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, at + length))
      this.#bytes.copy(larger, 0, 0, at)
      this.#bytes = larger
    }
    this.#at += length
    return at
  }

  int8(value: number): this {
    const at = this.#grow(1)
    this.#bytes.writeInt8(value, at)
    return this
  }

  int16(value: number): this {
    const at = this.#grow(2)
    this.#bytes.writeInt16BE(value, at)
    return this
  }

  int32(value: number): this {
    const at = this.#grow(4)
    this.#bytes.writeInt32BE(value, at)
    return this
  }

  uint32(value: number): this {
    const at = this.#grow(4)
    this.#bytes.writeUInt32BE(value, at)
    return this
  }

  int64(value: number): this {
    const at = this.#grow(8)
    this.#bytes.writeBigInt64BE(BigInt(value), at)
    return this
  }

  varint(value: number): this {
    let rest = value < 0 ? -2 * value - 1 : 2 * value
    while (rest >= 128) {
      const at = this.#grow(1)
      this.#bytes[at] = (rest % 128) | 0x80
      rest = Math.floor(rest / 128)
    }
    const at = this.#grow(1)
    this.#bytes[at] = rest
    return this
  }

  raw(bytes: Uint8Array): this {
    const at = this.#grow(bytes.length)
    this.#bytes.set(bytes, at)
    return this
  }

  string(value: string | null): this {
    if (value === null) return this.int16(-1)
    const bytes = Buffer.from(value)
    return this.int16(bytes.length).raw(bytes)
  }

  bytes(value: Uint8Array): this {
    return this.int32(value.length).raw(value)
  }

  varBytes(value: Uint8Array | null): this {
    return value === null ? this.varint(-1) : this.varint(value.length).raw(value)
  }

  array<T>(values: readonly T[], write: (value: T) => void): this {
    this.int32(values.length)
    for (const value of values) write(value)
    return this
  }

  /** The written bytes. The writer must not be used afterwards. */
  done(): Buffer {
    return this.#bytes.subarray(0, this.#at)
  }
}
