import {
  type Chunk,
  ConnectorError,
  type Json,
  type Row,
  type SourceContext,
  type SourceReader,
} from '@penstock/connector'
import { exactJson } from '../kit/run/report-cells.ts'
import { isObject, type JsonObject, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { type ChangeTime, timeOfRange } from '../platform-api/range.ts'
import { awaitOperation, type BulkOperation, linesOf, openResult, startOperation } from './bulk-operations.ts'
import { openShopify, type Shopify } from './sign-in.ts'
import type { Stream } from './stream-columns.ts'
import { bulkQuery, columnsOf, filterOf, sampleQuery, streamOf } from './stream-query.ts'
import { rowOf, sampleRows, typesOf } from './stream-rows.ts'
import { whyNoRange } from './streams.ts'

const chunkRows = 2_500
const chunkBytes = 1 << 20
const restartsMax = 2
/** Shopify ends an operation after 10 days. The transfer begins to wait again after this time. */
const waitMs = 12 * 60 * 60_000

type Reads = {
  readonly shopify: Shopify
  readonly context: SourceContext
  readonly stream: Stream
  readonly columns: readonly string[]
  readonly query: string
  /** Objects that did not change in this time are skipped. */
  readonly changed: ChangeTime | undefined
  /** Of the next transfer, by the time at which the operation was created. */
  readonly cursorOf: (created: number) => Pick<Chunk, 'cursor'>
}

/**
 * Opens a reader of a stream. A transfer runs the query as a bulk operation and reads its result, which does not change for 7
 * days. A preview requests a few rows. Nothing runs yet.
 */
export async function open(context: SourceContext): Promise<SourceReader> {
  const { settings, sample, range } = context
  const { name, stream } = streamOf(settings)
  const incremental = settings.syncMode === 'Incremental' && !range
  const noRange = range && whyNoRange(name)
  if (noRange) throw new ConnectorError('invalid_setting', `Shopify ${noRange}.`)
  if (incremental && !stream.changes) {
    const message = `Shopify cannot say which ${name.toLowerCase()} changed; set “Rows to read” to All rows for them.`
    throw new ConnectorError('invalid_setting', message)
  }
  const shopify = openShopify(context)
  const { shop } = shopify
  const changed = range ? timeOfRange(range) : incremental ? changedSince(context, name, shop) : undefined
  const conditions = [stream.filter, changed && filterOf(stream, changed)].filter((one) => one !== undefined)
  const filter = conditions.length === 0 ? undefined : conditions.join(' AND ')
  const columns = columnsOf(stream)
  const reads: Reads = {
    shopify,
    context,
    stream,
    columns,
    query: bulkQuery(stream, filter),
    changed,
    cursorOf: (created) => (incremental ? { cursor: { stream: name, shop, since: created } } : {}),
  }
  let objects: number | undefined
  return {
    /** Known when the operation is done. Parent objects of the stream's objects are counted as well. */
    get total() {
      return objects === undefined || stream.child !== undefined ? {} : { rows: objects }
    },
    read: (after) =>
      sample
        ? readSample(shopify, stream, filter)
        : readOperation(reads, placeIn(after), (count) => {
            objects = count
          }),
    close: async () => {},
  }
}

/** The time since the previous transfer, with an overlap. `undefined` if there was no previous transfer. */
function changedSince({ settings, cursor }: SourceContext, name: string, shop: string): ChangeTime | undefined {
  // A cursor of another stream, or another shop, means nothing.
  const before = objectIn(cursor)
  const since = before.stream === name && before.shop === shop ? numberIn(before.since) : undefined
  return since === undefined ? undefined : { fromMs: since - Number(settings.overlapMinutes ?? 10) * 60_000 }
}

/** A few rows, by an ordinary query. */
export async function* readSample(shopify: Shopify, stream: Stream, filter?: string): AsyncGenerator<Chunk> {
  const { data } = await shopify.ask(sampleQuery(stream, filter))
  const rows = sampleRows(stream, data)
  const bytes = Buffer.byteLength(JSON.stringify(data))
  yield { columns: columnsOf(stream), types: typesOf(stream), rows, bytes, checkpoint: 'sample' }
}

/** Reading resumes in the result of an operation, after a byte of it. */
type Place = { readonly id: string; readonly created: number; readonly byte: number; readonly done: boolean }

function placeIn(after: Json | undefined): Place | undefined {
  if (!isObject(after)) return undefined
  const [id, created, byte] = [textIn(after.operation), numberIn(after.created), numberIn(after.byte)]
  if (id === undefined || created === undefined || byte === undefined) return undefined
  return { id, created, byte, done: after.done === true }
}

async function* readOperation(reads: Reads, from: Place | undefined, onObjects: (count: number | undefined) => void) {
  if (from?.done) return
  const { shopify, stream } = reads
  let place = from
  for (let restarts = 0; ; restarts++) {
    if (!place) {
      const { id, created } = await startOperation(shopify, { kind: 'query', text: reads.query })
      place = { id, created, byte: 0, done: false }
      // Stored before anything else, so that the operation is found again after a crash.
      yield chunkOf(reads, [], 0, place, true)
    }
    const end = await awaitOperation(shopify, place.id, { totalMs: waitMs, scopes: stream.scopes })
    if (end.state === 'done') {
      onObjects(end.operation.objects)
      yield* readResult(reads, end.operation, place)
      return
    }
    // Rows of another result would not be those behind the rows that were read.
    if (place.byte > 0) throw lost()
    if (end.state === 'failed' && (!end.error.isTransient || restarts >= restartsMax)) throw end.error
    if (restarts >= restartsMax) throw lost()
    place = undefined
  }
}

async function* readResult(reads: Reads, { url }: BulkOperation, from: Place): AsyncGenerator<Chunk> {
  const { context, stream, changed } = reads
  let place = from
  let rows: Row[] = []
  let counted = from.byte
  if (url !== undefined) {
    const { bytes, at } = await openResult(context, url, from.byte).catch((error) => {
      throw error instanceof ConnectorError && error.code === 'result_expired' ? lost() : error
    })
    for await (const lines of linesOf(bytes, at, from.byte, exactJson)) {
      for (const { item, end } of lines) {
        const row = isWanted(stream, item, changed) ? rowOf(stream, item) : undefined
        if (row) rows.push(row)
        place = { ...place, byte: end }
        if (rows.length < chunkRows && end - counted < chunkBytes) continue
        yield chunkOf(reads, rows, end - counted, place, false)
        rows = []
        counted = end
      }
    }
  }
  if (rows.length > 0) yield chunkOf(reads, rows, place.byte - counted, place, false)
  // Without rows, the cursor is stored too.
  yield chunkOf(reads, [], 0, { ...place, done: true }, true)
}

/** Whether an object changed in time, since Shopify compares some of them by the day. */
function isWanted({ child }: Stream, { updatedAt }: JsonObject, changed: ChangeTime | undefined): boolean {
  if (changed === undefined || child !== undefined) return true
  const at = Date.parse(textIn(updatedAt) ?? '')
  const { fromMs, beforeMs } = changed
  if (Number.isNaN(at)) return true
  // Shopify omits the fractions of a second. The times of a range have no fractions.
  return beforeMs === undefined ? at >= fromMs - 1_000 : at >= fromMs && at < beforeMs
}

function chunkOf(reads: Reads, rows: readonly Row[], bytes: number, place: Place, settles: boolean): Chunk {
  const { columns, stream, cursorOf } = reads
  const { id, created, byte, done } = place
  return {
    columns,
    types: typesOf(stream),
    rows,
    bytes,
    checkpoint: { operation: id, created, byte, ...(done && { done }) },
    ...(settles && { settles }),
    ...(done && cursorOf(created)),
  }
}

const lost = (): ConnectorError =>
  new ConnectorError(
    'source_changed',
    'Shopify does not have the result of the bulk operation any more; it keeps results for 7 days. Start a new transfer.',
  )
