import { refuse } from '../refusal.ts'

/** Limits that keep one sender from slowing others: events a second, and bytes of requests that are in progress. */

/** Tokens that refill over time. Work is paid for after it is done, so a bucket can be in debt, which refuses more work. */
class Bucket {
  #tokens: number
  #atMs = performance.now()
  readonly #perSecond: number

  constructor(perSecond: number) {
    this.#perSecond = perSecond
    this.#tokens = perSecond
  }

  /** Seconds until it accepts work. 0 if it accepts work now. */
  get waitSeconds(): number {
    const nowMs = performance.now()
    this.#tokens = Math.min(this.#perSecond, this.#tokens + ((nowMs - this.#atMs) * this.#perSecond) / 1000)
    this.#atMs = nowMs
    return this.#tokens > 0 ? 0 : Math.max(1, Math.ceil((1 - this.#tokens) / this.#perSecond))
  }

  pay(tokens: number): void {
    this.#tokens -= tokens
  }

  get isFull(): boolean {
    return this.waitSeconds === 0 && this.#tokens >= this.#perSecond
  }
}

const namesMax = 10_000
/** Clients wait this long at most (Segment's libraries accept no more). */
const waitSecondsMax = 300

/** Limits of tokens a second, by name. */
export class Rates {
  readonly #buckets = new Map<string, Bucket>()

  /** Refuses with `rate_limited` if one of the names has used up its tokens. */
  check(limits: readonly Rate[]): void {
    for (const { name, perSecond, message } of limits) {
      const waitSeconds = this.#bucket(name, perSecond).waitSeconds
      if (waitSeconds > 0) refuse('rate_limited', [{ field: 'stream', message }], Math.min(waitSeconds, waitSecondsMax))
    }
  }

  pay(limits: readonly Rate[], tokens: number): void {
    for (const { name, perSecond } of limits) this.#bucket(name, perSecond).pay(tokens)
  }

  #bucket(name: string, perSecond: number): Bucket {
    const known = this.#buckets.get(name)
    if (known) return known
    if (this.#buckets.size >= namesMax) {
      for (const [other, bucket] of this.#buckets) if (bucket.isFull) this.#buckets.delete(other)
    }
    const bucket = new Bucket(perSecond)
    this.#buckets.set(name, bucket)
    return bucket
  }
}

export type Rate = { readonly name: string; readonly perSecond: number; readonly message: string }

/** Seconds after which a client retries that came while too much was in progress. */
const busySeconds = 1

/** Bytes of requests that are in progress: of all, and of each name. */
export class InProgress {
  readonly #most: { readonly total: number; readonly ofName: number }
  readonly #byName = new Map<string, number>()
  #total = 0

  constructor(most: { readonly total: number; readonly ofName: number }) {
    this.#most = most
  }

  /** Reserves bytes for a request. The returned function releases them. Refuses with `overloaded`. */
  take(names: readonly string[], bytes: number): () => void {
    const isOver = names.some((name) => (this.#byName.get(name) ?? 0) + bytes > this.#most.ofName)
    if (isOver || this.#total + bytes > this.#most.total) {
      refuse('overloaded', [{ field: 'stream', message: 'too many requests are in progress: retry' }], busySeconds)
    }
    this.#add(names, bytes)
    let isTaken = true
    return () => {
      if (isTaken) this.#add(names, -bytes)
      isTaken = false
    }
  }

  #add(names: readonly string[], bytes: number): void {
    this.#total += bytes
    for (const name of names) {
      const sum = (this.#byName.get(name) ?? 0) + bytes
      if (sum === 0) this.#byName.delete(name)
      else this.#byName.set(name, sum)
    }
  }
}
