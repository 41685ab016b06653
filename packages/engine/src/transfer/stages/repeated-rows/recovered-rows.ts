import type { Announced, AnnouncedRows } from '../../../announced.ts'
import type { BatchStart } from '../../../protocol.ts'
import type { FilledBatch } from '../../filled-batch.ts'
import { recordWords } from '../changed-rows/row-digests.ts'

/**
 * Rows of batches that were announced and may have been delivered, but were not confirmed: before a crash, or by a transfer that
 * ended without success. If rows are found again by their values, such a batch is sent again first. It has the same key, and
 * contains the announced rows that the source still has unchanged. Whether the destination recognises the batch or writes these
 * rows, it then has them exactly once. All other rows of the source are sent as usual (docs/decisions/repeated-batches.md).
 */

type Announcement = Pick<BatchStart, 'pending' | 'announced'>

/** Bytes of the digest of an announced row. */
const digestBytes = 6

/** A part of the record of a row: 48 bits of its digest. */
const digestAt = (records: ArrayLike<number>, at: number): number =>
  ((records[at + 2] as number) >>> 0) * 0x10000 + ((records[at + 3] as number) & 0xffff)

const keyAt = (records: ArrayLike<number>, at: number): string => `${records[at]} ${records[at + 1]}`

/** How announced batches are repeated. */
export type Repeating = {
  /** Whether the destination adds rows, and a receiver recognises them by keys. */
  readonly recognisesKeys: boolean
  /** Whether the next transfer begins after a cursor. */
  readonly isIncremental: boolean
}

/** The rows of a batch for its announcement; nothing if the rows cannot be found again by their digests. */
export function announcedRowsOf(
  { digests, rows, removed, window, left, segments, covered }: FilledBatch,
  { recognisesKeys, isIncremental }: Repeating,
): AnnouncedRows | undefined {
  const [begun] = segments
  if (digests?.length !== rows.length * recordWords || !begun || removed.size > 0 || window || left) return undefined
  const hasPlaces = segments.some(({ cursorAfter, checkpointAfter }) => cursorAfter && checkpointAfter)
  if (!recognisesKeys && hasPlaces) return undefined
  const bytes = Buffer.alloc(rows.length * digestBytes)
  for (let i = 0; i < rows.length; i += 1) {
    bytes.writeUIntBE(digestAt(digests, i * recordWords), i * digestBytes, digestBytes)
  }
  const known = { begin: begun.before, covered, digests: bytes.toString('base64') }
  return isIncremental ? { ...known, followsCursor: true } : known
}

/** The digests of announced rows, in their order. */
function digestsIn({ digests }: AnnouncedRows): number[] {
  const bytes = Buffer.from(digests, 'base64')
  return Array.from({ length: Math.floor(bytes.length / digestBytes) }, (_, i) =>
    bytes.readUIntBE(i * digestBytes, digestBytes),
  )
}

/** Number of occurrences of each digest that remain. */
class DigestCounts {
  readonly #counts = new Map<number, number>()
  #size = 0

  constructor(digests: Iterable<number> = []) {
    for (const digest of digests) this.add(digest)
  }

  /** How many there are. */
  get size(): number {
    return this.#size
  }

  add(digest: number): void {
    this.#counts.set(digest, (this.#counts.get(digest) ?? 0) + 1)
    this.#size += 1
  }

  /** Removes one occurrence. Returns whether there was one. */
  take(digest: number): boolean {
    const count = this.#counts.get(digest) ?? 0
    if (count === 0) return false
    this.#counts.set(digest, count - 1)
    this.#size -= 1
    return true
  }
}

/** The rows of one announced batch, which are searched in the source. */
export class WantedRows {
  readonly announced: Announced
  readonly rows: AnnouncedRows
  readonly #order: readonly number[]
  readonly #wanted: DigestCounts

  constructor(announced: Announced, rows: AnnouncedRows) {
    this.announced = announced
    this.rows = rows
    this.#order = digestsIn(rows)
    this.#wanted = new DigestCounts(this.#order)
  }

  /** How many rows it has. */
  get size(): number {
    return this.#order.length
  }

  /** Whether all of its rows were found. */
  get isComplete(): boolean {
    return this.#wanted.size === 0
  }

  /** Removes a row, if it contains it. @param at index of its record in `records` */
  take(records: ArrayLike<number>, at: number): boolean {
    return this.#wanted.take(digestAt(records, at))
  }

