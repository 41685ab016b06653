import { setImmediate } from 'node:timers/promises'

/** Rows after which other work of the process has its turn. Each can take about a millisecond at worst. */
const sliceRows = 500

/**
 * Works on rows in slices, so that a runner answers its supervisor however long the work takes for all rows of a chunk.
 * @param count how many rows there are
 * @param work does a slice: the rows from an index to before another one
 */
export async function inSlices(count: number, work: (from: number, until: number) => void): Promise<void> {
  for (let from = 0; from < count; from += sliceRows) {
    if (from > 0) await setImmediate()
    work(from, Math.min(count, from + sliceRows))
  }
}
