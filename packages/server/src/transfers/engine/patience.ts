import { setTimeout as delay } from 'node:timers/promises'
import { asOutcome, Outcome } from '@penstock/connector'

/** How long passing trouble is put up with. */
export type Patience = {
  /** The wait after the first failure in a row; each further one doubles it. */
  readonly firstMs: number
  readonly mostMs: number
  /** Without a batch confirmed for so long, trouble does not pass any more. */
  readonly totalMs: number
}

/** Trouble in a row, without a batch confirmed in between. */
export class Troubles {
  #since: number | undefined
  #count = 0
  #areOver = false
  readonly #patience: Patience

  constructor(patience: Patience) {
    this.#patience = patience
  }

  /** Whether patience came to its end. */
  get areOver(): boolean {
    return this.#areOver
  }

  /** A batch was confirmed: patience is whole again. */
  forget(): void {
    this.#since = undefined
    this.#count = 0
  }

  /**
   * Waits for as long as the outcome asks, or ever longer, with jitter. Throws what it was given once patience is at its
   * end, and at once where waiting would not help; throws the signal's reason where it is aborted.
   */
  async wait(error: unknown, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const outcome = asOutcome(error)
    const passes = outcome
      ? outcome.instruction === 'retry' || outcome.instruction === 'unreachable'
      : this.#count < defectTries
    if (!passes) throw error
    this.#since ??= Date.now()
    const { firstMs, mostMs, totalMs } = this.#patience
    const grown = Math.min(mostMs, firstMs * 2 ** this.#count++)
    const waitMs = Math.max(outcome?.afterMs ?? 0, grown / 2 + (Math.random() * grown) / 2)
    if (Date.now() + waitMs - this.#since > totalMs) {
      this.#areOver = true
      throw atTheEnd(error)
    }
    await delay(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
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
