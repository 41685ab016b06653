import { ConnectorError, type Json, type SourceContext, type SourceReader } from '@penstock/connector'
import { cursorOf, type Spot } from '../databases/checkpoints.ts'
import type { ReadRow } from '../databases/chunks.ts'
import { beginningOf } from '../databases/ranges.ts'
import { readCachedResult, resultGone } from '../kit/warehouse/result-cache.ts'
import { call, isSuccess } from '../platform-api/call.ts'
import { isObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { cellOf } from './cells.ts'
import { type Databricks, openDatabricks } from './databricks-api.ts'
import { type DatabricksPlan, planReading, statementOf } from './plan.ts'

/** Parts of a result have about 20 MiB. */
const partBytesMax = 128 << 20
/** Rows of a part that are converted together. */
const batchRows = 2_000

/** Opens a reader: asks Databricks what there is to read, and notes up to where. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const databricks = openDatabricks(context)
  const planned = await planReading(databricks, context.settings)
  const ended = cursorOf(context.cursor, planned.orderNames)
  const { earlier, within, keepsCursor } = beginningOf(context, planned.reading, planned.time, ended)
  const plan = { ...planned, within, incremental: keepsCursor }
  const beginning: Spot = { after: undefined, skip: 0, ...earlier, bound: plan.bound }
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
          const text = statementOf(plan, spot)
          const json = await databricks.execute({ ...plan.at, text, disposition: 'EXTERNAL_LINKS' })
          const { truncated, total_row_count: rows, total_chunk_count: parts } = objectIn(json.manifest)
          if (truncated === true) throw broken('holds only a part of the rows')
          if (spot === beginning) rowsTotal = numberIn(rows)
          if (numberIn(parts) === 0 || numberIn(rows) === 0) return
          from = { statement: textIn(json.statement_id) ?? '', part: 0, row: 0 }
        }
        yield* resultRows(context, databricks, plan, from)
      }
      yield* readCachedResult(plan, beginning, after, rowsFrom)
    },
    async close() {
      // Statements that run are cancelled when the signal of the context ends their requests.
    },
  }
}

/** The place of a row in a result that Databricks keeps: its part, and how many rows of that come before it. */
type Place = { readonly statement: string; readonly part: number; readonly row: number }

function placeOf(place: Json | undefined): Place | undefined {
  if (!isObject(place) || typeof place.statement !== 'string' || !/^[\w-]{1,100}$/.test(place.statement))
    return undefined
  return { statement: place.statement, part: numberIn(place.part) ?? 0, row: numberIn(place.row) ?? 0 }
}

/** The rows of a result, part after part, and never more than one part at a time. */
async function* resultRows(
  context: SourceContext,
  databricks: Databricks,
  plan: DatabricksPlan,
  { statement, part: first, row: skip }: Place,
): AsyncGenerator<readonly ReadRow[]> {
  let part: number | undefined = first
  while (part !== undefined) {
    const link = await linkOf(databricks, statement, part)
    const rows = await partAt(context, link)
    for (let at: number = part === first ? skip : 0; at < rows.length; at += batchRows) {
      const number: number = part
      yield rows
        .slice(at, at + batchRows)
        .map((row, index) => readRow(plan, row, { statement, part: number, row: at + index + 1 }))
    }
    const next: number | undefined = numberIn(link.next_chunk_index)
    if (next !== undefined && next !== part + 1) throw broken('names parts in another order')
    part = next
  }
}

/** The address of a part of a result. Addresses expire within minutes, so each is requested just before it is used. */
async function linkOf(
  databricks: Databricks,
  statement: string,
  part: number,
): Promise<Readonly<Record<string, unknown>>> {
  const { json } = await databricks.askObject({
    path: `/api/2.0/sql/statements/${statement}/result/chunks/${part}`,
    // Databricks keeps a result for an hour or so.
    errorOf: ({ status }) => (status === 404 || status === 410 ? resultGone('Databricks') : undefined),
  })
  return objectIn(listIn(json.external_links)[0])
}

/**
 * Downloads a part from the cloud storage of the workspace. The address is signed and needs no token. The storage must not get
 * the token, and egress checks its host like any other.
 */
async function partAt(context: SourceContext, link: Readonly<Record<string, unknown>>): Promise<readonly unknown[]> {
  const { external_link: address, http_headers: given } = link
  if (typeof address !== 'string' || !URL.canParse(address) || new URL(address).protocol !== 'https:') {
    throw broken('names no address with https')
  }
  const headers = Object.fromEntries(
    Object.entries(objectIn(given)).flatMap(([name, value]) =>
      /^x-[a-z0-9-]{1,100}$/i.test(name) && typeof value === 'string' && /^[\x20-\x7e]{0,2000}$/.test(value)
        ? [[name, value]]
        : [],
    ),
  )
  const answer = await call(context, { url: address, headers, bytesMax: partBytesMax })
  if (!isSuccess(answer)) {
    const message = `The storage of results answered with the status ${answer.status}. The request is repeated.`
    throw new ConnectorError('platform_unavailable', message)
  }
  if (Array.isArray(answer.json)) return answer.json
  throw broken('is no list of rows')
}

function readRow({ described, order, width }: DatabricksPlan, row: unknown, place: Json): ReadRow {
  const values = listIn(row)
  if (values.length !== width) throw broken('holds a row without the columns that were asked for')
  let bytes = 0
  const texts = values.map((value) => {
    if (value !== null && typeof value !== 'string') throw broken('holds a value that is no text')
    bytes += value === null ? 1 : Buffer.byteLength(value) + 1
    return value
  })
  const cells = described.map((column, at) => cellOf(texts[at] ?? null, column))
  return { spot: order.map(({ index }) => texts[index] ?? null), cells, bytes, place }
}

/** @param what completes the sentence that begins with the result */
const broken = (what: string): ConnectorError =>
  new ConnectorError('malformed_response', `A result of Databricks ${what}. The request is repeated.`)
