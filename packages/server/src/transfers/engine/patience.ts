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
  #defects = 0
  readonly #patience: Patience

  constructor(patience: Patience) {
    this.#patience = patience
  }

  /** A batch was confirmed: patience is whole again. */
  forget(): void {
    this.#since = undefined
    this.#count = 0
    this.#defects = 0
  }

  /**
   * Takes note of trouble.
   * @returns how long to wait until another try, in milliseconds: for as long as the outcome asks, or ever longer, with
   *   jitter. Throws where the transfer ends with this: once patience is at its end, and where waiting would not help.
   */
  meet(error: unknown): number {
    const outcome = asOutcome(error)
    const passes = outcome
      ? outcome.instruction === 'retry' || outcome.instruction === 'unreachable'
      : this.#defects++ < defectTries
    if (!passes) throw error
    this.#since ??= Date.now()
    const { firstMs, mostMs, totalMs } = this.#patience
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
