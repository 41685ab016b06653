/** Waiting that a caller can break off. */

/** Settles as `promise` does, or rejects with the signal's reason as soon as it aborts; the work itself continues. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    stop = () => signal.removeEventListener('abort', abort)
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    stop()
  }
}

/** Waits a number of seconds. Rejects with the signal's reason as soon as it aborts. */
export async function delay(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    const waited = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, seconds * 1000)
    })
    await unlessAborted(waited, signal)
  } finally {
    clearTimeout(timer)
  }
}
