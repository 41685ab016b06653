import { setTimeout as delay } from 'node:timers/promises'
import { asConnectorError } from '@penstock/connector'
import type { RetryPolicy } from '../protocol.ts'

/** Transient errors in a row, without a batch confirmed in between. */
export class Retries {
  #since: number | undefined
  #count = 0
  #defects = 0
  readonly #policy: RetryPolicy

  constructor(policy: RetryPolicy) {
    this.#policy = policy
  }

  /** A batch was confirmed: counting starts over. */
  reset(): void {
    this.#since = undefined
    this.#count = 0
    this.#defects = 0
  }

  /**
   * The wait before another attempt after an error, in milliseconds: the time that the error asks for, or an increasing time with
   * jitter. `null` if there is no further attempt: after `totalMs`, and if waiting would not help.
   */
  waitFor(error: unknown): number | null {
    const known = asConnectorError(error)
    if (known ? !known.isTransient : this.#defects >= defectTries) return null
    const { firstMs, mostMs, totalMs } = this.#policy
    const grown = Math.min(mostMs, firstMs * 2 ** this.#count)
    const waitMs = Math.max(known?.afterMs ?? 0, grown / 2 + (Math.random() * grown) / 2)
    const now = performance.now()
    return now + waitMs - (this.#since ?? now) > totalMs ? null : waitMs
  }

  /** Counts an error after which there is another try. */
  count(error: unknown): void {
    this.#since ??= performance.now()
    this.#count++
    if (!asConnectorError(error)) this.#defects++
  }
}

/** Waits. Throws the signal's reason as soon as the signal is aborted. */
export async function pause(waitMs: number, signal: AbortSignal): Promise<void> {
  await delay(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted())
}

/** Any other error than a `ConnectorError` is a defect of a connector. It can still be transient. */
const defectTries = 3

/** The error with which a transfer ends. A transient error mentions that it was retried. */
export function finalError(error: unknown): unknown {
  const known = asConnectorError(error)
  if (known?.action !== 'retry') return error
  return known.with({ message: `${known.message} The error did not pass in time: start the transfer again later.` })
}
