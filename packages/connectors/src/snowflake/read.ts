import type { Cell, Json, SourceContext, SourceReader } from '@penstock/connector'
import { cursorOf, type Spot } from '../databases/checkpoints.ts'
import type { ReadRow } from '../databases/chunks.ts'
import { beginningOf } from '../databases/ranges.ts'
import { readCachedResult } from '../kit/warehouse/result-cache.ts'
import { isObject, numberIn } from '../platform-api/json.ts'
import { accountOf } from './account.ts'
import { cellOf } from './cells.ts'
import { planReading, type SnowflakePlan, statementOf } from './plan.ts'
import { broken, type SnowflakeRow } from './result-rows.ts'
import { makeSqlApi, type SqlApi } from './sql-api.ts'

/** Opens a reader: asks Snowflake what there is to read, and notes up to where. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const api = makeSqlApi(context, accountOf(context))
  const planned = await planReading(api, context.settings)
  const ended = cursorOf(context.cursor, planned.orderNames)
  const { earlier, within, keepsCursor } = beginningOf(context, planned.reading, planned.time, ended)
  const plan = { ...planned, within, incremental: keepsCursor }
  const beginning: Spot = { after: undefined, skip: 0, ...earlier, bound: plan.bound }
  /** Statements that can still be running. */
  const running = new Set<string>()
  const stop = async () => {
    await Promise.all([...running].map((handle) => api.cancel(handle)))
    running.clear()
  }
  let rowsTotal: number | undefined
  return {
    /** Known once the first statement is done. */
    get total() {
      return rowsTotal === undefined ? {} : { rows: rowsTotal }
    },
    async *read(after) {
      if (plan.empty && after === undefined) return
      const rowsFrom = async function* (spot: Spot, place: Json | undefined): AsyncGenerator<readonly ReadRow[]> {
        let from = placeOf(place)
        if (!from) {
          const handle = await api.start(statementOf(plan, spot))
          running.add(handle)
          from = { handle, partition: 0, row: 0 }
        }
        const isWhole = spot === beginning
        for await (const rows of resultRows(api, plan, from, running)) {
          yield rows.rows
          if (isWhole && rows.total !== undefined) rowsTotal = rows.total
        }
      }
      try {
        yield* readCachedResult(plan, beginning, after, rowsFrom)
      } finally {
        await stop()
      }
    },
    close: stop,
  }
}

/** The place of a row in a cached result: its page, and how many rows of that page come before it. */
type Place = { readonly handle: string; readonly partition: number; readonly row: number; readonly partitions?: number }

function placeOf(place: Json | undefined): Place | undefined {
  if (!isObject(place) || typeof place.handle !== 'string') return undefined
  const { handle, partitions } = place
  const count = numberIn(partitions)
  return {
    handle,
    partition: numberIn(place.partition) ?? 0,
    row: numberIn(place.row) ?? 0,
    ...(count === undefined ? {} : { partitions: count }),
  }
}

/** The rows of a cached result, page after page, and never more than one page at a time. */
async function* resultRows(
  api: SqlApi,
  plan: SnowflakePlan,
  { handle, partition: first, row: skip, partitions }: Place,
  running: Set<string>,
): AsyncGenerator<{ rows: readonly ReadRow[]; total?: number }> {
  let count = partitions
  for (let partition = first; partition === first || partition < (count ?? 1); partition++) {
    const pages = api.page(handle, partition)
    let number = 0
    let toSkip = partition === first ? skip : 0
    let next = await pages.next()
    running.delete(handle)
    try {
      for (; !next.done; next = await pages.next()) {
        const rows: ReadRow[] = []
        for (const row of next.value) {
          number++
          if (toSkip > 0) toSkip--
          else
            rows.push(readRow(plan, row, { handle, partition, row: number, ...(count ? { partitions: count } : {}) }))
        }
        yield { rows }
      }
    } finally {
      // A reader that stops early does not read the rest of the page.
      if (!next.done) await pages.return(undefined)
    }
    count = next.value?.partitions ?? count
    if (next.value?.rows !== undefined) yield { rows: [], total: next.value.rows }
  }
}

function readRow({ columns, described, order, width }: SnowflakePlan, row: SnowflakeRow, place: Json): ReadRow {
  if (row.length !== width) throw broken('holds a row without the columns that were asked for')
  let bytes = 0
  for (const text of row) bytes += text === null ? 1 : Buffer.byteLength(text) + 1
  const cells: Cell[] = []
  for (let at = 0; at < columns.length; at++) {
    const type = described[at]
    cells.push(type ? cellOf(row[at] ?? null, type) : null)
  }
  return { spot: order.map(({ textOf }) => textOf(row)), cells, bytes, place }
}
