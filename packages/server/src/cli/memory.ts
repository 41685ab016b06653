import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The first rounds of the background jobs have ended by then. What they leave is also garbage of the start. */
const delayMs = 2_000

/**
 * Collects the garbage of the start once, after a delay: about 30 MB. V8 would keep these pages until the process is busy. The
 * collection takes 40 to 70 ms and blocks everything else.
 */
export function releaseStartMemorySoon(): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc')
    const collect: NodeJS.GCFunction = runInNewContext('gc')
    setFlagsFromString('--no-expose-gc')
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  }, delayMs).unref()
}