  /**
   * The rows that the destination rejected, by their index among the rows that were sent now.
   * @param indexes as the destination names them: of the earlier rows, if it recalled the batch. If it does not know that, and
   * fewer rows were sent than were announced, both rows that an index can mean are sent again
   */
  rejectedOf(
    records: ArrayLike<number>,
    indexes: ReadonlySet<number>,
    recalled: boolean | undefined,
  ): ReadonlySet<number> {
    if (this.isComplete || recalled === false) return indexes
    const meant = new DigestCounts([...indexes].flatMap((index) => this.#order[index] ?? []))
    const rejected = new Set(recalled ? [] : indexes)
    for (let i = 0; i * recordWords < records.length; i += 1) {
      if (meant.take(digestAt(records, i * recordWords))) rejected.add(i)
    }
    return rejected
  }
}

/** Records of rows, found by their key. */
class RecordsByKey {
  readonly #records = new Map<string, (readonly number[])[]>()
  #size = 0

  /** How many there are. */
  get size(): number {
    return this.#size
  }

  add(record: readonly number[]): void {
    const key = keyAt(record, 0)
    this.#records.set(key, [...(this.#records.get(key) ?? []), record])
    this.#size += 1
  }

  /** Removes a row. Returns whether it was present. */
  take(records: ArrayLike<number>, at: number): boolean {
    const found = this.#records.get(keyAt(records, at))
    const index = found?.findIndex((record) => digestAt(record, 0) === digestAt(records, at)) ?? -1
    if (!found || index < 0) return false
    found.splice(index, 1)
    this.#size -= 1
    return true
  }

  /** Removes all rows with the key of a row. */
  dropKey(records: ArrayLike<number>, at: number): void {
    const key = keyAt(records, at)
    this.#size -= this.#records.get(key)?.length ?? 0
    this.#records.delete(key)
  }

  all(): readonly number[] {
    return [...this.#records.values()].flat(2)
  }
}

/** The rows that the destination has from announced batches, until the source is read again up to them and they are confirmed. */
export class RecoveredRows {
  /** Rows that were not read again. */
  readonly #unread = new RecordsByKey()
  /** Rows that are not confirmed. */
  #unconfirmed = new RecordsByKey()
  #announced: readonly Announced[]
  /**
   * Whether the source returns changes in their order. Several rows can then have the same key, and announced rows are repeated
   * unchanged.
   */
  readonly #follows: boolean

  /** @param announced the batches, the latest one first */
  constructor(announced: readonly Announced[]) {
    this.#announced = announced
    this.#follows = announced.some(({ rows }) => rows?.followsCursor)
  }

  /** The destination has this row. */
  add(records: ArrayLike<number>, at: number): void {
    const record = Array.from({ length: recordWords }, (_, word) => records[at + word] as number)
    this.#unread.add(record)
    this.#unconfirmed.add(record)
  }

  /** Whether the destination has a row that was read, and no other row was taken for it. */
  take(records: ArrayLike<number>, at: number): boolean {
    if (this.#unconfirmed.size === 0) return false
    if (this.#unread.take(records, at)) return true
    if (this.#follows) return false
    // The source now has another row with this key, which is sent.
    this.#unconfirmed.dropKey(records, at)
    return false
  }

  /** Whether the destination has a row that was read. The source may have several equal rows. */
  takeSame(records: ArrayLike<number>, at: number): boolean {
    return this.#unread.take(records, at)
  }

  /** Records of rows that were not read again: a source without places can pass over rows that it has. */
  takeRest(): readonly number[] {
    const rest = this.#follows ? [] : this.#unconfirmed.all()
    this.#unconfirmed = new RecordsByKey()
    return rest
  }

  /** Whether some of its rows are not confirmed. */
  get isOutstanding(): boolean {
    return this.#announced.length > 0
  }

  /**
   * Rows are confirmed with the next announcement, or before it. To be called first once all were added.
   * @param records of the rows
   */
  settle(records: readonly number[]): void {
    for (let at = 0; at < records.length; at += recordWords) this.#unconfirmed.take(records, at)
    if (this.#unconfirmed.size === 0) this.#announced = []
  }

  /** Adds to an announcement the batches whose rows are not all confirmed. */
  announcing({ pending, announced, ...rest }: Announcement): Announcement {
    const [latest, ...earlier] = this.#announced
    if (!latest) return { pending, ...(announced && { announced }), ...rest }
    if (announced) return { ...rest, pending, announced: { ...announced, earlier: [latest, ...earlier] } }
    return { ...rest, pending: latest.rows?.covered ?? null, announced: { ...latest, earlier } }
  }
}
