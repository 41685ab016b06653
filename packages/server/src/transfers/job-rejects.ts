import type { Json, RejectedRecord, RejectedRecords, RejectPlace } from '@penstock/connector'
import type { RejectHost } from '@penstock/engine'
import { limits } from '@penstock/wire'
import type { Database } from '../db/database.ts'
import { containing } from '../db/like.ts'
import { openDataKey } from '../secrets/data-keys.ts'
import type { Keyring } from '../secrets/keyring.ts'
import type { MasterKey } from '../secrets/seal.ts'
import { joinedReasons, reasonsIn } from './reject-reasons.ts'
import * as queries from './rejecting-queries.ts'
import { membersOf } from './runner-messages.ts'
import { openText, places } from './sealed.ts'
import type { ConfiguredSide } from './sides.ts'

/** Rejected records of one message to a runner. */
const recordsAtOnce = 200
const bytesAtOnce = 512 * 1024
const offsetMax = 1_000_000

/** Up to where a job read the rejected records of a connection: behind everything that there was. */
export type RejectsRead = { readonly rejectsOf: string; readonly rejectsRead: number }

/**
 * Answers what the runner of one job asks about rejected records. Its calls are not trusted: they reach only connections of the
 * sub-account of a connector that reads rejected records.
 */
export class JobRejects {
  readonly #deps: { readonly database: Database; readonly keyring: Keyring }
  /** Undefined if no connector of the job reads rejected records. */
  readonly #accountId: string | undefined
  /** Set once everything was read. */
  read: RejectsRead | undefined

  constructor(
    { database, keyring }: { readonly database: Database; readonly keyring: Keyring },
    sides: readonly ConfiguredSide[],
  ) {
    this.#deps = { database, keyring }
    this.#accountId = sides.find(({ connector }) => connector.readsRejects)?.accountId
  }

  /** Throws if no connector of the job reads rejected records, one was altered, or the database is away. */
  async answer(method: keyof RejectHost, argument: unknown): Promise<unknown> {
    if (this.#accountId === undefined) throw notAllowed()
    const accountId = this.#accountId
    switch (method) {
      case 'findRejecting':
        return this.#find(accountId, argument)
      case 'readRejected':
        return this.#read(accountId, argument)
    }
  }

  async #find(accountId: string, argument: unknown) {
    const { search, size, offset } = membersOf(argument)
    if (typeof search !== 'string' || search.length > limits.discoverySearchLengthMax) throw notAllowed()
    if (!isCount(size, limits.discoverySizeMax + 1) || !isCount(offset, offsetMax)) throw notAllowed()
    return queries.searchRejecting.all(this.#deps.database, { accountId, like: containing(search), size, offset })
  }

  async #read(accountId: string, argument: unknown) {
    const { connection, after } = membersOf(argument)
    if (typeof connection !== 'string') throw notAllowed()
    const place = placeOf(after)
    const [of, other] = await queries.findRejecting.all(this.#deps.database, { accountId, connection })
    if (!of || (other && of.id !== connection)) return null
    const found = await this.#readAfter(of.id, place)
    if (!found) this.read = { rejectsOf: of.id, rejectsRead: place.transfer }
    return { connectionId: of.id, connectionName: of.name, found }
  }

  async #readAfter(connectionId: string, { transfer, record }: RejectPlace): Promise<RejectedRecords | null> {
    const { database, keyring } = this.#deps
    const at = { connectionId, position: transfer, within: record !== null }
    const found = await queries.nextRejecting.first(database, at)
    if (!found) return null
    const { position, transferId, sourceColumns, dataKeyId, rejected, kept, last, before, ends } = found
    const endedTime = found.endedTime.toISOString()
    const behind = position === transfer ? (record ?? 0) : 0
    const page = { transferId, before, ends, number: behind, limit: recordsAtOnce, bytes: bytesAtOnce }
    const rows = await queries.rejectedAfter.all(database, page)
    const key = rows.length > 0 && dataKeyId ? await openDataKey(database, keyring, dataKeyId) : undefined
    const records = rows.map((row): RejectedRecord => {
      const { number, row: ofSource, place, count, field } = row
      const { reason: first, others } = reasonsIn(key, transferId, row)
      const reason = joinedReasons(first, others)
      return {
        number,
        row: ofSource,
        place,
        count,
        field,
        reason,
        ...valuesOf(key, transferId, row.ownColumns ?? sourceColumns ?? [], row),
      }
    })
    const end = rows.at(-1)?.number ?? behind
    if (last !== null && end < last) {
      return { transferId, endedTime, records, next: { transfer: position, record: end } }
    }
    const others = rejected > kept ? [notKept(rejected - kept)] : []
    return {
      transferId,
      endedTime,
      records: [...records, ...others],
      next: { transfer: position, record: null },
    }
  }
}

type RejectedRow = Awaited<ReturnType<typeof queries.rejectedAfter.all>>[number]

function valuesOf(
  key: MasterKey | undefined,
  transferId: string,
  columns: readonly string[],
  { number, sealed, record }: RejectedRow,
): Pick<RejectedRecord, 'record' | 'isWhole'> {
  if (!sealed || !key) return { record: JSON.stringify(record), isWhole: false }
  const values: Json = JSON.parse(openText(key, places.reject(transferId, number), sealed))
  const isWhole = Array.isArray(values) && values.length === columns.length
  if (!isWhole) return { record: JSON.stringify(values), isWhole }
  return {
    record: JSON.stringify(Object.fromEntries(columns.map((column, i) => [column, values[i] ?? null]))),
    isWhole,
  }
}

const notKept = (count: number): RejectedRecord => ({
  number: null,
  row: null,
  place: null,
  count,
  field: null,
  reason: `${count} more records were rejected than are kept. Your operator can keep more of them, or keep them for longer.`,
  record: '{}',
  isWhole: false,
})

function placeOf(value: unknown): RejectPlace {
  const { transfer, record } = membersOf(value)
  if (!isCount(transfer, 2 ** 31 - 1) || !(record === null || isCount(record, 2 ** 31 - 1))) throw notAllowed()
  return { transfer, record }
}

const isCount = (value: unknown, max: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= max

const notAllowed = (): Error =>
  new Error('A runner asked for rejected records that are not of its job, or not in its form')
