import type { EventsPut, EventsToPut, HostMethod, JobError, OpenedSide } from '@penstock/engine'
import type { Logger } from '../../log.ts'
import type { Runners } from '../../runners/runner-pool.ts'
import { EndJob, RunnerDied } from '../../runners/runner-process.ts'
import { eventBounds } from '../bounds.ts'
import { packLines } from '../lines.ts'

/**
 * Puts the events of one stream on its topic. A runner does it: one job that asks for the next events as soon as the brokers have
 * acknowledged the last ones. Requests that wait share a group of events. Any failure ends the job, so that the next one is another
 * producer, and nothing is tried for a few seconds.
 */

/** How long a request waits, a group of events, and a job for its runner and the brokers, in milliseconds. */
const requestMs = 10_000
const groupMs = 9_500
const openMs = 60_000
/** How long nothing is tried after a failure. */
const pauseMs = 5_000
/** How long a job waits for the next event. */
const idleMs = 60_000
const watchEveryMs = 250

/** An event for a topic, as lines for the runner: `[received, key, message ID]`, and the event. */
export type TopicEvent = { readonly about: string; readonly json: string }

/** An event that the topic does not take, by its place. */
export type NotTaken = { readonly index: number; readonly reason: string }

/** The brokers did not acknowledge the events. `message` says why, for people who can see the configuration. */
export class TopicFailure extends Error {
  override readonly name = 'TopicFailure'
  readonly code: string
  /** When it is tried again. */
  readonly retryAfterSeconds: number

  constructor(code: string, message: string, waitMs: number) {
    super(message)
    this.code = code
    this.retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
  }
}

type Request = {
  readonly events: readonly TopicEvent[]
  readonly atMs: number
  /** Events that were given to the job, and events whose fate is known. */
  given: number
  known: number
  readonly notTaken: NotTaken[]
  isOver: boolean
  resolve(notTaken: readonly NotTaken[]): void
  reject(error: unknown): void
}

/** Events of one request in a group. */
type Part = { readonly request: Request; readonly from: number; readonly count: number }

/** A job, which is open after it has requested events. */
type RunningJob = { readonly ending: AbortController; readonly atMs: number; isOpen: boolean }

type WriterDeps = { readonly runners: Runners; readonly log: Logger }

/** A stream, and how its job is opened. */
type WriterOf = { readonly streamId: string; readonly accountId: string; open(): Promise<OpenedSide> }

export class TopicWriter {
  readonly #deps: WriterDeps
  readonly #of: WriterOf
  readonly #waiting: Request[] = []
  #group: { readonly parts: readonly Part[]; readonly atMs: number } | undefined
  #job: RunningJob | undefined
  #wake: (() => void) | undefined
  #watcher: NodeJS.Timeout | undefined
  #isRetired = false
  #failure: { readonly code: string; readonly message: string; readonly untilMs: number } | undefined
  #drained: (() => void) | undefined

  constructor(deps: WriterDeps, of: WriterOf) {
    this.#deps = deps
    this.#of = of
  }

  get accountId(): string {
    return this.#of.accountId
  }

  /** Whether it has a runner. */
  get isActive(): boolean {
    return this.#job !== undefined
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#group === undefined
  }

  /** Throws `TopicFailure` while nothing is tried after a failure, and while a job is late to begin. */
  requireOpen(): void {
    if (this.#job && !this.#job.isOpen && performance.now() - this.#job.atMs > requestMs) {
      throw new TopicFailure(noAcknowledgement.code, noAcknowledgement.message, 0)
    }
    const { code, message, untilMs = 0 } = this.#failure ?? {}
    const waitMs = untilMs - performance.now()
    if (code !== undefined && message !== undefined && waitMs > 0) throw new TopicFailure(code, message, waitMs)
  }

  /**
   * Sends the events of a request. When the brokers have acknowledged all others, resolves with the events that the topic does
   * not accept. Rejects with `TopicFailure`; some of the events can be on the topic then.
   */
  put(events: readonly TopicEvent[]): Promise<readonly NotTaken[]> {
    return new Promise((resolve, reject) => {
      const atMs = performance.now()
      this.#waiting.push({ events, atMs, given: 0, known: 0, notTaken: [], isOver: false, resolve, reject })
      this.#watcher ??= setInterval(this.#watch, watchEveryMs)
      if (this.#job) this.#wake?.()
      else this.#start()
    })
  }

  /** Ends its job once nothing waits. Resolves then. */
  async retire(): Promise<void> {
    this.#isRetired = true
    this.#wake?.()
    if (!this.#job) return
    await new Promise<void>((resolve) => {
      this.#drained = resolve
    })
  }

  #start(): void {
    const job = { ending: new AbortController(), atMs: performance.now(), isOpen: false }
    this.#job = job
    void this.#run(job).then((failure) => {
      this.#job = undefined
      if (failure && !job.ending.signal.aborted) this.#fail(failure)
      if (this.#waiting.length > 0) this.#start()
      else this.#drained?.()
    })
  }

