import {
  asConnectorError,
  type Cell,
  type Chunk,
  ConnectorError,
  type Json,
  type SourceContext,
  type SourceReader,
} from '@penstock/connector'
import { isObject, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { timeOfRange } from '../platform-api/range.ts'
import type { TextTable } from './csv.ts'
import { describe, describeObject, type ObjectDescription, type ObjectField } from './objects.ts'
import { abortQuery, awaitQuery, queryError, readPage, type SoqlJob, startQuery } from './query-jobs.ts'
import { relatedFields } from './related-fields.ts'
import { openSalesforce, type Salesforce } from './salesforce-api.ts'
import {
  type ChosenFields,
  changeFieldOf,
  fieldNamesIn,
  fieldsOf,
  limited,
  queryOf,
  readQuery,
  type Soql,
} from './soql.ts'

/** Rows per request to Salesforce. Requests are limited. */
const pageRows = 10_000
const chunkRows = 2_500
const sampleRows = 200
/** Records that were being saved when the last transfer began are seen by the next one. */
const overlapMs = 10 * 60_000
const restartsMax = 2

/** A query, and how its rows are read. */
type Plan = {
  readonly query: Soql
  readonly object: ObjectDescription
  readonly fields: ChosenFields | undefined
  readonly deleted: boolean
  readonly incremental: boolean
  /** The cell that a text of a column is. */
  readonly cells: readonly ((text: string) => Cell)[]
}

/** Opens a reader of records: looks the object up, and runs nothing yet. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const salesforce = await openSalesforce(context)
  const plan = await planOf(salesforce, context)
  const { unread = [] } = plan.fields ?? {}
  let rows: number | undefined
  let running: SoqlJob | undefined
  return {
    /** Known once the query is done. */
    get total() {
      return rows === undefined ? {} : { rows }
    },
    async *read(after) {
      const onRunning = (job?: SoqlJob) => {
        running = job
      }
      const reading = { salesforce, plan, context, onRunning }
      yield* readJob(reading, placeIn(after), (count) => {
        rows = count
      })
    },
    async findings() {
      return unread.length === 0
        ? []
        : [
            {
              code: 'columns_not_read',
              message: `Bulk API 2.0 gives out no compound fields and no files, so these are left out: ${unread.map(({ name }) => name).join(', ')}. The parts of compound fields are fields of their own.`,
            },
          ]
    },
    async close() {
      // The query of a transfer is found again. Nobody waits for the query of a preview.
      if (running && context.sample) await abortQuery(salesforce, running)
      running = undefined
    },
  }
}

async function planOf({ client }: Salesforce, context: SourceContext): Promise<Plan> {
  const { settings, sample, range } = context
  const deleted = settings.deletedRecords === true
  const whole = (query: Soql): Soql => (sample ? limited(query, sampleRows) : query)
  if (settings.dataSourceType === 'SOQL Query') {
    const own = readQuery(settings.soqlQuery)
    const object = await describe(client, own.object)
    const incremental = settings.syncMode === 'Incremental' && !range
    const changed = changedIn(object, context, incremental)
    const query = changed ? own.changed(changed) : { text: own.text, columns: own.columns }
    const related = await relatedFields(client, object, own.columns, false)
    const cells = cellsOf(object, query, related)
    return { query: whole(query), object, fields: undefined, deleted, incremental, cells }
  }
  const object = await describeObject(client, settings)
  if (!object.reads) throw new ConnectorError('permission_denied', `The user may not read ${object.name}.`)
  const related = await relatedFields(client, object, fieldNamesIn(settings.fields), true)
  const fields = fieldsOf(object, settings.fields, related)
  const incremental = settings.syncMode === 'Incremental' && !range
  const changed = changedIn(object, context, incremental)
  const query = queryOf(object, fields, changed)
  return { query: whole(query), object, fields, deleted, incremental, cells: cellsOf(object, query, related) }
}

/**
 * The time of change by which records are read. `undefined` if all are read. Throws `invalid_setting` if the object has no such
 * field.
 */
function changedIn(object: ObjectDescription, { cursor, range }: SourceContext, incremental: boolean) {
  if (range) return { field: changeFieldOf(object, 'start a transfer without a range'), ...timeOfRange(range) }
  if (!incremental) return undefined
  const field = changeFieldOf(object, 'set “Rows to read” to All rows for it')
  // A cursor of another object means nothing.
  const { since, object: of } = objectIn(cursor)
  const sinceMs = of === object.name ? numberIn(since) : undefined
  return sinceMs === undefined ? undefined : { field, fromMs: sinceMs - overlapMs }
}

/** Texts in the types of their fields. Decimal numbers stay texts, so that no digit is lost. */
function cellsOf(
  { fields }: ObjectDescription,
  { columns }: Soql,
  related: ReadonlyMap<string, ObjectField>,
): Plan['cells'] {
  const types = new Map([...fields, ...related.values()].map(({ name, type }) => [name.toLowerCase(), type]))
  return columns.map((column) => {
    const type = types.get(column.toLowerCase())
    if (type === 'boolean') return (text) => (text === 'true' ? true : text === 'false' ? false : text || null)
    if (type === 'int') return (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text || null)
    return (text) => text || null
  })
}

