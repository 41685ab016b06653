/** A check that is repeated until it is stopped. */
export type Watchdog = {
  /** Resolves when no check is running and none will start. */
  stop(): Promise<void>
}

const intervalMs = 2_000
const longestIntervalMs = 60_000

/**
 * Runs a check every two seconds, and after one that failed in twice the time, up to a minute. It does not keep the
 * process alive.
 */
export function startWatchdog(check: () => Promise<void>, onFailure: (error: unknown) => void): Watchdog {
  let isStopped = false
  let delayMs = intervalMs
  let checking: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  const schedule = () => {
    if (isStopped) return
    timer = setTimeout(() => {
      checking = check()
        .then(() => {
          delayMs = intervalMs
        })
        .catch((error) => {
          delayMs = Math.min(delayMs * 2, longestIntervalMs)
          onFailure(error)
        })
        .finally(schedule)
    }, delayMs)
    timer.unref()
  }
  schedule()

  return {
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await checking
    },
  }
}
