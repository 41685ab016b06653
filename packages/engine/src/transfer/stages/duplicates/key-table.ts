import { orderBytesMax } from './order-values.ts'

/**
 * Keys of records in the memory of a runner, outside its heap. An entry has 16 bytes of a keyed hash, 4 bytes for the number of
 * the record that was sent, and the value that decides which record wins. The table has 256 parts that grow one at a time, so
 * that no copy of all of it is made.
 */

/** Numbers of 32 bits of the hash of a key. */
export const hashWords = 4

const partCount = 256
const firstCapacity = 16
/** A part grows by a quarter once it is filled to four fifths. */
const fillMax = 0.8
const growth = 1.25

/** The parts of an entry after its hash. */
const numberAt = hashWords
const valueAt = hashWords + 1

/** Bytes of values come in blocks. The first two bytes of a value are its space in units, and its length. */
const blockBytes = 1 << 20
const unitBytes = 8

/** Thrown if the table would exceed its maximum size. */
export class TooManyKeys extends Error {
  override readonly name = 'TooManyKeys'
}

/**
 * Keys, and an entry for each key. `seek` and `add` select an entry. `number` and the following members belong to the selected
 * entry.
 */
export class KeyTable {
  readonly #words: number
  readonly #bytesMax: number
  #parts: Uint32Array[] = []
  #sizes = new Uint32Array(partCount)
  #blocks: Buffer[] = []
  #blockFilled = blockBytes
  #bytes = 0
  #size = 0
  #part: Uint32Array = new Uint32Array(0)
  #at = 0

  /**
   * @param valueWords words of an entry for its value: 1 for bytes, 2 for a digest, 0 for no value
   * @param bytesMax maximum memory
   */
  constructor(valueWords: 0 | 1 | 2, bytesMax: number) {
    this.#words = valueAt + valueWords
    this.#bytesMax = bytesMax
    this.clear()
  }

  /** How many keys it has. */
  get size(): number {
    return this.#size
  }

  /** Its memory, in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** Forgets all keys. */
  clear(): void {
    this.#parts = Array.from({ length: partCount }, () => new Uint32Array(firstCapacity * this.#words))
    this.#sizes = new Uint32Array(partCount)
    this.#blocks = []
    this.#blockFilled = blockBytes
    this.#bytes = partCount * firstCapacity * this.#words * 4
    this.#size = 0
  }

  /** Selects the entry of a key. @returns whether the key has an entry */
  seek(hash: Uint32Array): boolean {
    this.#part = this.#parts[(hash[1] as number) >>> 24] as Uint32Array
    this.#at = slotOf(this.#part, this.#words, hash, 0)
    return this.#part[this.#at + 3] !== 0
  }

  /**
   * Adds a key that it does not have, and selects its entry.
   * @throws TooManyKeys
   */
  add(hash: Uint32Array): void {
    const place = (hash[1] as number) >>> 24
    let part = this.#parts[place] as Uint32Array
    if (((this.#sizes[place] as number) + 1) * this.#words > part.length * fillMax) part = this.#grow(place)
    const at = slotOf(part, this.#words, hash, 0)
    part.set(hash, at)
    this.#sizes[place] = (this.#sizes[place] as number) + 1
    this.#size += 1
    this.#part = part
    this.#at = at
  }

  /** The number of the record that was sent; 0 if no record was sent. */
  get number(): number {
    return this.#part[this.#at + numberAt] as number
  }

  set number(number: number) {
    this.#part[this.#at + numberAt] = number
  }

  /** The digest of two words. */
  get digest(): readonly [number, number] {
    return [this.#part[this.#at + valueAt] as number, this.#part[this.#at + valueAt + 1] as number]
  }

  set digest([high, low]: readonly [number, number]) {
    this.#part[this.#at + valueAt] = high
    this.#part[this.#at + valueAt + 1] = low
  }

  /** The bytes; `undefined` if there is no value. */
  get value(): Buffer | undefined {
    const place = this.#part[this.#at + valueAt] as number
    if (place === 0) return undefined
    const [block, from] = this.#spaceAt(place)
    const length = block[from + 1] as number
    return length === 0 ? undefined : block.subarray(from + 2, from + 2 + length)
  }

  /** @throws TooManyKeys */
  set value(value: Buffer | undefined) {
    const place = this.#part[this.#at + valueAt] as number
    const length = Math.min(value?.length ?? 0, orderBytesMax)
    if (place === 0 && length === 0) return
    let [block, from] = place === 0 ? [undefined, 0] : this.#spaceAt(place)
    if (!block || (block[from] as number) * unitBytes < length + 2) [block, from] = this.#newSpace(length + 2)
    block[from + 1] = length
    value?.copy(block, from + 2, 0, length)
  }

  /** How many keys have a value and no number. */
  get open(): number {
    let count = 0
    for (const part of this.#parts) {
      this.#part = part
      for (this.#at = 0; this.#at < part.length; this.#at += this.#words) {
        if (part[this.#at + 3] === 0 || this.number !== 0) continue
        const has = this.#words === valueAt + 1 ? this.value !== undefined : this.digest.some((word) => word !== 0)
        if (has) count += 1
      }
    }
    return count
  }

  /** Forgets the numbers of records after a record. */
  rewind(number: number): void {
    for (const part of this.#parts)
      for (let at = numberAt; at < part.length; at += this.#words) if ((part[at] as number) > number) part[at] = 0
  }

  #spaceAt(place: number): [Buffer, number] {
    const at = (place - 1) * unitBytes
    return [this.#blocks[Math.floor(at / blockBytes)] as Buffer, at % blockBytes]
  }

  /** Allocates space for the value of the selected entry. */
  #newSpace(bytes: number): [Buffer, number] {
    const units = Math.ceil(bytes / unitBytes)
    if (this.#blockFilled + units * unitBytes > blockBytes) {
      this.#take(blockBytes)
      this.#blocks.push(Buffer.alloc(blockBytes))
      this.#blockFilled = 0
    }
    const from = this.#blockFilled
    const block = this.#blocks.at(-1) as Buffer
    block[from] = units
    this.#part[this.#at + valueAt] = ((this.#blocks.length - 1) * blockBytes + from) / unitBytes + 1
    this.#blockFilled += units * unitBytes
    return [block, from]
  }

  #grow(place: number): Uint32Array {
    const words = this.#words
    const old = this.#parts[place] as Uint32Array
    const capacity = Math.ceil((old.length / words) * growth)
    this.#take((capacity * words - old.length) * 4)
    const part = new Uint32Array(capacity * words)
    for (let from = 0; from < old.length; from += words) {
      if (old[from + 3] === 0) continue
      const at = slotOf(part, words, old, from)
      for (let word = 0; word < words; word += 1) part[at + word] = old[from + word] as number
    }
    this.#parts[place] = part
    return part
  }

  #take(bytes: number): void {
    if (this.#bytes + bytes > this.#bytesMax) throw new TooManyKeys()
    this.#bytes += bytes
  }
}

/** The slot of a key in a part, or the free slot for it. The last word of a hash is not 0. */
function slotOf(part: Uint32Array, words: number, hash: Uint32Array, from: number): number {
  const a = hash[from] as number
  const b = hash[from + 1]
  const c = hash[from + 2]
  const d = hash[from + 3]
  let at = Math.floor((a / 2 ** 32) * (part.length / words)) * words
  while (part[at + 3] !== 0 && (part[at] !== a || part[at + 1] !== b || part[at + 2] !== c || part[at + 3] !== d)) {
    at += words
    if (at === part.length) at = 0
  }
  return at
}
