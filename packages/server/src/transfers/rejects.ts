import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { Json } from '@penstock/connector'
import { csvOf, fileOfPlace, limits, placeInWords, type Reject } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import type { Database } from '../db/database.ts'
import { Turns } from '../runners/turns.ts'
import { openDataKey } from '../secrets/data-keys.ts'
import type { Keyring } from '../secrets/keyring.ts'
import type { MasterKey } from '../secrets/seal.ts'
import * as queries from './reject-queries.ts'
import { joinedReasons, reasonsIn, reasonsOf } from './reject-reasons.ts'
import { openText, places } from './sealed.ts'
import { requireTransfer, type TransferDeps } from './transfers.ts'
import { viewReject } from './view.ts'

/**
 * Rejected records, as those see them who may read records: with their values, which are opened when they are read. A
 * search opens them too, as many as `rejectsSearchedMax`, instead of comparing with digests that are stored: a digest finds
 * no part of a value, and one key for all of them would show in the database which records are equal.
 */

/** Records that are in memory at the same time. */
const rowsAtOnce = 50
/** Bytes of records that are opened before other requests have their turn. */
const bytesInTurn = 100_000
/** Groups that are opened at once in this process, and for one organization, so that no search keeps the others waiting. */
const turns = new Turns(2, 1, Number.POSITIVE_INFINITY)

/** Reads the rejected records of one transfer. */
type Reader = {
  readonly db: Database
  readonly transferId: string
  /** Opens what is sealed of them. Where the key is gone, they have been purged since they were read, and none is shown. */
  readonly open: (rows: readonly queries.RejectRow[]) => Promise<Reject[]>
  readonly turn: <T>(work: () => Promise<T>) => Promise<T>
}

/** A page of the rejected records of a transfer, or all of them as a stream. */
export async function listRejects(
  { db, account, id, transferId, query: { q = '', size, offset }, stream, signal }: Call<'listRejects'>,
  { keyring }: TransferDeps,
): Promise<Answer<'listRejects'>> {
  await requireTransfer(db, account, id, transferId)
  const reader: Reader = {
    db,
    transferId,
    open: openerOf(db, keyring, transferId),
    turn: (work) => turns.run(account.organizationId, signal, work),
  }
  const all = () => (q === '' ? everyReject(reader) : matching(reader, q))
  if (stream) return { reply: [], total: 0, body: streamRejects(all(), stream) }
  if (q === '') {
    const count = await queries.countRejects.first(db, { transferId })
    const found: Reject[] = []
    for (let at = 0; at < size; at += rowsAtOnce) {
      const part = { transferId, size: Math.min(rowsAtOnce, size - at), offset: offset + at }
      const rows = await queries.listRejects.all(db, part)
      found.push(...(await reader.open(rows)))
      if (rows.length < part.size) break
    }
    return { reply: withinAnswer(found), total: count?.total ?? 0 }
  }
  const page: Reject[] = []
  let total = 0
  for await (const found of all()) {
    page.push(...found.slice(Math.max(0, offset - total), Math.max(0, offset + size - total)))
    total += found.length
  }
  return { reply: withinAnswer(page), total }
}

function openerOf(db: Database, keyring: Keyring, transferId: string): Reader['open'] {
  let sealing: { key: MasterKey | undefined; columns: readonly string[] } | undefined
  const replays = new Map<string, Promise<MasterKey | undefined>>()
  const reasonAgain = async ({ resentBy, againNumber, againSealed, againKeyId }: queries.RejectRow) => {
    if (resentBy === null || againNumber === null) return null
    const opening = againKeyId === null ? undefined : (replays.get(againKeyId) ?? openDataKey(db, keyring, againKeyId))
    if (againKeyId !== null && opening) replays.set(againKeyId, opening)
    const key = await opening
    // The key of a replay can be purged before the key of the transfer.
    return againSealed && key ? reasonsOf(openText(key, places.reason(resentBy, againNumber), againSealed)) : null
  }
  return async (rows) => {
    if (!sealing && rows.some(({ reasonSealed, sealed }) => reasonSealed ?? sealed)) {
      const found = await queries.findSealing.first(db, { transferId })
      const key = found?.dataKeyId ? await openDataKey(db, keyring, found.dataKeyId) : undefined
      if (!key) return []
      sealing = { key, columns: found?.sourceColumns ?? [] }
    }
    const { key, columns = [] } = sealing ?? {}
    const opened: Reject[] = []
    let bytes = 0
    for (const row of rows) {
      const { number, sealed } = row
      bytes += sealed?.length ?? 0
      if (bytes > bytesInTurn) {
        bytes = 0
        await setImmediate()
      }
      const reasons = reasonsIn(key, transferId, row)
      const values: Json = sealed ? JSON.parse(openText(key, places.reject(transferId, number), sealed)) : null
      const own = row.ownColumns ?? columns
      const record = recordOf(own, values)
      const edited = editOf(key, transferId, own, row)
      opened.push(viewReject(row, reasons, await reasonAgain(row), record ?? row.record, edited, record !== undefined))
    }
    return opened
  }
}

