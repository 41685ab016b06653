import type { Db } from '../db/database.ts'
import { countWaiting } from './link-queries.ts'
import { findHeadless, type HeadRow, linksAfter, selectHeads } from './queries.ts'
import type { HeadSeal } from './seal-heads.ts'

/** Verifies the audit log: each event is as it was written, and no event is missing, moved or added. */

/** A detected change of a log, and the number of its event. */
export type Tampering = {
  readonly number: number
  readonly kind:
    | 'changed'
    | 'not sealed by this service'
    | 'missing'
    | 'unlinked'
    | 'cut off'
    | 'added'
    | 'not as expected'
  readonly message: string
}

export type Verified = {
  readonly organizationId: string
  /** How many events were verified. Retention removed the events before the first of these. */
  readonly events: number
  readonly purgedNumber: number
  /** The end of the log. Keep number and hash outside the database, for `expected` of a later verification. */
  readonly number: number
  readonly hash: string
  /** Whether the end carries the seal of this service: false only until a process of this version looks at the log. */
  readonly sealed: boolean
  /** How many events are queued and not yet linked, and for how many seconds the first one has been. */
  readonly waiting: number
  readonly waitingSeconds: number
  /** The first problem that was found. Undefined if there is no problem. */
  readonly tampering: Tampering | undefined
}

/** A number and hash that were kept elsewhere. */
export type Expected = { readonly number: number; readonly hash: string }

const linksAtOnce = 5_000

type Link = Awaited<ReturnType<typeof linksAfter.all>>[number]

/**
 * Verifies the log of an organization, or every log if it is null. It reads page by page, so memory does not grow with the log.
 * @param db one snapshot (repeatable read), because events are written and purged during the verification
 * @param headSeal verifies the seals of the ends; undefined if no log was sealed yet
 * @param expected output of an earlier verification of this log
 */
export async function verifyAudit(
  db: Db,
  headSeal: HeadSeal | undefined,
  organizationId: string | null,
  expected?: Expected,
): Promise<Verified[]> {
  const waiting = new Map((await countWaiting.all(db, { organizationId })).map((row) => [row.organizationId, row]))
  const verified: Verified[] = []
  const add = (one: Omit<Verified, 'waiting' | 'waitingSeconds'>) => {
    const row = waiting.get(one.organizationId)
    verified.push({ ...one, waiting: row?.waiting ?? 0, waitingSeconds: row?.seconds ?? 0 })
    waiting.delete(one.organizationId)
  }
  for (const head of await selectHeads.all(db, { organizationId })) add(await verifyLog(db, headSeal, head, expected))
  const none = { events: 0, purgedNumber: 0, number: 0, hash: '', sealed: false }
  for (const { organizationId: id } of await findHeadless.all(db, { organizationId })) {
    const message = 'There are events, and the row that says where the log ends is gone.'
    add({ organizationId: id, ...none, tampering: { number: 0, kind: 'cut off', message } })
  }
  for (const id of [...waiting.keys()]) add({ organizationId: id, ...none, tampering: undefined })
  return verified
}

async function verifyLog(
  db: Db,
  headSeal: HeadSeal | undefined,
  head: HeadRow,
  expected: Expected | undefined,
): Promise<Omit<Verified, 'waiting' | 'waitingSeconds'>> {
  const { organizationId, purgedNumber } = head
  let [number, hash] = [purgedNumber, head.purgedHash]
  const result = (tampering?: Tampering) => ({
    organizationId,
    events: number - purgedNumber,
    purgedNumber,
    number: head.number,
    hash: head.hash,
    sealed: head.seal !== null && head.sealedNumber === head.number,
    tampering,
  })
  const wrong = (at: number, kind: Tampering['kind'], message: string) => result({ number: at, kind, message })
  const mismatch = () =>
    wrong(number, 'not as expected', `Event ${number} has another hash than the one that was kept elsewhere.`)
  if (expected?.number === number && expected.hash !== hash) return mismatch()
  for (;;) {
    const links = await linksAfter.all(db, { organizationId, number, limit: linksAtOnce })
    for (const link of links) {
      const tampering = breakOf(link, head, { number, hash })
      if (tampering) return result(tampering)
      number = link.number
      hash = link.hash
      if (number === expected?.number && hash !== expected.hash) return mismatch()
    }
    if (links.length < linksAtOnce) break
  }
  const atEnd = endProblem(headSeal, head, { number, hash })
  if (atEnd) return result(atEnd)
  if (expected && expected.number > number) {
    return wrong(expected.number, 'cut off', `Event ${expected.number} existed, and the log ends with event ${number}.`)
  }
  return result()
}

