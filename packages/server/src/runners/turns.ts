/** Too many jobs wait already. Nothing was begun. */
export class TooManyWaiting extends Error {
  override readonly name = 'TooManyWaiting'
}

type Waiting = { readonly owner: string; readonly start: () => void }

/**
 * Limits how many jobs run concurrently, in total and per owner. Other jobs wait for their turn. Of the owners below their
 * limit, the owner with the fewest running jobs is next, with its job that has waited longest.
 */
export class Turns {
  readonly #atOnce: number
  readonly #perOwner: number
  readonly #waitingMax: number
  readonly #running = new Map<string, number>()
  #total = 0
  #waiting: Waiting[] = []

  /** @param waitingMax how many jobs of one owner can wait; further jobs are refused */
  constructor(atOnce: number, perOwner: number, waitingMax: number) {
    this.#atOnce = atOnce
    this.#perOwner = perOwner
    this.#waitingMax = waitingMax
  }

  /**
   * Runs work once it has its turn.
   * @throws TooManyWaiting, or the signal's reason if it is aborted while waiting
   */
  async run<T>(owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#wait(owner, signal)
    try {
      return await work()
    } finally {
      this.#total--
      const left = this.#runningOf(owner) - 1
      if (left > 0) this.#running.set(owner, left)
      else this.#running.delete(owner)
      this.#next()
    }
  }

  async #wait(owner: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#waiting.filter((one) => one.owner === owner).length >= this.#waitingMax) throw new TooManyWaiting()
    await new Promise<void>((resolve, reject) => {
      const giveUp = () => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting)
        reject(signal.reason)
      }
      const waiting: Waiting = {
        owner,
        start: () => {
          signal.removeEventListener('abort', giveUp)
          resolve()
        },
      }
      signal.addEventListener('abort', giveUp, { once: true })
      this.#waiting.push(waiting)
      this.#next()
    })
  }

  #next(): void {
    while (this.#total < this.#atOnce) {
      const belowLimit = this.#waiting.filter(({ owner }) => this.#runningOf(owner) < this.#perOwner)
      const [first] = belowLimit.sort((a, b) => this.#runningOf(a.owner) - this.#runningOf(b.owner))
      if (!first) return
      this.#waiting = this.#waiting.filter((one) => one !== first)
      this.#running.set(first.owner, this.#runningOf(first.owner) + 1)
      this.#total++
      first.start()
    }
  }

  #runningOf(owner: string): number {
    return this.#running.get(owner) ?? 0
  }
}
