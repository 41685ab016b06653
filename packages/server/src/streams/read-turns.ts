/** Bytes of requests that are read in one turn of the event loop: some milliseconds of work. At least one request is. */
const bytesOfTurn = 8 * 1024

type Waiting = { readonly bytes: number; readonly begin: () => void }

/**
 * Lets requests be read in turns of the event loop, streams one after the other. Many large requests of one stream that came
 * together would otherwise be read in one piece, and everything else of the process would wait for as long.
 */
export class ReadTurns {
  readonly #queues = new Map<string, Waiting[]>()
  #isScheduled = false

  /** Resolves when a request can be read. @param name of the queue: the stream, if it is known */
  take(name: string, bytes: number): Promise<void> {
    return new Promise((begin) => {
      const queue = this.#queues.get(name) ?? []
      queue.push({ bytes, begin })
      this.#queues.set(name, queue)
      if (!this.#isScheduled) setImmediate(this.#turn)
      this.#isScheduled = true
    })
  }

  readonly #turn = (): void => {
    let bytes = 0
    for (const [name, queue] of this.#queues) {
      const next = queue.shift()
      // Behind the others, so that a turn continues with it only after them.
      this.#queues.delete(name)
      if (queue.length > 0) this.#queues.set(name, queue)
      bytes += next?.bytes ?? 0
      next?.begin()
      if (bytes >= bytesOfTurn) break
    }
    this.#isScheduled = this.#queues.size > 0
    // After the sockets that are ready by then.
    if (this.#isScheduled) setImmediate(this.#turn)
  }
}
