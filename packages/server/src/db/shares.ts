import type { Database } from './database.ts'

/**
 * Connections of a pool, shared between organizations. Statements of one organization, however many and however slow, leave
 * connections for the others. An organization can use twice as many connections as are free. So one organization can use two
 * thirds of them, and with more busy organizations each of them can use fewer.
 */

/** Connections that an organization can use, for each that is free. */
const perFree = 2
/** Bytes of the rows of a statement outside of a transaction: a page of long entries is refused, and does not fill the memory. */
const bytesMax = 32 * 1024 ** 2
/** How long the statements of an organization wait for its share, in milliseconds. */
const waitMs = 10_000

/** All connections of an organization's share were in use for too long. */
export class ShareExhausted extends Error {
  constructor() {
    super('All connections of the share are in use')
  }
}

type Waiting = { begin(): void; readonly timeout: NodeJS.Timeout }
type Share = { used: number; readonly waiting: Set<Waiting> }

class Shares {
  readonly #shares = new Map<string, Share>()
  /** The shares with waiting statements, in the order in which they are served next. */
  readonly #busy = new Set<Share>()
  readonly #probe: () => Promise<unknown>
  #free: number

  /** @param probe asks the database anything, outside of the shares */
  constructor(poolSize: number, probe: () => Promise<unknown>) {
    this.#free = poolSize
    this.#probe = probe
  }

  /** Calls `begin` as soon as the organization can use a connection, or `fail` if that takes too long. */
  enter(organizationId: string, begin: (leave: () => void) => void, fail: (error: Error) => void): void {
    const share = this.#shares.get(organizationId) ?? { used: 0, waiting: new Set() }
    this.#shares.set(organizationId, share)
    const leave = () => this.#leave(organizationId, share)
    if (share.waiting.size === 0 && this.#allows(share)) {
      this.#take(share)
      begin(leave)
      return
    }
    const timeout = setTimeout(() => {
      this.#forget(share, waiting)
      this.#removeUnused(organizationId, share)
      // If the database does not answer anyone, that is the error.
      this.#probe().then(() => fail(new ShareExhausted()), fail)
    }, waitMs)
    const waiting: Waiting = { begin: () => begin(leave), timeout }
    share.waiting.add(waiting)
    this.#busy.add(share)
  }

  #allows(share: Share): boolean {
    return share.used < perFree * this.#free
  }

  #take(share: Share): void {
    share.used++
    this.#free--
  }

  #forget(share: Share, waiting: Waiting): void {
    clearTimeout(waiting.timeout)
    share.waiting.delete(waiting)
    this.#busy.delete(share)
    if (share.waiting.size > 0) this.#busy.add(share)
  }

  #leave(organizationId: string, left: Share): void {
    left.used--
    this.#free++
    for (const share of this.#busy) {
      const [first] = share.waiting
      if (!first || !this.#allows(share)) continue
      this.#forget(share, first)
      this.#take(share)
      first.begin()
    }
    this.#removeUnused(organizationId, left)
  }

  #removeUnused(organizationId: string, { used, waiting }: Share): void {
    if (used === 0 && waiting.size === 0) this.#shares.delete(organizationId)
  }
}

/** The database as one organization uses it. */
class SharedDatabase implements Database {
  readonly pool: Database['pool']
  readonly close: Database['close']
  readonly #database: Database
  readonly #shares: Shares
  readonly #organizationId: string

  constructor(database: Database, shares: Shares, organizationId: string) {
    this.pool = database.pool
    this.close = database.close
    this.#database = database
    this.#shares = shares
    this.#organizationId = organizationId
  }

  query: Database['query'] = (run) => {
    run.bytesMax ??= bytesMax
    const begin = (leave: () => void) => {
      this.#database.query(run)
      run.finished.then(leave, leave)
    }
    this.#shares.enter(this.#organizationId, begin, (error) => run.fail(error))
  }

  transaction: Database['transaction'] = async (work, actor) => {
    const leave = await new Promise<() => void>((resolve, reject) => {
      this.#shares.enter(this.#organizationId, resolve, reject)
    })
    try {
      return await this.#database.transaction(work, actor)
    } finally {
      leave()
    }
  }
}

/** Returns a database as an organization uses it, within its share of the connections. */
export type ShareOf = (database: Database, organizationId: string) => Database

/** @param poolSize the connections of each database */
export function createShares(poolSize: number): ShareOf {
  const shares = new WeakMap<Database, Shares>()
  return (database, organizationId) => {
    let all = shares.get(database)
    if (!all) {
      all = new Shares(poolSize, () => database.pool.query('select'))
      shares.set(database, all)
    }
    return new SharedDatabase(database, all, organizationId)
  }
}
