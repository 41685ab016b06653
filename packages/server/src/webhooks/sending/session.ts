import { isSuccess, type OutgoingAnswer, OutgoingError } from '../../outgoing/outgoing.ts'
import { sealAnswer, signedHeaders } from '../secrets.ts'
import type { SenderContext, Target } from './context.ts'
import type { DueRow } from './queries.ts'
import * as queries from './queries.ts'
import { nextAttempt, retryAfterMsMax } from './retries.ts'
import type { AttemptResult } from './saver.ts'

/** Changes of the webhook when its session ends. */
export type SessionEnd = {
  readonly lookAgainTime: Date | null
  readonly disabling?: 'gone' | 'failing'
  /** Whether an answer took long. Null if nothing was sent. */
  readonly slow: boolean | null
}

/** Keys that one statement reads, with the next deliveries of each. */
const keysAtOnce = 100
const ofKeyAtOnce = 20
/** If fewer deliveries wait than can be sent concurrently, the next reading is delayed a little, so that it finds more. */
const readAgainMs = 20
/** Connections whose attempts are being stored, per concurrent request. Meanwhile, the session sends for other connections. */
const storingOfRequest = 10
/** A webhook with events that wait for a retry is looked at again after this time, since other events may have come. */
const lookAgainMs = 1_000
const lookAgainFailingMs = 2_000
/** After this number of consecutive failures, the webhook is paused for a while. */
const failuresMax = 5
const pauseMs = 15_000

/** One lease of one webhook: sends due deliveries, concurrently for several connections, but in order within each. */
export class Session {
  target: Target | undefined
  /** After so long others have their turn: no more requests begin. */
  turnMs: number
  readonly #sender: SenderContext
  readonly #id: string
  readonly #stopping: AbortSignal
  readonly #lost = new AbortController()
  /** When the first request of the turn began: each turn has one. */
  #startedMs = Number.POSITIVE_INFINITY
  /** Deliveries of one key that follow each other. */
  readonly #ready: DueRow[][] = []
  readonly #busy = new Set<string>()
  #renewedMs = performance.now()
  /** When to read again, at the latest and at the earliest, while something is sent. */
  #lookMs = 0
  #readMs = 0
  #after: string | null = null
  #active = 0
  #storing = 0
  #failures: number
  #ended: { at: Date | null; disabling?: 'gone' | 'failing' } | undefined
  /** When the requests began that are not answered, the oldest first. */
  readonly #open = new Set<{ readonly fromMs: number }>()
  readonly #isFailing: boolean
  #wasSlow = false
  #hasSent = false
  #wake = () => {}

  constructor(sender: SenderContext, id: string, isFailing: boolean, stopping: AbortSignal) {
    this.#sender = sender
    this.#id = id
    this.#stopping = stopping
    this.#isFailing = isFailing
    this.turnMs = sender.bounds.longTurnMs
    // One request finds out whether it works again.
    this.#failures = isFailing ? failuresMax - 1 : 0
  }

  /** Whether an answer took long, or is not there after so long. */
  get isSlow(): boolean {
    const [oldest] = this.#open
    return this.#wasSlow || (oldest !== undefined && performance.now() - oldest.fromMs > this.#sender.bounds.slowMs)
  }

  renewed(target: Target): void {
    this.#renewedMs = performance.now()
    this.target = target
  }

  /** The lease is another process's, or the webhook is disabled or gone. */
  lose(): void {
    this.#lost.abort(new Error('The lease of the webhook is lost'))
    this.#wake()
  }

