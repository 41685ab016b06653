import { Readable } from 'node:stream'
import { csvOf, type Reject } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import type { Database } from '../db/database.ts'
import { openDataKey } from '../secrets/data-keys.ts'
import type { Keyring } from '../secrets/keyring.ts'
import type { MasterKey } from '../secrets/seal.ts'
import * as queries from './reject-queries.ts'
import { openText, places } from './sealed.ts'
import { requireTransfer, type TransferDeps } from './transfers.ts'
import { viewReject } from './view.ts'

const rowsAtOnce = 1_000

/** A page of the rejected records of a transfer, or all of them as a stream. */
export async function listRejects(
  { db, account, id, transferId, query: { size, offset }, stream }: Call<'listRejects'>,
  { keyring }: TransferDeps,
): Promise<Answer<'listRejects'>> {
  await requireTransfer(db, account, id, transferId)
  if (stream) return { reply: [], total: 0, body: streamRejects(db, keyring, transferId, stream) }
  const [rows, count] = await Promise.all([
    queries.listRejects.all(db, { transferId, size, offset }),
    queries.countRejects.first(db, { transferId }),
  ])
  const open = reasonsOf(db, keyring, transferId)
  return { reply: await open(rows), total: count?.total ?? 0 }
}

/**
 * Shows rejected records of a transfer, with their reasons opened. Their key is looked for once; where it is gone, they
 * have been purged since they were read, and none is shown.
 */
function reasonsOf(db: Database, keyring: Keyring, transferId: string) {
  let key: MasterKey | undefined
  return async (rows: readonly queries.RejectRow[]): Promise<Reject[]> => {
    if (!key && rows.some(({ reasonSealed }) => reasonSealed)) {
      const id = (await queries.findDataKeyId.first(db, { transferId }))?.dataKeyId
      key = id ? await openDataKey(db, keyring, id) : undefined
      if (!key) return []
    }
    return rows.map((row) => {
      const { reasonSealed, number } = row
      return viewReject(row, reasonSealed ? openText(key, places.reason(transferId, number), reasonSealed) : row.reason)
    })
  }
}

/** All rejected records, read as they are sent, so that memory does not grow with them. */
function streamRejects(
  db: Database,
  keyring: Keyring,
  transferId: string,
  type: 'application/x-ndjson' | 'text/csv',
): Readable {
  const lines = type === 'text/csv' ? csvLines : ndjsonLines
  return Readable.from(lines(everyReject(db, keyring, transferId)), { objectMode: false })
}

async function* everyReject(db: Database, keyring: Keyring, transferId: string): AsyncGenerator<readonly Reject[]> {
  const open = reasonsOf(db, keyring, transferId)
  for (let number = 0; ; ) {
    const rows = await queries.rejectsAfter.all(db, { transferId, number, limit: rowsAtOnce })
    yield await open(rows)
    const last = rows.at(-1)
    if (!last || rows.length < rowsAtOnce) return
    number = last.number
  }
}

async function* ndjsonLines(pages: AsyncIterable<readonly Reject[]>): AsyncGenerator<string> {
  for await (const rejects of pages) yield rejects.map((reject) => `${JSON.stringify(reject)}\n`).join('')
}

async function* csvLines(pages: AsyncIterable<readonly Reject[]>): AsyncGenerator<string> {
  yield csvOf([['row', 'count', 'field', 'reason', 'record']])
  for await (const rejects of pages) {
    yield csvOf(rejects.map((one) => [one.row, one.count, one.field, one.reason, JSON.stringify(one.record)]))
  }
}
