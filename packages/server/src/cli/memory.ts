import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The first rounds of the background jobs are over by then; what they leave is garbage of the start as well. */
const delayMs = 2_000

/**
 * Collects the garbage of the start, once and soon: about 30 MB, of which V8 would keep the pages until the process is busy.
 * It takes 40 to 70 ms, in which nothing else runs.
 */
export function releaseStartMemorySoon(): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc')
    const collect: NodeJS.GCFunction = runInNewContext('gc')
    setFlagsFromString('--no-expose-gc')
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  }, delayMs).unref()
}