  async run(): Promise<SessionEnd> {
    for (;;) {
      while (this.#mayStart()) {
        const next = this.#ready.shift() ?? (await this.#readDue())
        if (!next) break
        void this.#sendInOrder(next)
      }
      if (this.#active + this.#storing === 0) break
      const timer = setTimeout(() => this.#wake(), Math.max(this.#lookMs - performance.now(), readAgainMs))
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      clearTimeout(timer)
    }
    return { ...(await this.#next()), slow: this.#hasSent ? this.#wasSlow : null }
  }

  /** When to look at the webhook again. Null means with the next event, or at its next turn. */
  async #next(): Promise<Omit<SessionEnd, 'slow'>> {
    if (this.#ended) {
      const { at, disabling } = this.#ended
      return { lookAgainTime: at, ...(disabling ? { disabling } : {}) }
    }
    if (this.#mustEnd()) return { lookAgainTime: null }
    const { database } = this.#sender.deps
    const found = await queries.selectNextTime.first(database, { webhookId: this.#id, after: null })
    if (!found?.nextTime) return { lookAgainTime: null }
    const soon = this.#sender.now().getTime() + (this.#isFailing ? lookAgainFailingMs : lookAgainMs)
    return { lookAgainTime: new Date(Math.min(found.nextTime.getTime(), soon)) }
  }

  #mustEnd(): boolean {
    const nowMs = performance.now()
    const isOld = nowMs - this.#renewedMs > (this.#sender.bounds.leaseSeconds * 1000) / 2
    return this.#stopping.aborted || this.#lost.signal.aborted || isOld || nowMs - this.#startedMs > this.turnMs
  }

  #mayStart(): boolean {
    const { requests } = this.#sender.bounds
    const atOnce = this.#failures > 0 ? 1 : requests
    const isFree = this.#active < atOnce && this.#storing < requests * storingOfRequest
    return isFree && !this.#ended && !this.#mustEnd()
  }

  /** Reads more due deliveries, from the end of the last reading onwards, and then from the beginning. */
  async #readDue(): Promise<DueRow[] | undefined> {
    if (this.#busy.size > 0 && performance.now() < this.#readMs) {
      this.#lookMs = this.#readMs
      return undefined
    }
    const { deps, bounds } = this.#sender
    const { database } = deps
    let found = 0
    for (const fromStart of this.#after === null ? [true] : [false, true]) {
      const rows = await queries.selectDue.all(database, {
        webhookId: this.#id,
        after: fromStart ? null : this.#after,
        busy: [...this.#busy],
        now: this.#sender.now(),
        keys: keysAtOnce,
        ofKey: ofKeyAtOnce,
      })
      this.#after = rows.at(-1)?.orderingKey ?? null
      this.#ready.push(...Map.groupBy(rows, ({ orderingKey }) => orderingKey).values())
      for (const { orderingKey } of rows) this.#busy.add(orderingKey)
      found += rows.length
      if (found > 0) break
    }
    this.#readMs = found < bounds.requests ? performance.now() + readAgainMs : 0
    this.#lookMs = performance.now() + bounds.pollMs
    return this.#ready.shift()
  }

  /** One after the other, up to the first that fails. */
  async #sendInOrder(rows: readonly DueRow[]): Promise<void> {
    this.#active++
    const saved: Promise<unknown>[] = []
    for (const row of rows) {
      if (this.#ended || this.#mustEnd()) break
      const result = await this.#send(row).catch(() => undefined)
      if (!result) break
      saved.push(this.#sender.saver.save(result).then((failing) => this.#judge(failing)))
      if (result.outcome !== 'delivered') break
    }
    this.#active--
    this.#storing++
    this.#wake()
    // The key is read again only when the database has the result. Meanwhile, other keys are sent.
    await Promise.all(saved).catch(() => this.lose())
    for (const { orderingKey } of rows.slice(0, 1)) this.#busy.delete(orderingKey)
    this.#storing--
    this.#wake()
  }

  #judge(isFailing: boolean): void {
    if (isFailing) this.#ended = { at: null, disabling: 'failing' }
  }

  /** Sends a delivery and returns the result. Undefined if the session ended before. */
  async #send({ id, eventId, payload, attempts, retries, queuedTime }: DueRow): Promise<AttemptResult | undefined> {
    const { target } = this
    if (!target) return undefined
    const { deps, bounds } = this.#sender
    const time = this.#sender.now()
    const fromMs = performance.now()
    const number = attempts + 1
    this.#startedMs = Math.min(this.#startedMs, fromMs)
    const open = { fromMs }
    this.#open.add(open)
    const ended = (answer: OutgoingAnswer | undefined, error: OutgoingError | undefined): AttemptResult => {
      const isDelivered = answer !== undefined && isSuccess(answer)
      const retryAfterMs = answer?.retryAfterMs ?? null
      const now = this.#sender.now()
      const isGone = answer?.status === 410
      const nextTime =
        isDelivered || isGone ? undefined : nextAttempt({ retries: retries + 1, queuedTime, retryAfterMs }, now)
      this.#follow(isDelivered, isGone, answer, now)
      return {
        id,
        webhookId: target.id,
        number,
        time,
        durationMs: Math.round(performance.now() - fromMs),
        outcome: isDelivered ? 'delivered' : nextTime ? 'retried' : 'failed',
        responseStatus: answer?.status ?? null,
        errorCode: error?.code ?? null,
        errorMessage: error?.message ?? null,
        nextTime: nextTime ?? null,
        answer: answer
          ? sealAnswer(target.key, id, number, { headers: answer.headers, body: answer.body }).toString('base64')
          : null,
      }
    }
    try {
      const answer = await deps.outgoing.post(target.url, {
        body: payload,
        contentType: 'application/json',
        timeoutMs: bounds.timeoutMs,
        signal: this.#lost.signal,
        headers: signedHeaders(target.secrets, { id: eventId, time, body: payload }),
      })
      return ended(answer, undefined)
    } catch (error) {
      if (error instanceof OutgoingError) return ended(undefined, error)
      if (!this.#lost.signal.aborted) throw error
      return undefined
    } finally {
      this.#open.delete(open)
      this.#hasSent = true
      if (performance.now() - fromMs > bounds.slowMs) this.#wasSlow = true
    }
  }

  /** Applies a response to the session. */
  #follow(isDelivered: boolean, isGone: boolean, answer: OutgoingAnswer | undefined, now: Date): void {
    if (isDelivered) this.#failures = 0
    else this.#failures++
    if (isGone) this.#ended = { at: null, disabling: 'gone' }
    const isBusy = answer?.status === 429 || answer?.status === 503
    if (isBusy && answer?.retryAfterMs) {
      this.#ended ??= { at: new Date(now.getTime() + Math.min(answer.retryAfterMs, retryAfterMsMax)) }
    } else if (this.#failures >= failuresMax) {
      this.#ended ??= { at: new Date(now.getTime() + pauseMs) }
    }
  }
}
