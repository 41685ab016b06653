import { setImmediate } from 'node:timers/promises'
import type { MapRows } from './filter.ts'

/** Rows after which other work of the process has its turn. Each can take about a millisecond at worst. */
const sliceRows = 500

/** The same mapper, which lets a runner answer its supervisor however long the expressions take for all rows of a chunk. */
export const inSlices =
  (map: MapRows): ((...given: Parameters<MapRows>) => Promise<ReturnType<MapRows>>) =>
  async (chunk) => {
    const { rows, errors, removed } = chunk
    if (rows.length <= sliceRows) return map(chunk)
    const all: ReturnType<MapRows>['rows'][number][] = []
    const failed: Map<number, { readonly field: string; readonly reason: string }> = new Map()
    const skipped = new Uint8Array(rows.length)
    for (let from = 0; from < rows.length; from += sliceRows) {
      const until = from + sliceRows
      const own = [...(errors ?? [])].flatMap(([at, why]) =>
        at >= from && at < until ? [[at - from, why] as const] : [],
      )
      const gone = [...(removed ?? [])].flatMap((at) => (at >= from && at < until ? [at - from] : []))
      const mapped = map({ rows: rows.slice(from, until), errors: new Map(own), removed: new Set(gone) })
      for (const row of mapped.rows) all.push(row)
      for (const [at, error] of mapped.errors) failed.set(from + at, error)
      if (mapped.skipped) skipped.set(mapped.skipped, from)
      await setImmediate()
    }
    return { rows: all, errors: failed, skipped }
  }
