import { databaseNow } from '../db/clock.ts'
import type { Database } from '../db/database.ts'
import * as queries from './sweep-queries.ts'

/**
 * Sweeps note the connections that no trigger notes: every minute those with an open incident, without a success for as long as
 * a rule allows, or behind their stream; once a day those whose volume is compared; and those of a rule that changed. A sweep
 * works page by page, however many connections there are. The noted connections of a page are evaluated before the next page.
 */

/** Connections that are read, and at most noted, in one step. */
const pageSize = 1_000
/** Longer than a page and what it noted take. */
const leaseSeconds = 300

const minuteMs = 60_000
const dayMs = 86_400_000
/** After midnight UTC, when the volume of the day before is compared. */
const volumeAfterMs = 30 * minuteMs

/** Runs the due sweeps. Other processes can run other sweeps concurrently. @param look evaluates noted connections */
export async function sweep(
  database: Database,
  look: () => Promise<void>,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<void> {
  for (;;) {
    const { name } = (await queries.takeSweep.first(database, { leaseSeconds })) ?? {}
    if (name === undefined || !(await sweepOne(database, name, look, signal))) return
    const nextTime = nextTimeOf(name, (await databaseNow(database)).getTime())
    if (nextTime) await queries.repeatSweep.run(database, { name, nextTime })
    else await queries.endSweep.run(database, { name })
  }
}

/** Resolves with whether the sweep is complete. If it is not, it must start over. */
async function sweepOne(
  database: Database,
  name: string,
  look: () => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  for await (const _ of pagesOf(database, name)) {
    await look()
    if (signal?.aborted || (await queries.extendSweep.run(database, { name, leaseSeconds })) === 0) return false
  }
  return true
}

/** When a sweep is due again. Null if it is not due again. */
function nextTimeOf(name: string, now: number): Date | null {
  if (name === 'open and idle') return new Date(now + minuteMs)
  if (name === 'volume') return new Date(Math.floor((now - volumeAfterMs) / dayMs + 1) * dayMs + volumeAfterMs)
  return null
}

async function* pagesOf(database: Database, name: string): AsyncGenerator<void> {
  const [kind = '', id = ''] = name.split(' ')
  if (kind === 'open') {
    yield* pagesOfOpen(database)
    yield* pagesOfAll(database, queries.nextWithIdle, queries.noteIdle)
    yield* pagesOfAll(database, queries.nextWithBehind, queries.noteBehind)
  } else if (kind === 'volume') yield* pagesOfAll(database, queries.nextWithVolume, queries.noteVolumes)
  else if (kind === 'organization') yield* pagesOfConnections(database, queries.noteOrganization, id)
  else if (kind === 'account') yield* pagesOfConnections(database, queries.noteAccount, id)
}

async function* pagesOfOpen(database: Database): AsyncGenerator<void> {
  for (let after: string | null | undefined = ''; ; ) {
    after = (await queries.noteOpen.first(database, { after, limit: pageSize }))?.id
    if (!after) return
    yield
  }
}

/** Of every organization that has such a rule. */
async function* pagesOfAll(
  database: Database,
  next: typeof queries.nextWithIdle,
  note: typeof queries.noteIdle,
): AsyncGenerator<void> {
  for (let after: string | null | undefined = ''; ; ) {
    after = (await next.first(database, { after }))?.id
    if (!after) return
    yield* pagesOfConnections(database, note, after)
  }
}

async function* pagesOfConnections(
  database: Database,
  note: typeof queries.noteIdle,
  scopeId: string,
): AsyncGenerator<void> {
  for (let last: { id: string; createdTime: string } | undefined = { id: '', createdTime: 'infinity' }; ; ) {
    last = await note.first(database, { scopeId, createdTime: last.createdTime, after: last.id, limit: pageSize })
    if (!last) return
    yield
  }
}
