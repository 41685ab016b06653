import { Readable } from 'node:stream'
import { type AuditEvent, limits } from '@penstock/wire'
import { requireAllAccounts } from '../access.ts'
import type { Answer, Call } from '../call.ts'
import type { Database, Db } from '../db/database.ts'
import { TooManyBytes } from '../db/errors.ts'
import { containing } from '../db/like.ts'
import type { Statement } from '../db/statement.ts'
import { refuse } from '../refusal.ts'
import type { Keyring } from '../secrets/keyring.ts'
import type { AuditLinker } from './link.ts'
import { type NamedConnectors, targetsOf, viewEvents } from './names.ts'
import {
  type AuditFilter,
  type AuditRow,
  auditList,
  eventsAfter,
  findRange,
  purgeEvents,
  selectHeads,
  selectOutdated,
} from './queries.ts'
import { openHeadSeal } from './seal-heads.ts'
import { type AuditSearch, foundMax, sampleOf, searchList } from './search-queries.ts'
import { verifyPart } from './verify.ts'
import { viewEvent } from './view.ts'

/** The audit log as the API shows it, and how long it is kept. */

const eventsAtOnce = 1_000
const purgedAtOnce = 10_000
/** The index of words knows three characters in a row. */
const searchable = /[\p{L}\p{N}]{3}/u

/** Dependencies of the handlers of the log. */
export type AuditDeps = {
  readonly auditLinker: Pick<AuditLinker, 'settle'>
  readonly catalogue: NamedConnectors
  readonly keyring: Keyring
}

/** Queued events are linked first. Actors who are limited to sub-accounts see only events of these. The database decides. */
export async function listAudit(
  {
    db,
    actor: { organizationId, accountIds },
    account,
    query: { q, actorId, action, targetId, from, to, size, offset },
    stream,
  }: Call<'listAudit'>,
  { auditLinker, catalogue }: AuditDeps,
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
  const text = q?.trim()
  const search = text ? await searchFor(db, filter, text, catalogue) : undefined
  if (stream) return { reply: [], total: 0, body: streamEvents(db, catalogue, search ?? listFor(filter)) }
  const { list, count, parameters } = search ?? listFor(filter)
  const [rows, counted] = await Promise.all([
    list.all(db, { ...parameters, size, offset }),
    count?.first(db, parameters),
  ])
  const reply = await viewEvents(db, catalogue, organizationId, rows)
  const total = counted?.total ?? Math.max(0, filter.lastNumber - filter.firstNumber + 1)
  if (!search || total <= foundMax) return { reply, total }
  return { reply, total: Math.max(foundMax, offset + reply.length), isMore: true }
}

/** Verifies a part of the organization's log. Queued events are linked first. */
export async function verifyAudit(
  { db, actor, query: { after = 0 } }: Call<'verifyAudit'>,
  { auditLinker, keyring }: AuditDeps,
): Promise<Answer<'verifyAudit'>> {
  requireAllAccounts(actor)
  const { organizationId } = actor
  await auditLinker.settle(organizationId)
  const headSeal = await openHeadSeal(db, keyring)
  const part = await verifyPart(db, headSeal, { organizationId, after, most: limits.auditVerifiedMax })
  if (!part) {
    return {
      reply: { events: 0, number: 0, lastNumber: 0, removed: 0, sealed: true, problem: null, next: null },
    }
  }
  const { head, events, number, problem, isAtEnd } = part
  return {
    reply: {
      events,
      number,
      lastNumber: head.number,
      removed: head.purgedNumber,
      sealed: head.seal !== null && head.sealedNumber === head.number,
      problem: problem ? { number: problem.number, message: problem.message } : null,
      next: isAtEnd || problem ? null : number,
    },
  }
}

/** A list with its parameters, searched or not. */
type Listed = {
  readonly list: Pick<Statement<AuditSearch & { size: number; offset: number }, AuditRow>, 'all'>
  readonly count: Pick<Statement<AuditSearch, { total: number }>, 'first'> | undefined
  readonly parameters: AuditSearch
}

const listFor = (filter: AuditFilter): Listed => {
  const { list, count } = auditList(filter)
  return { list, count, parameters: { ...filter, like: '', targetIds: [] } }
}

/** Events whose text or whose target's name contains a text. The newest events tell how common the text is. */
async function searchFor(db: Db, filter: AuditFilter, text: string, catalogue: NamedConnectors): Promise<Listed> {
  if (!searchable.test(text)) {
    refuse('invalid_request', [{ field: 'query.q', message: 'must contain three letters or digits in a row' }])
  }
  const targetIds = await targetsOf(db, catalogue, filter, text)
  const parameters = { ...filter, like: containing(text) ?? '', targetIds }
  const { matches = 0 } = (await sampleOf.first(db, parameters)) ?? {}
  return { ...searchList(matches), parameters }
}

/**
 * All events that match a filter, newest first. They are read while they are sent, so memory does not grow with their number.
 */
function streamEvents(db: Database, catalogue: NamedConnectors, { list, parameters }: Listed): Readable {
  async function* lines(): AsyncGenerator<string> {
    let size = eventsAtOnce
    for (let { lastNumber } = parameters; ; ) {
      const rows = await list.all(db, { ...parameters, lastNumber, size, offset: 0 }).catch((error) => {
        if (error instanceof TooManyBytes && size > 1) return undefined
        throw error
      })
      if (!rows) {
        size = Math.ceil(size / 10)
        continue
      }
      const events = await viewEvents(db, catalogue, parameters.organizationId, rows)
      yield events.map((event) => `${JSON.stringify(event)}\n`).join('')
      const last = rows.at(-1)
      if (!last || rows.length < size) return
      lastNumber = last.number - 1
    }
  }
  return Readable.from(lines(), { objectMode: false })
}

/** The end of the log of each organization, or only of the named organization if it has a log. */
export const endsOfLogs = (db: Db, organizationId: string | null) => selectHeads.all(db, { organizationId })

/** Every event of a log, oldest first, with the text that its hash covers. The operator's command uses it. */
export async function* everyEvent(
  db: Db,
  organizationId: string,
): AsyncGenerator<readonly (Omit<AuditEvent, 'targetName'> & { organizationId: string; content: string })[]> {
  for (let number = 0; ; ) {
    const rows = await eventsAfter.all(db, { organizationId, number, limit: eventsAtOnce })
    yield rows.map((row) => {
      // The hash does not cover the current name.
      const { targetName, ...event } = viewEvent(row, null)
      return { organizationId, ...event, content: row.content }
    })
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
