import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseClock } from '../../db/clock.ts'
import { newIdentifier } from '../../identifiers.ts'
import type { Logger } from '../../log.ts'
import { openDataKey } from '../../secrets/data-keys.ts'
import type { MasterKey } from '../../secrets/seal.ts'
import { openWebhookSecret } from '../secrets.ts'
import type { SenderBounds, SenderContext, SenderDeps, Target } from './context.ts'
import { disable } from './disabling.ts'
import * as queries from './queries.ts'
import { AttemptSaver } from './saver.ts'
import { Session } from './session.ts'

/**
 * Sends queued deliveries of webhooks, in every worker process. A process leases a webhook, sends the due deliveries, in order
 * within each connection, and releases it. Another process takes over the leases of a process that died. Deliveries that were
 * sent but not yet stored are then sent again, so each event is sent at least once.
 */

const usualBounds: SenderBounds = {
  webhooks: 50,
  slowWebhooks: 20,
  webhooksOfOrganization: 10,
  webhooksOfAccount: 6,
  sessions: 200,
  requests: 20,
  slowMs: 1_000,
  turnMs: 1_000,
  longTurnMs: 20_000,
  leaseSeconds: 30,
  pollMs: 500,
  timeoutMs: 15_000,
}
/** Sessions of one organization or sub-account in all, for each of its slots. */
const heldOfSlot = 3
/** The least time between two looks. */
const lookGapMs = 50
/** How long requests in flight can take when the process must stop. */
const finishMs = 5_000
const cachedKeysMax = 1_000
/** How often the time of the database is read. */
const readClockMs = 10_000

/** A webhook that this process has leased. */
type HeldWebhook = { readonly session: Session; readonly row: queries.LeasedRow; readonly done: Promise<void> }

const heldOf = ({ row: { organizationId, accountId, isSlow }, session }: HeldWebhook): queries.HeldSession => ({
  organizationId,
  accountId: accountId ?? '',
  lane: isSlow ? 'slow' : session.isSlow ? 'overdue' : 'quick',
})

export class Sender implements SenderContext {
  readonly deps: SenderDeps
  readonly bounds: SenderBounds
  readonly log: Logger
  readonly saver: AttemptSaver
  readonly leaseId = newIdentifier()
  readonly #clock: DatabaseClock
  readonly #keys = new Map<string, MasterKey>()
  readonly #sessions = new Map<string, HeldWebhook>()
  /** Whether others waited for a slot at the last look, and whether a slot has become free since. */
  #isCrowded = false
  #freed = false
  #wake = () => {}

  constructor(deps: SenderDeps, log: Logger) {
    this.deps = deps
    this.#clock = new DatabaseClock(deps.database)
    this.bounds = { ...usualBounds, ...deps.bounds }
    this.log = log
    this.saver = new AttemptSaver(
      deps.database,
      this.leaseId,
      () => this.now(),
      (err) => log.warn({ err }, 'storing webhook attempts failed; retrying'),
    )
  }

  /** The time of the database. */
  now(): Date {
    return this.deps.now?.() ?? this.#clock.now()
  }

  /** Sends until the signal aborts. An error of the database stops nothing: the next look tries again. */
  async run(stopping: AbortSignal): Promise<void> {
    const renewing = this.#renew(stopping)
    stopping.addEventListener('abort', () => this.#wake(), { once: true })
    while (!stopping.aborted) {
      await this.look(stopping).catch((err) => this.log.warn({ err }, 'sending webhooks failed; retrying'))
      await delay(lookGapMs)
      await this.#pause(this.#freed && this.#isCrowded ? 0 : this.bounds.pollMs - lookGapMs, stopping)
    }
    // Deliveries without a response by then are sent again.
    const timer = setTimeout(() => {
      for (const { session } of this.#sessions.values()) session.lose()
    }, finishMs)
    await Promise.all([renewing, ...this.#working()])
    clearTimeout(timer)
  }

  /** Waits for a time, or until a slot is free that others could use. */
  async #pause(ms: number, stopping: AbortSignal): Promise<void> {
    if (ms <= 0 || stopping.aborted) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = () => {}
  }

  /** Leases webhooks with due deliveries, up to the limit of this process, and begins to send. Returns how many it leased. */
  async look(stopping: AbortSignal): Promise<number> {
    await this.#clock.read(readClockMs)
    if (stopping.aborted) return 0
    this.#freed = false
    const { bounds } = this
    const before = [...this.#sessions.values()]
    const held = before.map(heldOf)
    const { quick = [], slow = [], overdue = [] } = Object.groupBy(held, ({ lane }) => lane)
    const quickFree = Math.min(bounds.webhooks - quick.length, bounds.sessions - quick.length - overdue.length)
    const leased = await queries.leaseWebhooks.all(this.deps.database, {
      leaseId: this.leaseId,
      seconds: bounds.leaseSeconds,
      now: this.now(),
      held: JSON.stringify(held),
      quickFree: Math.max(quickFree, 0),
      slowFree: Math.max(bounds.slowWebhooks - slow.length, 0),
      mostOfAccount: bounds.webhooksOfAccount,
      mostHeldOfAccount: bounds.webhooksOfAccount * heldOfSlot,
      mostOfOrganization: bounds.webhooksOfOrganization,
      mostHeldOfOrganization: bounds.webhooksOfOrganization * heldOfSlot,
    })
    for (const row of leased) this.#begin(row, stopping)
    // If a slot became free while the database looked, others could be waiting for it.
    this.#limitTurns([...before, ...leased.flatMap(({ id }) => this.#sessions.get(id) ?? [])])
    return leased.length
  }

  /** Turns are short in the lane, the organization or the sub-account that had all its slots taken at the last look. */
  #limitTurns(sessions: readonly HeldWebhook[]): void {
    const { bounds } = this
    const held = sessions.map(heldOf)
    const counts = new Map<string, number>()
    const keysOf = ({ lane, organizationId, accountId }: queries.HeldSession) =>
      [
        [lane, lane === 'slow' ? bounds.slowWebhooks : bounds.webhooks],
        [`${lane} ${organizationId}`, bounds.webhooksOfOrganization],
        [`${lane} ${organizationId} ${accountId}`, bounds.webhooksOfAccount],
      ] as const
    for (const [key] of held.flatMap(keysOf)) counts.set(key, (counts.get(key) ?? 0) + 1)
    const isFull = held.filter(({ lane }) => lane !== 'slow').length >= bounds.sessions
    this.#isCrowded = false
    for (const [index, { session }] of sessions.entries()) {
      const one = held[index]
      const isCrowded =
        !one || (isFull && one.lane !== 'slow') || keysOf(one).some(([key, most]) => (counts.get(key) ?? 0) >= most)
      session.turnMs = isCrowded ? bounds.turnMs : bounds.longTurnMs
      this.#isCrowded ||= isCrowded
    }
  }

  /** Sends everything that is due, and waits until it is stored. For tests. */
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
    const session = new Session(this, id, row.isFailing, stopping)
    const work = async () => {
      session.target = await this.#targetOf(row)
      const { disabling, lookAgainTime, slow } = await session.run()
      if (disabling) await disable(this, id, disabling)
      else await queries.endLease.run(this.deps.database, { leaseId: this.leaseId, id, lookAgainTime, slow })
    }
    const done = work()
      // The lease ends of itself.
      .catch((err) => this.log.warn({ err, webhookId: id }, 'sending to a webhook failed; retrying'))
      .finally(() => {
        this.#sessions.delete(id)
        this.#freed = true
        if (this.#isCrowded) this.#wake()
      })
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
        this.log.warn({ err }, 'renewing webhook leases failed; retrying')
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
