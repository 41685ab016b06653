import { BoundedBytes } from '../../databases/bounded-bytes.ts'

/** An event of the log that does not have the form that MySQL and MariaDB document. Its message contains no values. */
export class BrokenEvent extends Error {
  override readonly name = 'BrokenEvent'
}

/** Reads bytes from first to last. Nothing that they say about lengths is believed: beyond the end it throws `BrokenEvent`. */
export class ByteReader extends BoundedBytes {
  constructor(bytes: Buffer) {
    super(bytes, () => new BrokenEvent('an event that ends too early'))
  }

  /** A number without a sign of 1 to 6 bytes, the lowest byte first. */
  uint(size: number): number {
    return this.buffer.readUIntLE(this.take(size), size)
  }

  /** A number with a sign of 1 to 6 bytes, the lowest byte first. */
  int(size: number): number {
    return this.buffer.readIntLE(this.take(size), size)
  }

  /** A number without a sign of 1 to 6 bytes, the highest byte first. */
  bigEndian(size: number): number {
    return this.buffer.readUIntBE(this.take(size), size)
  }

  uint64(): bigint {
    return this.buffer.readBigUInt64LE(this.take(8))
  }

  int64(): bigint {
    return this.buffer.readBigInt64LE(this.take(8))
  }

  float(): number {
    return this.buffer.readFloatLE(this.take(4))
  }

  double(): number {
    return this.buffer.readDoubleLE(this.take(8))
  }

  /** A part of the bytes, not a copy. */
  bytes(count: number): Buffer {
    const at = this.take(count)
    return this.buffer.subarray(at, at + count)
  }

  /** All that is left. */
  rest(): Buffer {
    return this.bytes(this.left)
  }

  /** A length or count of 1 to 9 bytes, as the protocol writes them. */
  count(): number {
    const first = this.uint(1)
    if (first < 251) return first
    if (first === 252) return this.uint(2)
    if (first === 253) return this.uint(3)
    const value = first === 254 ? Number(this.uint64()) : Number.NaN
    if (!Number.isSafeInteger(value)) throw new BrokenEvent('a length that is none')
    return value
  }

  /** Bytes with their length before them. */
  counted(): Buffer {
    return this.bytes(this.count())
  }
}
