import type { Logger } from '../../log.ts'
import type { Claims } from './claim.ts'
import { heartbeatMs, type SupervisorDeps } from './deps.ts'
import * as queries from './upkeep-queries.ts'

/** Looks for transfers of dead workers, which another worker is to continue. */
export class LostTransfers {
  readonly #deps: SupervisorDeps
  readonly #claims: Claims
  readonly #wake: () => void
  readonly #log: Logger
  readonly #pauses: Pauses
  #isAway = false

  /** @param wake called if a transfer waits */
  constructor(deps: SupervisorDeps, claims: Claims, wake: () => void, log: Logger) {
    this.#deps = deps
    this.#claims = claims
    this.#wake = wake
    this.#log = log
    this.#pauses = new Pauses(heartbeatMs(deps))
  }

  /**
   * Queues transfers of dead workers again, and wakes this worker if transfers wait. If this process slept, or the
   * database was unavailable, other workers may have missed their heartbeats as well: it sends its own, and gives them
   * time to send theirs.
   */
  requeue = async (): Promise<void> => {
    const { database, settings } = this.#deps
    const supervised = await this.#claims.supervised()
    if (this.#isAway) this.#pauses.note()
    this.#isAway = true
    if (this.#pauses.isRecent()) await queries.sendHeartbeats.run(database, supervised)
    else {
      const heartbeatTimeoutSeconds = settings.heartbeatTimeoutMs / 1000
      const revived = await queries.requeueLost.all(database, { heartbeatTimeoutSeconds, ...supervised })
      for (const { id, part, parts } of revived)
        this.#log.warn(
          { transferId: id, ...(parts > 1 && { part }) },
          'the worker of a transfer sent no heartbeat; another worker will continue it',
        )
    }
    this.#deps.activity?.noteHeartbeat()
    if (await queries.someQueued.first(database, {})) this.#wake()
    this.#isAway = false
  }

  close(): void {
    this.#pauses.close()
  }
}

/** Notices when this process did not run: it was stopped, its machine was paused, or something kept it from its timers. */
class Pauses {
  readonly #everyMs: number
  readonly #timer: NodeJS.Timeout
  #lastMs = performance.now()
  #pausedMs = Number.NEGATIVE_INFINITY

  /** @param everyMs how often a process looks that runs */
  constructor(everyMs: number) {
    this.#everyMs = everyMs
    this.#timer = setInterval(() => this.#look(), everyMs).unref()
  }

  #look(): void {
    const nowMs = performance.now()
    if (nowMs - this.#lastMs > 2 * this.#everyMs) this.#pausedMs = nowMs
    this.#lastMs = nowMs
  }

  /** A pause ends now. */
  note(): void {
    this.#pausedMs = performance.now()
  }

  /** Whether a pause has just ended: less than two heartbeats ago. */
  isRecent(): boolean {
    this.#look()
    return performance.now() - this.#pausedMs < 2 * this.#everyMs
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
