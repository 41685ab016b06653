import { refuse } from '../refusal.ts'

const windowMs = 60_000

/** Counts requests by a name, such as the identifier of a client. The minute of a name begins with its first request. */
export class RequestsInMinute {
  /** Windows by name, in the order in which they end. */
  readonly #windows = new Map<string, { requests: number; readonly endMs: number }>()

  /**
   * Counts a request.
   * @param reason completes the refusal, for the field that it names
   * @throws Refusal `rate_limited` if more than `max` came in the minute
   */
  count(name: string, max: number, reason?: () => { readonly field: string; readonly message: string }): void {
    const nowMs = performance.now()
    let window = this.#windows.get(name)
    if (!window || window.endMs <= nowMs) {
      for (const [id, { endMs }] of this.#windows) {
        if (endMs > nowMs) break
        this.#windows.delete(id)
      }
      window = { requests: 0, endMs: nowMs + windowMs }
      this.#windows.set(name, window)
    }
    if (++window.requests <= max) return
    const retryAfterSeconds = Math.max(1, Math.ceil((window.endMs - nowMs) / 1000))
    refuse('rate_limited', reason ? [reason()] : [], retryAfterSeconds)
  }
}
