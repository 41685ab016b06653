import { asConnectorError, type SourceContext, type SourceReader } from '@penstock/connector'
import { afterIn, cursorOf, type Spot } from '../databases/checkpoints.ts'
import { chunksOf, type ReadRow } from '../databases/chunks.ts'
import { beginningOf } from '../databases/ranges.ts'
import { cellOf } from './cells.ts'
import { broken, type ClickHouseApi, openClickHouse } from './clickhouse-api.ts'
import { type ClickHousePlan, planReading, statementOf } from './plan.ts'

/** Rows of the first page. Later pages have as many rows as make `pageBytes`. */
const firstRows = 1_000
const rowsMax = 50_000
const pageBytes = 8 << 20
/** If more rows than this have the same digest, ClickHouse skips the rows that were read instead of sending them again. */
const repeatsMax = 1_000

/** Opens a reader: asks ClickHouse what there is to read, and notes up to where. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const clickhouse = openClickHouse(context)
  const planned = await planReading(clickhouse, context.settings)
  const ended = cursorOf(context.cursor, planned.orderNames)
  const { earlier, within, keepsCursor } = beginningOf(context, planned.reading, planned.time, ended)
  const plan = { ...planned, within, incremental: keepsCursor }
  return {
    async *read(after, until) {
      const from = afterIn(after, plan.order.length)
      const upTo = afterIn(until, plan.order.length)?.after
      if (plan.empty && !from) return
      const spot: Spot = from ?? { after: undefined, skip: 0, ...earlier, bound: plan.bound }
      // `pagesOf` does not repeat rows of the spot itself.
      yield* chunksOf({ ...plan, places: !plan.digest }, spot, pagesOf(clickhouse, plan, { ...spot, upTo }), 0)
    },
    async close() {
      // Requests end with the signal of the context.
    },
  }
}

/** The rows after a spot. Each page is a separate statement, so that a slow reader keeps no statement open. */
async function* pagesOf(
  clickhouse: ClickHouseApi,
  plan: ClickHousePlan,
  from: Spot,
): AsyncGenerator<readonly ReadRow[], void> {
  let { after, skip } = from
  let rows = firstRows
  while (true) {
    const offset = skip > repeatsMax ? skip : 0
    const again = plan.digest && offset === 0 ? skip : 0
    const asked = rows + again
    const page = await clickhouse
      .read(statementOf(plan, { after, skip, bound: from.bound, upTo: from.upTo }, asked, offset), plan.at)
      .catch((error: unknown) => {
        if (asConnectorError(error)?.code !== 'response_too_large' || rows === 1) throw error
        return undefined
      })
    if (!page) {
      rows = Math.max(1, Math.floor(rows / 4))
      continue
    }
    if (page.rows.length > asked) throw broken('holds more rows than were asked for')
    const fresh: ReadRow[] = []
    let toSkip = again
    let bytes = 0
    for (const values of page.rows) {
      const row = readRow(plan, values)
      const isSame = after !== undefined && row.spot.every((text, at) => text === after?.[at])
      if (isSame && toSkip > 0) {
        toSkip -= 1
        continue
      }
      toSkip = 0
      skip = isSame ? skip + 1 : 1
      after = row.spot.map((text) => text ?? '')
      bytes += row.bytes
      fresh.push(row)
    }
    yield fresh
    if (page.rows.length < asked) return
    const mean = Math.max(1, bytes / Math.max(1, fresh.length))
    rows = Math.max(1, Math.min(rowsMax, Math.floor(pageBytes / mean)))
  }
}

function readRow({ columns, described, width }: ClickHousePlan, values: readonly (string | null)[]): ReadRow {
  if (values.length !== width) throw broken('holds a row without the columns that were asked for')
  let bytes = 0
  for (const text of values) bytes += text === null ? 1 : Buffer.byteLength(text) + 1
  const cells = described.map((column, at) => cellOf(values[at] ?? null, column))
  return { spot: values.slice(columns.length), cells, bytes }
}
