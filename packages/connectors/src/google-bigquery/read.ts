import { ConnectorError, type Json, type SourceContext, type SourceReader } from '@penstock/connector'
import type { Spot } from '../databases/checkpoints.ts'
import type { ReadRow } from '../databases/chunks.ts'
import { readCachedResult } from '../kit/warehouse/result-cache.ts'
import { isObject, numberIn, textIn } from '../platform-api/json.ts'
import { cellOf, valuesIn } from './cells.ts'
import { type BigQuery, broken, makeBigQuery, type QueryJob } from './jobs.ts'
import { type BigQueryPlan, planReading, statementOf } from './plan.ts'

/** Opens a reader: has BigQuery examine the query. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const bigQuery = makeBigQuery(context)
  const plan = await planReading(bigQuery, context.settings)
  const beginning: Spot = { after: undefined, skip: 0, bound: undefined }
  /** Queries that may still be running. */
  const running = new Set<QueryJob>()
  const stop = async () => {
    await Promise.all([...running].map((job) => bigQuery.cancel(job)))
    running.clear()
  }
  let rowsTotal: number | undefined
  return {
    /** Known once the first query is done. */
    get total() {
      return rowsTotal === undefined ? {} : { rows: rowsTotal }
    },
    async *read(after) {
      const rowsFrom = async function* (spot: Spot, place: Json | undefined): AsyncGenerator<readonly ReadRow[]> {
        let from = placeIn(place)
        if (!from) {
          from = { job: await bigQuery.start(statementOf(plan, spot)), row: 0 }
          running.add(from.job)
        }
        for await (const { rows, total } of resultRows(bigQuery, plan, from)) {
          running.delete(from.job)
          if (spot === beginning) rowsTotal = total
          yield rows
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

/** Reading resumes in a cached result, after this number of its rows. */
type Place = { readonly job: QueryJob; readonly row: number }

function placeIn(place: Json | undefined): Place | undefined {
  if (!isObject(place) || typeof place.job !== 'string' || typeof place.project !== 'string') return undefined
  const job = { projectId: place.project, id: place.job, location: textIn(place.location) }
  return { job, row: numberIn(place.row) ?? 0 }
}

/** The rows of a cached result, page after page, and never more than one page at a time. */
async function* resultRows(
  bigQuery: BigQuery,
  plan: BigQueryPlan,
  { job, row: first }: Place,
): AsyncGenerator<{ rows: readonly ReadRow[]; total: number | undefined }> {
  const { projectId: project, id, location } = job
  const place = (row: number): Json => ({ project, job: id, row, ...(location === undefined ? {} : { location }) })
  let row = first
  let pageToken: string | undefined
  while (true) {
    const page = await bigQuery.page(job, pageToken === undefined ? { startIndex: row } : { pageToken })
    yield { rows: page.rows.map((each) => readRow(plan, each, place(++row))), total: page.total }
    if (page.total === undefined ? page.pageToken === undefined : row >= page.total) return
    // A page without rows before the end would be requested endlessly.
    if (page.rows.length === 0 && page.pageToken === undefined) throw endless()
    pageToken = page.pageToken
  }
}

function readRow({ columns, fields, order, digest }: BigQueryPlan, row: unknown, place: Json): ReadRow {
  const values = valuesIn(row)
  if (values.length !== columns.length + (digest ? 1 : 0)) throw broken()
  let bytes = 0
  for (const value of values) bytes += typeof value === 'string' ? Buffer.byteLength(value) + 1 : sizeOf(value)
  const cells = columns.map((_, at) => {
    const field = fields[at]
    const isNested = field?.repeated || field?.type === 'RECORD'
    if (!isNested && typeof (values[at] ?? '') === 'object') throw broken()
    return field ? cellOf(values[at], field) : null
  })
  return { spot: order.map(({ textOf }) => textOf(values)), cells, bytes, place }
}

const sizeOf = (value: unknown): number => (value === null || value === undefined ? 1 : JSON.stringify(value).length)

const endless = (): ConnectorError =>
  new ConnectorError('malformed_response', 'BigQuery returned fewer rows than announced. The request is repeated.')
