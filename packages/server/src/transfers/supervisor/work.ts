import type { Logger } from '../../log.ts'
import { type Claims, claimTransfer } from './claim.ts'
import type { SupervisorDeps } from './deps.ts'
import { superviseTransfer } from './supervise.ts'

/**
 * Runs transfers, one after the other, until none may be claimed or the signal aborts. Any number of these may work at
 * once, in any number of processes.
 * @param onClaim called after each claim, before the transfer runs
 * @param onEnd called after a transfer ended, with the configuration of its source
 */
export async function workOnTransfers(
  deps: SupervisorDeps,
  claims: Claims,
  log: Logger,
  stopping: AbortSignal,
  onClaim = () => {},
  onEnd: (sourceConfigurationId: string) => void = () => {},
): Promise<void> {
  while (!stopping.aborted && !deps.runners.isPaused) {
    const claimed = await claimTransfer(deps, claims, stopping)
    if (!claimed) return
    onClaim()
    const ended = deps.activity?.begin()
    await superviseTransfer(deps, claimed, log, stopping).finally(() => {
      claims.release(claimed)
      ended?.()
      onEnd(claimed.srcConfigurationId)
    })
  }
}

/** The transfers of one worker, so many at once. */
export class TransferWork {
  readonly #atOnce: number
  readonly #work: (onClaim: () => void) => Promise<void>
  readonly #active = new Set<Promise<void>>()
  #isWoken = false

  /** @param work runs transfers until none may be claimed, and does not reject */
  constructor(atOnce: number, work: (onClaim: () => void) => Promise<void>) {
    this.#atOnce = atOnce
    this.#work = work
  }

  /** Claims and runs what waits. Each claim wakes again, so that many transfers that wait are soon claimed. */
  wake = (): void => {
    this.#isWoken = true
    if (this.#active.size === this.#atOnce) return
    const done = this.#workUntilNoneWaits().finally(() => this.#active.delete(done))
    this.#active.add(done)
  }

  /** Resolves once no transfer runs. */
  async ended(): Promise<void> {
    while (this.#active.size > 0) await Promise.all(this.#active)
  }

  async #workUntilNoneWaits(): Promise<void> {
    while (this.#isWoken) {
      this.#isWoken = false
      await this.#work(this.wake)
    }
  }
}