/** The first problem of a link. Undefined if it follows the event before it. @param before the number and hash of that event */
function breakOf(
  link: Link,
  head: HeadRow,
  { number, hash }: { number: number; hash: string | null },
): Tampering | undefined {
  const wrong = (at: number, kind: Tampering['kind'], message: string) => ({ number: at, kind, message })
  if (link.number > head.number) {
    return wrong(link.number, 'added', `Event ${link.number} was added after the last one, ${head.number}.`)
  }
  if (link.number !== number + 1) {
    return wrong(number + 1, 'missing', `Event ${number + 1} is missing; the next one is ${link.number}.`)
  }
  if (link.computedHash !== link.hash) {
    return wrong(link.number, 'changed', `Event ${link.number} was changed: its content does not match its hash.`)
  }
  if (link.previousHash !== hash) {
    return wrong(link.number, 'unlinked', `Event ${link.number} does not follow the event before it.`)
  }
  if (link.number !== head.sealedNumber || link.hash === head.sealedHash) return undefined
  return wrong(
    link.number,
    'not sealed by this service',
    `Event ${link.number} has another hash than the one that is sealed.`,
  )
}

/** The problem of the end of a log whose links are right. @param last the number and hash of the last link */
function endProblem(
  headSeal: HeadSeal | undefined,
  head: HeadRow,
  { number, hash }: { number: number; hash: string | null },
): Tampering | undefined {
  if (number !== head.number) {
    return {
      number: number + 1,
      kind: 'cut off',
      message: `The log ends with event ${number}, and its last one is ${head.number}.`,
    }
  }
  if (hash !== (head.hash || null)) {
    return { number, kind: 'unlinked', message: `The log does not end with event ${number}.` }
  }
  const message = sealProblem(headSeal, head)
  return message ? { number: head.sealedNumber ?? 0, kind: 'not sealed by this service', message } : undefined
}

/** A verified part of a log. */
type VerifiedPart = {
  readonly head: HeadRow
  /** How many events were verified, and the last one. */
  readonly events: number
  readonly number: number
  readonly problem: Tampering | undefined
  readonly isAtEnd: boolean
}

/**
 * Verifies the events of a log that follow event `after`, up to `most`, and the end of the log if they reach it. Events that are
 * written meanwhile belong to a later part.
 * @returns undefined if the organization has no log
 */
export async function verifyPart(
  db: Db,
  headSeal: HeadSeal | undefined,
  { organizationId, after, most }: { organizationId: string; after: number; most: number },
): Promise<VerifiedPart | undefined> {
  const [head] = await selectHeads.all(db, { organizationId })
  if (!head) return undefined
  const first = Math.min(Math.max(after, head.purgedNumber), head.number)
  // The event before is read as well: the first one must follow it.
  const isCut = first === head.purgedNumber
  const from = isCut ? first : first - 1
  const limit = most + first - from
  const links = await linksAfter.all(db, { organizationId, number: from, limit })
  let last = { number: from, hash: isCut ? head.purgedHash : (links[0]?.previousHash ?? null) }
  let problem: Tampering | undefined
  for (const link of links) {
    if (link.number > head.number) break
    problem = breakOf(link, head, last)
    if (problem) break
    last = link
  }
  const isAtEnd = last.number >= head.number || links.length < limit
  if (!problem && isAtEnd) problem = endProblem(headSeal, head, last)
  // Retention can remove events at any time. So if events are missing, the head is read again.
  const [now] = problem ? await selectHeads.all(db, { organizationId }) : []
  if (now && now.purgedNumber > head.purgedNumber) return verifyPart(db, headSeal, { organizationId, after, most })
  return { head, events: Math.max(0, last.number - first), number: last.number, problem, isAtEnd }
}

/** The problem of the seal of a log, which is of its end or, after a process of an earlier version wrote, of an event before. */
function sealProblem(headSeal: HeadSeal | undefined, head: HeadRow): string | undefined {
  const { organizationId, number, sealedNumber, sealedHash, seal } = head
  if (seal === null || sealedNumber === null || sealedHash === null) return undefined
  if (!headSeal?.isOf({ organizationId, number: sealedNumber, hash: sealedHash }, seal)) {
    return `The seal of event ${sealedNumber} is not one of this service.`
  }
  return sealedNumber > number ? `Event ${sealedNumber} is sealed, and the log ends with event ${number}.` : undefined
}
