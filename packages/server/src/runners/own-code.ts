import { stampCode } from './code-stamp.ts'

/**
 * How long no transfer is claimed after the first runner that could not start or load its code. Each further failure doubles
 * the pause.
 */
const firstPauseMs = 1_000
const longestPauseMs = 60_000

/** The files of the code when the first runners of this process were made. */
let atStart: Promise<string> | undefined

/**
 * Whether this process can run its own code. It cannot if the files of an upgrade replaced the code, or if the machine is out
 * of resources.
 */
export class OwnCode {
  readonly #stamp: Promise<string>
  #failures = 0
  #pausedUntilMs = 0

  constructor() {
    atStart ??= stampCode()
    this.#stamp = atStart
  }

  /** Whether the files of the code have changed since the start. Then an error can come from a mix of two versions. */
  async hasChanged(): Promise<boolean> {
    return (await this.#stamp) !== (await stampCode())
  }

  failed(): void {
    this.#pausedUntilMs = performance.now() + Math.min(longestPauseMs, firstPauseMs * 2 ** this.#failures)
    this.#failures++
  }

  worked(): void {
    this.#failures = 0
    this.#pausedUntilMs = 0
  }

  get isPaused(): boolean {
    return performance.now() < this.#pausedUntilMs
  }
}