  /** @returns why the job failed */
  async #run(job: RunningJob): Promise<Explained | undefined> {
    const { signal } = job.ending
    try {
      const connector = await this.#of.open()
      const result = await this.#deps.runners.run(
        { kind: 'put events', connector },
        {
          owner: `events of ${this.#of.streamId}`,
          watch: {},
          isUrgent: true,
          signal,
          answer: (method, argument) => {
            job.isOpen = true
            return this.#answer(method, argument as EventsPut | null, signal)
          },
          about: { stream: this.#of.streamId },
        },
      )
      return result.ok ? undefined : explain(result.error)
    } catch (error) {
      if (error instanceof RunnerDied) return { code: error.reason, message: 'The process for it ended unexpectedly.' }
      if (error instanceof TopicFailure) return error
      if (!signal.aborted) this.#deps.log.warn({ err: error, stream: this.#of.streamId }, 'a topic cannot be opened')
      return { code: 'unavailable', message: 'The service could not open the configuration.' }
    }
  }

  /** The next events for the job. Waits for some. Null if none come for a while. */
  async #answer(method: HostMethod, put: EventsPut | null, signal: AbortSignal): Promise<EventsToPut | null> {
    if (method !== 'nextEvents' || signal.aborted) throw new EndJob(false, 0)
    this.#settle(put)
    for (;;) {
      const events = this.#take()
      if (events) return { count: events.length, lines: await packed(events) }
      if (this.#isRetired || !(await this.#nextRequest())) return null
      if (signal.aborted) throw new EndJob(false, 0)
    }
  }

  /** Resolves with false if no request comes for a while. */
  async #nextRequest(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, idleMs).unref()
    this.#wake = resolve
    await promise
    clearTimeout(timer)
    this.#wake = undefined
    return this.#waiting.length > 0 || this.#isRetired
  }

  /** The events of the next group, from all requests that fit. A large request is divided. */
  #take(): TopicEvent[] | undefined {
    const parts: Part[] = []
    const events: TopicEvent[] = []
    let length = 0
    for (let request = this.#waiting[0]; request !== undefined; request = this.#waiting[0]) {
      const from = request.given
      for (
        let next = request.events[from];
        next !== undefined && !request.isOver;
        next = request.events[request.given]
      ) {
        const isFull = events.length === eventBounds.batchEvents || length + next.json.length > eventBounds.batch
        if (isFull && events.length > 0) break
        events.push(next)
        length += next.json.length
        request.given++
      }
      const count = request.given - from
      if (count > 0) parts.push({ request, from, count })
      if (!request.isOver && request.given < request.events.length) break
      this.#waiting.shift()
    }
    if (events.length === 0) return undefined
    this.#group = { parts, atMs: performance.now() }
    return events
  }

  #settle(put: EventsPut | null): void {
    const { parts } = this.#group ?? { parts: [] }
    this.#group = undefined
    if (put) this.#failure = undefined
    const reasons = new Map(put?.refused.map(({ index, reason }) => [index, reason]))
    let first = 0
    for (const { request, from, count } of parts) {
      for (let at = 0; at < count && reasons.size > 0; at++) {
        const reason = reasons.get(first + at)
        if (reason !== undefined) request.notTaken.push({ index: from + at, reason })
      }
      first += count
      request.known += count
      if (request.known < request.events.length || request.isOver) continue
      request.isOver = true
      request.resolve(request.notTaken)
    }
  }

  readonly #watch = (): void => {
    const nowMs = performance.now()
    if (this.isIdle) {
      clearInterval(this.#watcher)
      this.#watcher = undefined
      return
    }
    const lateBy = (since: { readonly atMs: number } | undefined, ms: number) => nowMs - (since?.atMs ?? nowMs) > ms
    const isStuck = this.#group ? lateBy(this.#group, groupMs) : !this.#job?.isOpen && lateBy(this.#job, openMs)
    if (isStuck) this.#fail(noAcknowledgement)
    else for (const request of this.#requests()) if (lateBy(request, requestMs)) refuse(request, noAcknowledgement, 0)
    while (this.#waiting[0]?.isOver) this.#waiting.shift()
  }

  /** Refuses everything that waits, and tries nothing for a while. */
  #fail({ code, message }: Explained): void {
    this.#failure = { code, message, untilMs: performance.now() + pauseMs }
    this.#deps.log.warn({ stream: this.#of.streamId, code }, 'the topic of a stream does not accept events')
    for (const request of this.#requests()) refuse(request, { code, message }, pauseMs)
    this.#waiting.length = 0
    this.#group = undefined
    this.#job?.ending.abort(new EndJob(false, 0))
    this.#wake?.()
  }

  #requests(): Set<Request> {
    return new Set([...(this.#group?.parts ?? []).map(({ request }) => request), ...this.#waiting])
  }
}

type Explained = { readonly code: string; readonly message: string }

const noAcknowledgement: Explained = {
  code: 'timeout',
  message: `The brokers did not acknowledge the events within ${requestMs / 1000} seconds.`,
}

function explain(error: JobError): Explained {
  if (error.kind === 'connector') return error
  return { code: error.kind, message: 'The connector failed on a response of the brokers, or could not be loaded.' }
}

function refuse(request: Request, { code, message }: Explained, waitMs: number): void {
  if (request.isOver) return
  request.isOver = true
  request.reject(new TopicFailure(code, message, waitMs))
}

const packed = async (events: readonly TopicEvent[]): Promise<string> =>
  (await packLines(events.flatMap(({ about, json }) => [about, json]))).toString('base64')
