import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../db/database.ts'
import { newIdentifier } from '../../identifiers.ts'
import type { Logger } from '../../log.ts'
import type { Mailer } from '../../mail.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import { openDataKey } from '../../secrets/data-keys.ts'
import type { Keyring } from '../../secrets/keyring.ts'
import type { MasterKey } from '../../secrets/seal.ts'
import { openWebhookSecret } from '../secrets.ts'
import { disable } from './disabling.ts'
import * as queries from './queries.ts'
import { AttemptSaver } from './saver.ts'
import { Session } from './session.ts'

/**
 * Sends what is queued for webhooks, in every worker process. A process leases a webhook, sends what is due, in order within
 * each connection, and lets go of it; another process takes over the leases of one that died. What was sent and not yet
 * stored is then sent again: each event at least once.
 */

export type SenderDeps = {
  readonly database: Database
  readonly keyring: Keyring
  readonly outgoing: Outgoing
  readonly mailer: Pick<Mailer, 'send'>
  /** The time, by which deliveries are due; for tests. */
  readonly now?: () => Date
  /** Bounds, for tests. */
  readonly bounds?: Partial<SenderBounds>
}

export type SenderBounds = {
  /** Webhooks that one process sends to at once; and of these, those that failed last, and those of one organization. */
  readonly webhooks: number
  readonly failingWebhooks: number
  readonly webhooksOfOrganization: number
  /** Requests at once to one webhook. */
  readonly requests: number
  readonly leaseSeconds: number
  /** How often a process that has nothing to do looks for something. */
  readonly pollMs: number
  readonly timeoutMs: number
}

const usualBounds: SenderBounds = {
  ...{ webhooks: 50, failingWebhooks: 20, webhooksOfOrganization: 10, requests: 20 },
  ...{ leaseSeconds: 30, pollMs: 500, timeoutMs: 15_000 },
}
/** How long requests that are being sent may take once the process has to stop. */
const finishMs = 5_000
const cachedKeysMax = 1_000

/** What a session sends with. */
export type Target = {
  readonly id: string
  readonly url: string
  readonly secrets: readonly string[]
  readonly key: MasterKey
}

export class Sender {
  readonly deps: SenderDeps
  readonly bounds: SenderBounds
  readonly log: Logger
  readonly saver: AttemptSaver
  readonly leaseId = newIdentifier()
  readonly #keys = new Map<string, MasterKey>()
  readonly #sessions = new Map<string, { session: Session; row: queries.LeasedRow; done: Promise<void> }>()

  constructor(deps: SenderDeps, log: Logger) {
    this.deps = deps
    this.bounds = { ...usualBounds, ...deps.bounds }
    this.log = log
    this.saver = new AttemptSaver(
      deps.database,
      this.leaseId,
      () => this.now(),
      (err) => log.warn({ err }, 'attempts of webhooks could not be stored; trying again'),
    )
  }

  now(): Date {
    return this.deps.now?.() ?? new Date()
  }

  /** Sends until the signal aborts. An error of the database stops nothing: the next look tries again. */
  async run(stopping: AbortSignal): Promise<void> {
    const renewing = this.#renew(stopping)
    while (!stopping.aborted) {
      await this.look(stopping).catch((err) => this.log.warn({ err }, 'webhooks cannot be sent; trying again'))
      await delay(this.bounds.pollMs, undefined, { signal: stopping }).catch(() => {})
    }
    // What is not answered by then is sent again.
    const timer = setTimeout(() => {
      for (const { session } of this.#sessions.values()) session.lose()
    }, finishMs)
    await Promise.all([renewing, ...this.#working()])
    clearTimeout(timer)
  }

  /** Leases webhooks for which something is due, as many as this process may, and begins to send; returns how many. */
  async look(stopping: AbortSignal): Promise<number> {
    let begun = 0
    const { webhooks, failingWebhooks, webhooksOfOrganization: most, leaseSeconds: seconds } = this.bounds
    for (const failing of [false, true]) {
      const held = [...this.#sessions.values()].map(({ row }) => row)
      const heldFailing = held.filter(({ failingSince }) => failingSince !== null).length
      const free = Math.min(webhooks - held.length, failing ? failingWebhooks - heldFailing : webhooks)
      if (free <= 0 || stopping.aborted) continue
      const counts = Map.groupBy(held, ({ organizationId }) => organizationId)
      const full = [...counts].flatMap(([id, rows]) => (rows.length >= most ? [id] : []))
      const leased = await queries.leaseWebhooks.all(this.deps.database, {
        ...{ leaseId: this.leaseId, seconds, now: this.now(), failing, full, most, limit: free },
      })
      for (const row of leased) this.#begin(row, stopping)
      begun += leased.length
    }
    return begun
  }

  /** Sends all that is due at present, and waits until it is stored; for tests. */
  async sendDue(): Promise<void> {
    const { signal } = new AbortController()
    while ((await this.look(signal)) > 0) await Promise.all(this.#working())
  }

  #working(): Promise<void>[] {
    return [...this.#sessions.values()].map(({ done }) => done)
  }

  #begin(row: queries.LeasedRow, stopping: AbortSignal): void {
    const { id } = row
    if (this.#sessions.has(id)) return
    const session = new Session(this, id, row.failingSince !== null, stopping)
    const work = async () => {
      session.target = await this.#targetOf(row)
      const { disabling, lookAgainTime } = await session.run()
      if (disabling) await disable(this, id, disabling)
      else await queries.endLease.run(this.deps.database, { leaseId: this.leaseId, id, lookAgainTime })
    }
    const done = work()
      // The lease ends of itself.
      .catch((err) => this.log.warn({ err, webhookId: id }, 'a webhook cannot be sent to; trying again'))
      .finally(() => this.#sessions.delete(id))
    this.#sessions.set(id, { session, row, done })
  }

  /** Renews the leases. A session whose lease cannot be renewed in time sends no more. */
  async #renew(stopping: AbortSignal): Promise<void> {
    const { leaseSeconds: seconds } = this.bounds
    while (!stopping.aborted) {
      await delay((seconds / 6) * 1000, undefined, { signal: stopping }).catch(() => {})
      const ids = [...this.#sessions.keys()]
      if (ids.length === 0 || stopping.aborted) continue
      try {
        const renewed = await queries.renewLeases.all(this.deps.database, { leaseId: this.leaseId, seconds, ids })
        const byId = new Map(renewed.map((row) => [row.id, row]))
        for (const id of ids) {
          const session = this.#sessions.get(id)?.session
          const row = byId.get(id)
          if (!session) continue
          if (row) session.renewed(await this.#targetOf(row))
          else session.lose()
        }
      } catch (err) {
        this.log.warn({ err }, 'the leases of webhooks could not be renewed; trying again')
      }
    }
  }

  async #targetOf({ id, url, dataKeyId, secretSealed, previousSecretSealed }: queries.LeasedRow): Promise<Target> {
    const key = await this.#keyOf(dataKeyId)
    const sealed = previousSecretSealed ? [secretSealed, previousSecretSealed] : [secretSealed]
    return { id, url, key, secrets: sealed.map((secret) => openWebhookSecret(key, id, secret)) }
  }

  async #keyOf(id: string): Promise<MasterKey> {
    const cached = this.#keys.get(id)
    if (cached) return cached
    const key = await openDataKey(this.deps.database, this.deps.keyring, id)
    if (!key) throw new Error(`The data key ${id} is gone`)
    if (this.#keys.size >= cachedKeysMax) this.#keys.clear()
    this.#keys.set(id, key)
    return key
  }
}
