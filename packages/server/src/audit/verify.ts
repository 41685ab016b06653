import type { Db } from '../db/database.ts'
import { findHeadless, linksAfter, selectHeads } from './queries.ts'

/** Verification of the audit log: whether each event is as it was written, and none is missing, moved or added. */

/** A detected change of a log, and the number of its event. */
export type Tampering = {
  readonly number: number
  readonly kind: 'changed' | 'missing' | 'unlinked' | 'cut off' | 'added' | 'not as expected'
  readonly message: string
}

export type Verified = {
  readonly organizationId: string
  /** How many events were verified; retention removed those before the first one. */
  readonly events: number
  readonly purgedNumber: number
  /** Where the log ends: keep both elsewhere, for `expected` of a later verification. */
  readonly number: number
  readonly hash: string
  /** The first that was found; undefined if nothing is wrong. */
  readonly tampering: Tampering | undefined
}

/** A number and hash that were kept elsewhere. */
export type Expected = { readonly number: number; readonly hash: string }

const linksAtOnce = 5_000

/**
 * Verifies the log of an organization, or every log if it is null; page by page, so that memory does not grow with it.
 * @param db one snapshot (repeatable read), because events are written and purged meanwhile
 * @param expected output of an earlier verification of this log
 */
export async function verifyAudit(db: Db, organizationId: string | null, expected?: Expected): Promise<Verified[]> {
  const verified: Verified[] = []
  for (const head of await selectHeads.all(db, { organizationId })) verified.push(await verifyLog(db, head, expected))
  for (const { organizationId: id } of await findHeadless.all(db, { organizationId })) {
    const message = 'There are events, and the row that says where the log ends is gone.'
    const tampering = { number: 0, kind: 'cut off' as const, message }
    verified.push({ organizationId: id, events: 0, purgedNumber: 0, number: 0, hash: '', tampering })
  }
  return verified
}

async function verifyLog(
  db: Db,
  head: { organizationId: string; number: number; hash: string; purgedNumber: number; purgedHash: string | null },
  expected: Expected | undefined,
): Promise<Verified> {
  const { organizationId, purgedNumber } = head
  let [number, hash] = [purgedNumber, head.purgedHash]
  const result = (tampering?: Tampering): Verified => ({
    organizationId,
    events: number - purgedNumber,
    purgedNumber,
    number: head.number,
    hash: head.hash,
    tampering,
  })
  const wrong = (at: number, kind: Tampering['kind'], message: string) => result({ number: at, kind, message })
  const mismatch = () =>
    wrong(number, 'not as expected', `Event ${number} has another hash than the one that was kept elsewhere.`)
  if (expected?.number === number && expected.hash !== hash) return mismatch()
  for (;;) {
    const links = await linksAfter.all(db, { organizationId, number, limit: linksAtOnce })
    for (const link of links) {
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
      number = link.number
      hash = link.hash
      if (number === expected?.number && hash !== expected.hash) return mismatch()
    }
    if (links.length < linksAtOnce) break
  }
  if (number !== head.number) {
    return wrong(number + 1, 'cut off', `The log ends with event ${number}, and its last one is ${head.number}.`)
  }
  if (hash !== (head.hash || null)) return wrong(number, 'unlinked', `The log does not end with event ${number}.`)
  if (expected && expected.number > number) {
    return wrong(expected.number, 'cut off', `Event ${expected.number} existed, and the log ends with event ${number}.`)
  }
  return result()
}
