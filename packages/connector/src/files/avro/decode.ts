import { noText } from '@penstock/parquet/values'
import type { Cell } from '../../rows.ts'
import { bounds, isTooLong, rowErrors } from '../bounds.ts'
import { AvroDamage, type AvroRecord, type AvroType } from './schema.ts'

/** A row that was read, and its error. */
export type AvroRow = { readonly row: Cell[]; readonly chars: number; readonly error: string | undefined }

/** Reads the records of an unpacked block, one after the other. */
export class AvroDecoder {
  readonly #bytes: Buffer
  #at = 0
  /** Counts of the row that is read. */
  #values = 0
  #chars = 0
  #error: string | undefined

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Whether all of the block was read. */
  get ended(): boolean {
    return this.#at === this.#bytes.length
  }

  /**
   * Reads a record as a row: plain values as cells, others as JSON text.
   * @throws `AvroDamage` if the block does not have it
   */
  row({ fields }: AvroRecord): AvroRow {
    this.#values = 0
    this.#chars = 0
    this.#error = undefined
    const row = fields.map(({ type }): Cell => {
      const cell = this.#cell(type, 1)
      if (typeof cell !== 'string') return cell
      this.#add(cell.length)
      if (!isTooLong(cell)) return cell
      this.#error ??= rowErrors.cellTooLong
      return null
    })
    return { row, chars: this.#chars, error: this.#error }
  }

  #add(chars: number): void {
    this.#chars += chars
    if (this.#chars > 2 * bounds.rowBytes) throw new AvroDamage('an endless row')
  }

  #count(depth: number): void {
    this.#values += 1
    if (this.#values > bounds.avro.rowValues) throw new AvroDamage('a row with too many values')
    if (depth > bounds.nestingLevels) throw new AvroDamage('a row that is nested too deep')
  }

  #cell(type: AvroType, depth: number): Cell {
    this.#count(depth)
    switch (type.kind) {
      case 'null':
        return null
      case 'boolean':
        return this.#take(1)[0] === 1
      case 'int':
        return this.#toCell(type.cell(Number(this.#long())))
      case 'long':
        return this.#toCell(type.cell(this.#long()))
      case 'float':
        return this.#toCell(type.cell(this.#take(4).readFloatLE()))
      case 'double':
        return this.#toCell(type.cell(this.#take(8).readDoubleLE()))
      case 'bytes':
        return this.#toCell(type.cell(this.#take(this.#length())))
      case 'fixed':
        return this.#toCell(type.cell(this.#take(type.size)))
      case 'enum': {
        const symbol = type.symbols[this.#length()]
        if (symbol === undefined) throw new AvroDamage('a missing symbol')
        return symbol
      }
      case 'union':
        return this.#cell(this.#branch(type.branches), depth + 1)
      default:
        return this.#json(type, depth)
    }
  }

  #toCell(cell: Cell | typeof noText): Cell {
    if (cell !== noText) return cell
    this.#error ??= 'The row has bytes that are not text.'
    return null
  }

  /** A value as JSON text. */
  #json(type: AvroType, depth: number): string {
    switch (type.kind) {
      case 'record':
        return `{${type.fields.map(({ name, type: inside }) => this.#field(name, inside, depth)).join()}}`
      case 'array':
        return `[${this.#items(() => this.#inside(type.items, depth)).join()}]`
      case 'map':
        return `{${this.#items(() => this.#field(this.#take(this.#length()).toString(), type.items, depth)).join()}}`
      default: {
        const text = JSON.stringify(this.#cell(type, depth))
        this.#add(text.length)
        return text
      }
    }
  }

  /** A nested value. JSON text in it is not quoted again. */
  #inside(type: AvroType, depth: number): string {
    this.#count(depth)
    const actual = type.kind === 'union' ? this.#branch(type.branches) : type
    return this.#json(actual, depth + 1)
  }

  #field(name: string, type: AvroType, depth: number): string {
    const key = JSON.stringify(name)
    this.#add(key.length + 1)
    return `${key}:${this.#inside(type, depth)}`
  }

  /**
   * The items of an array or a map, which are stored in blocks. A count below 0 is followed by the size of the block in bytes.
   */
  #items(item: () => string): string[] {
    const items: string[] = []
    for (;;) {
      const count = this.#long()
      if (count === 0n) return items
      if (count < 0n) this.#long()
      for (let left = count < 0n ? -count : count; left > 0n; left -= 1n) {
        items.push(item())
        this.#add(1)
      }
    }
  }

  #branch(branches: readonly AvroType[]): AvroType {
    const branch = branches[this.#length()]
    if (!branch) throw new AvroDamage('a missing type')
    return branch
  }

  #take(size: number): Buffer {
    const end = this.#at + size
    if (end > this.#bytes.length) throw new AvroDamage('an incomplete value')
    const bytes = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return bytes
  }

  #length(): number {
    const length = this.#long()
    if (length < 0n || length > BigInt(bounds.avro.blockBytes)) throw new AvroDamage('an invalid length')
    return Number(length)
  }

  #long(): bigint {
    const found = readLong(this.#bytes, this.#at)
    this.#at = found.end
    return found.value
  }
}

/**
 * Reads a whole number of variable length.
 * @throws `AvroDamage` if the bytes end too early, or the number is too long
 */
export function readLong(bytes: Buffer, from: number): { readonly value: bigint; readonly end: number } {
  let low = 0
  let at = from
  // Most numbers have few bytes, which need no large numbers.
  for (let shift = 0; shift < 28; shift += 7) {
    const byte = bytes[at]
    if (byte === undefined) throw new AvroDamage('an incomplete number')
    at += 1
    low |= (byte & 0x7f) << shift
    if (byte < 0x80) return { value: BigInt((low >>> 1) ^ -(low & 1)), end: at }
  }
  let value = BigInt(low)
  for (let shift = 28n; shift < 70n; shift += 7n) {
    const byte = bytes[at]
    if (byte === undefined) throw new AvroDamage('an incomplete number')
    at += 1
    value |= BigInt(byte & 0x7f) << shift
    if (byte < 0x80) return { value: BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n)), end: at }
  }
  throw new AvroDamage('a number that is too long')
}
