import { streamConnectorIds } from '@penstock/wire'
import type { Db } from '../db/database.ts'
import type { Notices } from '../db/notices.ts'
import { refuse } from '../refusal.ts'
import * as queries from './queries.ts'
import { streamTopic } from './topics.ts'
import { digestOfWriteKey, isWriteKey } from './write-keys.ts'

/** Finds streams for requests, so that most requests need no statement for it. */

type Found = { readonly value: FoundStream | undefined; readonly untilMs: number }
/** A stream, and the write key that names it. */
export type FoundStream = queries.ReceivingStream & { readonly keyId?: string }

/** How long a stream is cached: until then, a change of its settings has no effect. Deleted keys are dropped by a notice. */
const cachedMs = 2_000
const cachedMax = 10_000
/** Statements in progress for keys that are not cached. */
const lookupsMax = 50
const busySeconds = 1

/** Outcomes are streams too, which accept no events of others. */
const receiving = (found: queries.ReceivingStream | undefined) =>
  found && streamConnectorIds.includes(found.connectorId) ? found : undefined

export class StreamFinder {
  readonly #database: Db
  readonly #cached = new Map<string, Found>()
  #lookups = 0

  constructor(database: Db, notices: Notices) {
    this.#database = database
    const forget = () => this.#cached.clear()
    notices.on(streamTopic, { onMessage: forget, onDisconnect: forget })
  }

  /** The stream of a write key. Undefined if the key does not exist. */
  async byKey(key: string): Promise<FoundStream | undefined> {
    if (!isWriteKey(key)) return undefined
    const digest = digestOfWriteKey(key)
    return this.#find(digest.toString('base64'), () => queries.findStreamByKey.first(this.#database, { digest }))
  }

  byId(id: string): Promise<FoundStream | undefined> {
    return this.#find(id, () => queries.findStream.first(this.#database, { id }).then(receiving))
  }

  async #find(name: string, load: () => Promise<FoundStream | undefined>): Promise<FoundStream | undefined> {
    const nowMs = performance.now()
    const known = this.#cached.get(name)
    if (known && known.untilMs > nowMs) return known.value
    if (this.#lookups === lookupsMax) {
      refuse('rate_limited', [{ field: 'key', message: 'too many keys are looked up: retry' }], busySeconds)
    }
    this.#lookups++
    try {
      const value = await load()
      this.#cached.delete(name)
      this.#cached.set(name, { value, untilMs: nowMs + cachedMs })
      const [oldest] = this.#cached.keys()
      if (this.#cached.size > cachedMax && oldest !== undefined) this.#cached.delete(oldest)
      return value
    } finally {
      this.#lookups--
    }
  }
}
