import type { Database, Transaction } from '../db/database.ts'
import type { Logger } from '../log.ts'
import type { Keyring } from '../secrets/keyring.ts'
import {
  findWaiting,
  type LinkedHead,
  linkEvents,
  lockUnsealedHeads,
  saveSeals,
  type UnsealedHead,
} from './link-queries.ts'
import { linksAfter } from './queries.ts'
import { type HeadSeal, type LogEnd, makeHeadSeal } from './seal-heads.ts'

/**
 * Links queued events into the chains of their organizations ([decision](../../../../docs/decisions/audit.md)):
 * shortly after their transactions, in batches, in one process at a time.
 */
export type AuditLinker = {
  /** Events were queued: links them within `delayMs`. */
  wake(): void
  /** Links the queued events of an organization, or of all organizations if it is null. Resolves when they are in the log. */
  settle(organizationId: string | null): Promise<void>
  /** Seals the ends of logs to which processes of earlier versions added events, if their links are right. */
  sealEnds(): Promise<void>
  /** Links what waits, and no longer links on its own. */
  close(): Promise<void>
}

/**
 * How long events are queued before they are linked: long enough for a batch, short enough that a reader rarely has to link.
 */
const delayMs = 100
/** How often every process looks for events of other processes, in milliseconds. */
const lookMs = 5_000
const eventsAtOnce = 1_000
const headsAtOnce = 100
/**
 * A transaction that is open longer than this can leave events behind ones that are linked already: they are looked for
 * this often. Between that, rows of the queue that are long gone are not read again.
 */
const fullLookMs = 30_000

/** The linker of a process: it looks for what waits on its own, and soon if it is woken. A failure stops nothing. */
export function createAuditLinker(
  database: Database,
  keyring: Keyring,
  log: Pick<Logger, 'warn' | 'error'>,
): AuditLinker {
  let headSeal: HeadSeal | undefined
  let timer: NodeJS.Timeout | undefined
  let linking: Promise<void> = Promise.resolve()
  let closed = false
  let since = 0
  let sinceMs = performance.now()
  let sealedMs = Number.NEGATIVE_INFINITY

  /** @returns whether there can be more events */
  const linkBatch = async (waits: boolean): Promise<boolean> => {
    if (performance.now() - sinceMs > fullLookMs) [since, sinceMs] = [0, performance.now()]
    const all = waits ? 0 : since
    const { heads, seals } = await database.transaction(async (tx) => {
      const linked = await linkEvents.all(tx, { most: eventsAtOnce, since: all, waits })
      if (linked.length === 0) return { heads: linked, seals: headSeal }
      const made = headSeal ?? (await makeHeadSeal(tx, keyring))
      // If the previous seal is not right, the log may have been changed. This is investigated later.
      const extended = linked.filter((head) => head.isSealed && isRight(made, head))
      if (extended.length > 0) await save(tx, made, extended)
      return { heads: linked, seals: made }
    })
    headSeal = seals
    const count = heads.reduce((sum, { linked }) => sum + linked, 0)
    // Identifiers are assigned before their transactions commit, so events with slightly lower identifiers can still appear.
    since = Math.max(since, ...heads.map(({ lastId }) => lastId - eventsAtOnce))
    return count >= eventsAtOnce
  }
  const linkAll = async (waits: boolean) => {
    while (await linkBatch(waits));
  }
  /** One pass after another. */
  const queue = (work: () => Promise<void>): Promise<void> => {
    const done = linking.then(work)
    linking = done.catch(() => {})
    return done
  }
  const link = () =>
    queue(() => linkAll(false)).catch((err) => log.warn({ err }, 'linking audit events failed; retrying'))
  const look = async () => {
    if (await findWaiting.first(database, { organizationId: null })) await link()
    if (performance.now() - sealedMs < fullLookMs) return
    sealedMs = performance.now()
    await sealUnsealed(database, keyring, log)
  }
  const looking = setInterval(() => void look().catch(() => {}), lookMs).unref()
  return {
    wake: () => {
      if (closed || timer) return
      timer = setTimeout(() => {
        timer = undefined
        void link()
      }, delayMs).unref()
    },
    settle: async (organizationId) => {
      if (!(await findWaiting.first(database, { organizationId }))) return
      await queue(() => linkAll(true))
    },
    sealEnds: () => sealUnsealed(database, keyring, log),
    close: async () => {
      closed = true
      clearInterval(looking)
      clearTimeout(timer)
      await link()
    },
  }
}

function save(tx: Transaction, headSeal: HeadSeal, heads: readonly (LinkedHead | LogEnd)[]): Promise<number> {
  return saveSeals.run(tx, {
    organizationIds: heads.map(({ organizationId }) => organizationId),
    numbers: heads.map(({ number }) => number),
    hashes: heads.map(({ hash }) => hash),
    seals: heads.map((head) => headSeal.of(head)),
  })
}

type SealedHead = Pick<UnsealedHead, 'organizationId' | 'sealedNumber' | 'sealedHash' | 'seal'>

/** Seals the ends of logs that were written by a process of an earlier version. */
async function sealUnsealed(database: Database, keyring: Keyring, log: Pick<Logger, 'warn' | 'error'>): Promise<void> {
  await database.transaction(async (tx) => {
    const unsealed = await lockUnsealedHeads.all(tx, { limit: headsAtOnce })
    if (unsealed.length === 0) return
    const headSeal = await makeHeadSeal(tx, keyring)
    const right: UnsealedHead[] = []
    for (const head of unsealed) {
      const { organizationId, number, hash } = head
      const wrong = await findBreak(tx, headSeal, head)
      if (wrong) log.error({ organizationId, reason: wrong }, 'audit log not sealed: run penstock audit verify')
      else right.push(head)
      if (!wrong && head.seal === null)
        log.warn({ organizationId, number, hash }, 'audit log sealed for the first time')
    }
    if (right.length > 0) await save(tx, headSeal, right)
  })
}

/** Whether this service made the seal of a log. A log without a seal is right. */
function isRight(
  headSeal: HeadSeal,
  { organizationId, sealedNumber: number, sealedHash: hash, seal }: SealedHead,
): boolean {
  if (number === null || hash === null || seal === null) return true
  return headSeal.isOf({ organizationId, number, hash }, seal)
}

/** The problem between the seal of a log and its end. Undefined if there is no problem. */
async function findBreak(tx: Transaction, headSeal: HeadSeal, head: UnsealedHead): Promise<string | undefined> {
  const { organizationId, sealedNumber, sealedHash } = head
  if (sealedNumber === null || sealedHash === null) return undefined
  if (!isRight(headSeal, head)) return 'its seal is not right'
  if (sealedNumber > head.number) return `it ended with event ${sealedNumber} and ends with ${head.number} now`
  let [number, hash] = [sealedNumber, sealedHash]
  for (;;) {
    const links = await linksAfter.all(tx, { organizationId, number, limit: eventsAtOnce })
    for (const link of links) {
      if (link.number !== number + 1 || link.previousHash !== hash || link.computedHash !== link.hash) {
        return `event ${link.number} does not follow event ${number}`
      }
      ;[number, hash] = [link.number, link.hash]
    }
    if (links.length < eventsAtOnce) break
  }
  return number === head.number && hash === head.hash ? undefined : `it does not end with event ${head.number}`
}
