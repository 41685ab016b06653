import { setImmediate } from 'node:timers/promises'

/** Rows after which other work of the process can run. In the worst case, each row takes about a millisecond. */
const sliceRows = 500

/**
 * Processes rows in slices, so that a runner answers its supervisor even if a chunk takes long.
 * @param count number of rows
 * @param work processes a slice: the rows from one index until before another
 */
export async function inSlices(count: number, work: (from: number, until: number) => void): Promise<void> {
  for (let from = 0; from < count; from += sliceRows) {
    if (from > 0) await setImmediate()
    work(from, Math.min(count, from + sliceRows))
  }
}
