import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Row } from '@penstock/connector'
import type { DigestRecords } from '../../../protocol.ts'
import { decodeRecords, encodeRecords, recordWords } from '../changed-rows/row-digests.ts'

/**
 * The keys of mirrored rows in pages: compressed, each page together with the records of the same rows. The supervisor seals
 * them.
 */

/** Limits of a page: records, and approximate characters of keys. A longer key has a separate page. */
const recordsMax = 8_192
const lengthMax = 192 * 1024

/** Collects records with their keys, and creates pages of them. */
export class KeyPageWriter {
  #records: number[] = []
  #keys: string[] = []
  #length = 0

  /** Adds a row. Returns a page if it is full with it. @param record of 4 numbers */
  add(record: readonly number[], key: Row): DigestRecords | undefined {
    const text = JSON.stringify(key)
    this.#records.push(...record)
    this.#keys.push(text)
    this.#length += text.length
    return this.#keys.length >= recordsMax || this.#length >= lengthMax ? this.flush() : undefined
  }

  /** The page of the remaining keys; `undefined` if there are no keys left. */
  flush(): DigestRecords | undefined {
    if (this.#keys.length === 0) return undefined
    const page = { records: encodeRecords(Uint32Array.from(this.#records)), keys: pack(this.#keys) }
    this.#records = []
    this.#keys = []
    this.#length = 0
    return page
  }
}

/** Lines of JSON, because a key of one integer is then hardly longer than its digits. */
const pack = (keys: readonly string[]): string => deflateRawSync(keys.join('\n')).toString('base64')

/**
 * The rows of a page: for each row, the first two numbers of its record, and its key.
 * @throws Error if the numbers of keys and records differ
 */
export function* rowsOfPage({
  records,
  keys,
}: {
  readonly records: string
  readonly keys: string
}): Generator<{ readonly high: number; readonly low: number; readonly key: Row }, void, undefined> {
  const words = decodeRecords(records)
  const lines = inflateRawSync(Buffer.from(keys, 'base64')).toString('utf8').split('\n')
  if (lines.length * recordWords !== words.length) throw new Error('A page of keys has another number of records')
  for (const [at, line] of lines.entries()) {
    const key = JSON.parse(line) as Row
    yield { high: words[at * recordWords] as number, low: words[at * recordWords + 1] as number, key }
  }
}
