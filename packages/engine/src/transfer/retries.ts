import { setTimeout as delay } from 'node:timers/promises'
import { asOutcome, Outcome } from '@penstock/connector'
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
   * Counts an error.
   * @returns how long to wait until the next try, in milliseconds: for as long as the outcome asks, or ever longer, with
   *   jitter. Throws the error where it is final: after `totalMs`, and where waiting would not help.
   */
  next(error: unknown): number {
    const outcome = asOutcome(error)
    const passes = outcome
      ? outcome.instruction === 'retry' || outcome.instruction === 'unreachable'
      : this.#defects++ < defectTries
    if (!passes) throw error
    this.#since ??= Date.now()
    const { firstMs, mostMs, totalMs } = this.#policy
    const grown = Math.min(mostMs, firstMs * 2 ** this.#count++)
    const waitMs = Math.max(outcome?.afterMs ?? 0, grown / 2 + (Math.random() * grown) / 2)
    if (Date.now() + waitMs - this.#since > totalMs) throw atTheEnd(error)
    return waitMs
  }
}

/** Waits; throws the signal's reason once that is aborted. */
export async function pause(waitMs: number, signal: AbortSignal): Promise<void> {
  await delay(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted())
}

/** What is not an outcome is a defect of a connector; it may still be a passing one. */
const defectTries = 3

function atTheEnd(error: unknown): unknown {
  const outcome = asOutcome(error)
  if (outcome?.instruction !== 'retry') return error
  return new Outcome(
    'failed',
    outcome.code,
    `${outcome.message} It did not pass in time: start the transfer again later.`,
    { cause: error },
  )
}
