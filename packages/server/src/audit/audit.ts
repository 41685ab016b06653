import { Readable } from 'node:stream'
import type { AuditEvent } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import type { Database, Db } from '../db/database.ts'
import { TooManyBytes } from '../db/errors.ts'
import type { AuditLinker } from './link.ts'
import {
  type AuditFilter,
  auditList,
  eventsAfter,
  findRange,
  purgeEvents,
  selectHeads,
  selectOutdated,
} from './queries.ts'
import { viewEvent } from './view.ts'

/** The audit log as the API shows it, and how long it is kept. */

const eventsAtOnce = 1_000
const purgedAtOnce = 10_000

/** Dependencies of the handler of the list. */
export type AuditDeps = { readonly auditLinker: Pick<AuditLinker, 'settle'> }

/** Queued events are linked first. An actor who is limited to sub-accounts sees what concerns these alone; the database decides. */
export async function listAudit(
  {
    db,
    actor: { organizationId, accountIds },
    account,
    query: { actorId, action, targetId, from, to, size, offset },
    stream,
  }: Call<'listAudit'>,
  { auditLinker }: AuditDeps,
): Promise<Answer<'listAudit'>> {
  await auditLinker.settle(organizationId)
  const range = await findRange.first(db, { organizationId, from: from ?? null, to: to ?? null })
  const filter: AuditFilter = {
    organizationId,
    accountIds: account ? [account.id] : accountIds,
    actorId: actorId ?? null,
    action: action ?? null,
    targetId: targetId ?? null,
    ...(range ?? { firstNumber: 1, lastNumber: 0 }),
  }
  if (stream) return { reply: [], total: 0, body: streamEvents(db, filter) }
  const { list, count } = auditList(filter)
  const [rows, counted] = await Promise.all([list.all(db, { ...filter, size, offset }), count?.first(db, filter)])
  const total = counted?.total ?? Math.max(0, filter.lastNumber - filter.firstNumber + 1)
  return { reply: rows.map(viewEvent), total }
}

/** All that a filter keeps, newest first, read as it is sent: memory does not grow with it. */
function streamEvents(db: Database, filter: AuditFilter): Readable {
  async function* lines(): AsyncGenerator<string> {
    const { list } = auditList(filter)
    let size = eventsAtOnce
    for (let { lastNumber } = filter; ; ) {
      const rows = await list.all(db, { ...filter, lastNumber, size, offset: 0 }).catch((error) => {
        if (error instanceof TooManyBytes && size > 1) return undefined
        throw error
      })
      if (!rows) {
        size = Math.ceil(size / 10)
        continue
      }
      yield rows.map((row) => `${JSON.stringify(viewEvent(row))}\n`).join('')
      const last = rows.at(-1)
      if (!last || rows.length < size) return
      lastNumber = last.number - 1
    }
  }
  return Readable.from(lines(), { objectMode: false })
}

/** Where the log of each organization ends, or only that of the named one if it has a log. */
export const endsOfLogs = (db: Db, organizationId: string | null) => selectHeads.all(db, { organizationId })

/** Every event of a log, oldest first, with the text that its hash is over; for the operator. */
export async function* everyEvent(
  db: Db,
  organizationId: string,
): AsyncGenerator<readonly (AuditEvent & { organizationId: string; content: string })[]> {
  for (let number = 0; ; ) {
    const rows = await eventsAfter.all(db, { organizationId, number, limit: eventsAtOnce })
    yield rows.map((row) => ({ organizationId, ...viewEvent(row), content: row.content }))
    const last = rows.at(-1)
    if (!last || rows.length < eventsAtOnce) return
    number = last.number
  }
}

/**
 * Removes events that are older than `days`, from the oldest on. The remaining events still verify, since the log
 * stores where it was cut. 0 removes nothing.
 * @returns how many were removed
 */
export async function purgeAudit(database: Database, days: number): Promise<number> {
  if (days === 0) return 0
  let removed = 0
  for (const { organizationId } of await selectOutdated.all(database, { days })) {
    for (;;) {
      const batch = (await purgeEvents.first(database, { organizationId, days, limit: purgedAtOnce }))?.removed ?? 0
      removed += batch
      if (batch < purgedAtOnce) break
    }
  }
  return removed
}