/** Reading resumes in the result of a job, after a number of rows of a page. */
type Place = {
  readonly job: SoqlJob
  readonly locator: string | undefined
  readonly row: number
  readonly done: boolean
}

function placeIn(after: Json | undefined): Place | undefined {
  if (!isObject(after)) return undefined
  const [id, created] = [textIn(after.job), numberIn(after.created)]
  if (id === undefined || created === undefined) return undefined
  return {
    job: { id, created },
    locator: textIn(after.locator),
    row: numberIn(after.row) ?? 0,
    done: after.done === true,
  }
}

type Reading = {
  readonly salesforce: Salesforce
  readonly plan: Plan
  readonly context: SourceContext
  readonly onRunning: (job?: SoqlJob) => void
}

async function* readJob(reading: Reading, from: Place | undefined, onTotal: (rows: number) => void) {
  if (from?.done) return
  const { salesforce, plan, context, onRunning } = reading
  const { client } = salesforce
  let place = from
  for (let restarts = 0; ; restarts++) {
    if (!place) {
      const job = await startQuery(client, plan.query.text, plan.deleted)
      place = { job, locator: undefined, row: 0, done: false }
      onRunning(job)
      // Stored before anything else, so that the query is found again after a crash.
      yield chunkOf(plan, [], 0, place, true)
    }
    const end = await awaitQuery(client, place.job, context.signal)
    onRunning()
    if (end.state === 'done') {
      if (end.rows !== undefined) onTotal(end.rows)
      break
    }
    const isBegun = place.locator !== undefined || place.row > 0
    if (end.state === 'gone' && isBegun) throw lost()
    const error = end.state === 'failed' ? queryError(end.code) : undefined
    if (error && (!error.isTransient || error.code === 'rate_limited' || restarts >= restartsMax)) throw error
    if (restarts > restartsMax) throw lost()
    place = undefined
  }
  yield* readPages(reading, place)
}

async function* readPages({ salesforce, plan }: Reading, from: Place): AsyncGenerator<Chunk> {
  const { job } = from
  let { locator, row } = from
  const seen = new Set<string>()
  for (;;) {
    const page = await readPage(salesforce.client, job, locator, pageRows).catch((error) => {
      throw asConnectorError(error)?.code === 'object_not_found' ? lost() : error
    })
    const rows = rowsOf(plan, page.table)
    while (row < rows.length) {
      const until = Math.min(rows.length, row + chunkRows)
      const bytes = Math.round((page.bytes * (until - row)) / rows.length)
      const isLast = until === rows.length
      const next = isLast ? { locator: page.next, row: 0, done: false } : { locator, row: until, done: false }
      // Behind the last page, this one is read again and found to be read.
      const place = isLast && page.next === undefined ? { locator, row: until, done: false } : next
      yield chunkOf(plan, rows.slice(row, until), bytes, { job, ...place }, false)
      row = until
    }
    if (page.next === undefined) break
    if (seen.has(page.next))
      throw new ConnectorError('malformed_response', 'The pages of Salesforce lead back to one that was read.')
    seen.add(page.next)
    locator = page.next
    row = 0
  }
  // Without rows, the cursor is stored too.
  yield chunkOf(plan, [], 0, { job, locator, row, done: true }, true)
}

function chunkOf(plan: Plan, rows: Chunk['rows'], bytes: number, place: Place, settles: boolean): Chunk {
  const { job, locator, row, done } = place
  return {
    columns: plan.query.columns,
    rows,
    bytes,
    checkpoint: {
      job: job.id,
      created: job.created,
      row,
      ...(locator !== undefined && { locator }),
      ...(done && { done }),
    },
    ...(settles && { settles }),
    ...(done && plan.incremental && { cursor: { object: plan.object.name, since: job.created } }),
  }
}

/** Rows in the order of our columns, whatever the order of Salesforce's columns. */
function rowsOf({ query, cells }: Plan, { columns, rows }: TextTable): Chunk['rows'] {
  if (rows.length === 0) return []
  const lower = columns.map((column) => column.toLowerCase())
  const places = query.columns.map((column) => lower.indexOf(column.toLowerCase()))
  if (columns.length !== query.columns.length || places.includes(-1)) {
    throw new ConnectorError('unexpected_response', 'Salesforce returned other columns than the query selects.')
  }
  return rows.map((row) => places.map((place, at) => cells[at]?.(row[place] ?? '') ?? null))
}

const lost = (): ConnectorError =>
  new ConnectorError(
    'source_changed',
    'Salesforce does not have the result of the query any more; it keeps results for 7 days. Start a new transfer.',
  )