/** The record with its corrected values; undefined if there are none. */
function editOf(
  key: MasterKey | undefined,
  transferId: string,
  columns: readonly string[],
  { number, editedSealed }: queries.RejectRow,
): Reject['record'] | undefined {
  return editedSealed
    ? recordOf(columns, JSON.parse(openText(key, places.edit(transferId, number), editedSealed)))
    : undefined
}

/**
 * A record by its columns; undefined if it is not kept, has other columns than the last session of the transfer, or is too long with the names of
 * its columns.
 */
export function recordOf(columns: readonly string[], values: Json): Reject['record'] | undefined {
  if (!Array.isArray(values) || values.length !== columns.length) return undefined
  const entries = columns.map((column, i) => [column, shownValue(values[i] ?? null)] as const)
  return lengthOf(entries) > limits.rejectNamedLengthMax ? undefined : Object.fromEntries(entries)
}

const lengthOf = (entries: readonly (readonly [string, string | null])[]): number =>
  entries.reduce((sum, [name, value]) => sum + name.length + (value?.length ?? 0), 0)

/** The records of an answer. All are there, but values beyond a length are left out: of a smaller page, more are shown. */
function withinAnswer<R extends Pick<Reject, 'record'> & Partial<Pick<Reject, 'edited'>>>(records: R[]): R[] {
  let left: number = limits.rejectsAnswerLengthMax
  return records.map((one) => {
    left -= lengthOf(Object.entries({ ...one.record })) + lengthOf(Object.entries({ ...one.edited }))
    return left >= 0 ? one : { ...one, record: {}, ...(one.edited ? { edited: {} } : {}) }
  })
}

function shownValue(value: Json): string | null {
  if (value === null) return null
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const { rejectValueLengthMax: max } = limits
  // Half of a character at the end is left out.
  return text.length > max ? `${text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '')}…` : text
}

/** All rejected records, read as they are needed, so that memory does not grow with them. */
async function* everyReject(
  { db, transferId, open, turn }: Reader,
  max = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly Reject[]> {
  for (let number = 0, left = max; left > 0; ) {
    const after = { transferId, number, limit: Math.min(rowsAtOnce, left) }
    const { rows, rejects } = await turn(async () => {
      const rows = await queries.rejectsAfter.all(db, after)
      return { rows, rejects: await open(rows) }
    })
    yield rejects
    const last = rows.at(-1)
    if (!last || rows.length < after.limit) return
    number = last.number
    left -= rows.length
  }
}

/**
 * Rejects that contain a text, in their displayed values and without the names of the columns, which are the same for
 * all.
 */
async function* matching(reader: Reader, q: string): AsyncGenerator<readonly Reject[]> {
  const wanted = q.toLowerCase()
  for await (const rejects of everyReject(reader, limits.rejectsSearchedMax)) {
    yield rejects.filter(({ row, place, field, reason, otherFaults = [], record, edited }) => {
      const others = otherFaults.flatMap((fault) => [fault.field, fault.reason])
      const values = Object.values({ ...record, ...edited })
      const texts = [
        row === null ? null : String(row),
        place && placeInWords(place),
        field,
        reason,
        ...others,
        ...values,
      ]
      return texts.some((text) => text?.toLowerCase().includes(wanted))
    })
  }
}

function streamRejects(rejects: AsyncIterable<readonly Reject[]>, type: 'application/x-ndjson' | 'text/csv'): Readable {
  const lines = type === 'text/csv' ? csvLines : ndjsonLines
  return Readable.from(lines(rejects), { objectMode: false })
}

async function* ndjsonLines(pages: AsyncIterable<readonly Reject[]>): AsyncGenerator<string> {
  for await (const rejects of pages) yield rejects.map((reject) => `${JSON.stringify(reject)}\n`).join('')
}

async function* csvLines(pages: AsyncIterable<readonly Reject[]>): AsyncGenerator<string> {
  yield csvOf([['row', 'file', 'line', 'count', 'field', 'reason', 'record']])
  for await (const rejects of pages) {
    yield csvOf(
      rejects.map((one) => [
        one.row,
        one.place && fileOfPlace(one.place),
        one.place?.number ?? null,
        one.count,
        one.field,
        joinedReasons(one.reason, one.otherFaults),
        JSON.stringify(one.record),
      ]),
    )
  }
}
