import { type Chunk, ConnectorError, type Json, type SourceContext, type SourceReader } from '@penstock/connector'
import { type JsonObject, numberIn, objectIn, textIn } from '../../platform-api/json.ts'
import { pagesOf } from '../../platform-api/polling.ts'
import { openApi } from '../api/api.ts'
import { columnsOf, rowOf } from '../api/records.ts'
import { definitionOf } from '../definition/parse-definition.ts'
import { type ApiPage, pageReader } from './pages.ts'
import { partitionsOf } from './partitions.ts'
import { type Span, spanOf, streamOf, valuesOf, windowsIn } from './plan.ts'

/** Rows of a chunk, and their bytes as JSON, at most. */
const rowsMax = 2_000
const bytesMax = 1 << 20

/** Where a reading is: what its next chunk begins with. */
type Place = {
  readonly span: Span | undefined
  readonly columns: readonly string[] | undefined
  readonly partition: string | undefined
  readonly window: number
  /** The cursor that leads to the page; `undefined` for the first one. */
  readonly page: string | undefined
  /** Rows of the page that were read. */
  readonly skip: number
  /** Whether the window was read to its end. */
  readonly isOver: boolean
}

/** Opens a stream. Asks for nothing before it is read. Throws `invalid_setting` and `invalid_address`. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const definition = definitionOf(context)
  const stream = streamOf(definition, context.settings.stream)
  const api = openApi(context)
  const sample = context.sample !== undefined

  async function* chunks(after: Json | undefined): AsyncGenerator<Chunk> {
    const place = placeOf(after)
    const span = place ? place.span : spanOf(context, stream, context.cursor, Date.now())
    let columns = place?.columns ?? stream.columns
    const partitions = await partitionsOf({ api, definition, span, context, sample }, stream)
    const nowMs = span?.untilMs ?? Date.now()
    const windows = windowsIn(stream, span)
    for (const partition of partitions) {
      const key = partition?.key
      if (place?.partition !== undefined && (key ?? '') < place.partition) continue
      const isThere = place !== undefined && key === place.partition
      for (const [window, time] of windows.entries()) {
        const isHere = isThere && window === place.window
        if (isThere && (window < place.window || (isHere && place.isOver))) continue
        const read = pageReader(api, stream, valuesOf(partition, time, nowMs))
        let skip = isHere ? place.skip : 0
        for await (const page of pagesOf(read, isHere ? place.page : undefined)) {
          if (page.items.length > 0) columns ??= columnsOf(page.items)
          const here = { span, columns, partition: key, window }
          for (const [chunk, next] of piecesOf(page, columns ?? [], skip)) {
            yield { ...chunk, checkpoint: checkpointOf({ ...here, ...next }) }
          }
          skip = 0
        }
      }
    }
  }

  return {
    async *read(after) {
      context.signal.throwIfAborted()
      const keepsCursor = context.settings.syncMode === 'Incremental' && !context.range
      let held: Chunk | undefined
      for await (const chunk of chunks(after)) {
        if (held) yield held
        held = chunk
      }
      if (!held) return
      // The last chunk has the place of the next transfer. Without rows there is none, and the next one reads the same time again.
      const span = keepsCursor ? placeOf(held.checkpoint)?.span : undefined
      yield span ? { ...held, cursor: { untilMs: span.untilMs } } : held
    },
    async close() {},
  }
}

/** A page as chunks, each with what the next one begins with. */
function* piecesOf(
  { items, next, bytes, cursor }: ApiPage & { readonly cursor: string | undefined },
  columns: readonly string[],
  skip: number,
): Generator<readonly [Omit<Chunk, 'checkpoint'>, Pick<Place, 'page' | 'skip' | 'isOver'>]> {
  for (let at = skip; at < items.length; ) {
    const rows = []
    let size = 0
    const from = at
    for (; at < items.length && rows.length < rowsMax && size < bytesMax; at++) {
      const row = rowOf(items[at] as JsonObject, columns)
      rows.push(row)
      size += row.reduce<number>((sum, cell) => sum + (typeof cell === 'string' ? cell.length : 8), 0)
    }
    const isLast = at === items.length
    const share = Math.round((bytes * (at - from)) / items.length)
    const after = isLast
      ? { page: next, skip: 0, isOver: next === undefined }
      : { page: cursor, skip: at, isOver: false }
    yield [{ columns, rows, bytes: share }, after]
  }
}

function checkpointOf({ span, columns, partition, window, page, skip, isOver }: Place): Json {
  return {
    ...(span && { span: { startMs: span.startMs, untilMs: span.untilMs } }),
    columns: [...(columns ?? [])],
    partition: partition ?? null,
    window,
    page: page ?? null,
    skip,
    isOver,
  }
}

function placeOf(checkpoint: Json | undefined): Place | undefined {
  if (checkpoint === undefined) return undefined
  const { span, columns, partition, window, page, skip, isOver } = objectIn(checkpoint)
  const { startMs, untilMs } = objectIn(span)
  const [start, until] = [numberIn(startMs), numberIn(untilMs)]
  if (!Array.isArray(columns)) {
    throw new ConnectorError('source_changed', 'The checkpoint is not one of this connector; start a new transfer.')
  }
  return {
    span: start === undefined || until === undefined ? undefined : { startMs: start, untilMs: until },
    columns: columns.map(String),
    partition: typeof partition === 'string' ? partition : undefined,
    window: numberIn(window) ?? 0,
    page: textIn(page),
    skip: numberIn(skip) ?? 0,
    isOver: isOver === true,
  }
}
