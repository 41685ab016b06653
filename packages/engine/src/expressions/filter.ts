import type { Chunk, Row } from '@penstock/connector'
import { compileFilter, type Expression, reasonOf } from '@penstock/expressions'
import type { FieldError } from '@penstock/wire'
import type { RowError } from '../mapping/mapper.ts'
import { type SkipCodes, skipCode } from '../skipped.ts'

/**
 * Maps the rows of a chunk.
 * @returns as many rows, in their order. Rows that are skipped, or have an error, must not be delivered.
 */
export type MapRows = (chunk: Pick<Chunk, 'rows' | 'errors' | 'removed'>) => {
  rows: readonly Row[]
  errors: ReadonlyMap<number, RowError>
  /** Which rows are skipped, by code; absent if none is. */
  skipped?: SkipCodes
}

/**
 * The errors of the setting of a connection that says which rows are sent.
 * @param columns of the source, if they are known
 * @param path its path in the request
 */
export function filterErrors(setting: unknown, columns: readonly string[] | undefined, path: string): FieldError[] {
  if (setting === undefined || String(setting).trim() === '') return []
  const { wrong } = compileFilter(String(setting), columns)
  return wrong === undefined ? [] : [{ field: path, message: wrong }]
}

/**
 * Maps the rows that meet a condition, and all that are to be removed at the destination, of which only the key is known. The others are
 * skipped; rows for which the condition has no value are invalid.
 * @param map maps the rows that are left
 */
export function filtering(filter: Expression, map: MapRows): MapRows {
  const code = skipCode('filtered')
  return (given) => {
    const { rows, errors, removed } = given
    const skipped = new Uint8Array(rows.length)
    const failed = new Map<number, RowError>()
    const kept: number[] = []
    for (const [at, row] of rows.entries()) {
      if (errors?.has(at)) continue
      try {
        if (removed?.has(at) || filter.evaluate(row) === true) kept.push(at)
        else skipped[at] = code
      } catch (error) {
        failed.set(at, { field: 'filter', reason: `The filter has no value: ${reasonOf(error)}` })
      }
    }
    if (kept.length === rows.length) return map(given)
    const mapped = map({ rows: kept.map((at) => rows[at] as Row) })
    const all = [...rows]
    for (const [index, at] of kept.entries()) all[at] = mapped.rows[index] as Row
    for (const [index, error] of mapped.errors) failed.set(kept[index] as number, error)
    return { rows: all, errors: failed, skipped }
  }
}
