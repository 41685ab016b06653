/** Rows that a driver has pushed and the reader has not yet taken. The driver pauses meanwhile. */
export type RowQueue<T> = {
  push(row: T, bytes: number): void
  end(): void
  fail(error: unknown): void
  /** Yields the rows since the last time until the end. Throws the error of `fail`. */
  drain(): AsyncGenerator<T[]>
}

const queuedBytesMax = 1024 * 1024

/**
 * @param flow stops and starts the driver; not much more than a megabyte waits here
 * @param onTimeout called when nothing has come for `waitMs` while a reader waits for it; it must make the query fail
 */
export function createRowQueue<T>(
  flow: { pause(): void; resume(): void },
  waitMs: number,
  onTimeout: () => void,
): RowQueue<T> {
  let queue: T[] = []
  let queuedBytes = 0
  let paused = false
  let ended = false
  let failed: { error: unknown } | undefined
  let wake = () => {}
  return {
    push(row, bytes) {
      queue.push(row)
      queuedBytes += bytes
      if (queuedBytes > queuedBytesMax && !paused) {
        paused = true
        flow.pause()
      }
      wake()
    },
    end() {
      ended = true
      wake()
    },
    fail(error) {
      failed ??= { error }
      wake()
    },
    async *drain() {
      while (true) {
        if (queue.length === 0 && !ended && !failed) {
          const timer = setTimeout(onTimeout, waitMs)
          await new Promise<void>((resolve) => {
            wake = resolve
          })
          clearTimeout(timer)
        }
        if (failed) throw failed.error
        const rows = queue
        queue = []
        queuedBytes = 0
        if (rows.length > 0) yield rows
        else if (ended) return
        if (paused && !ended) {
          paused = false
          flow.resume()
        }
      }
    },
  }
}
