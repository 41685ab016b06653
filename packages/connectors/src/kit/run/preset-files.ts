import {
  type Batch,
  type Chunk,
  ConnectorError,
  type DestinationContext,
  type DestinationWriter,
  type Json,
  type Rejection,
  type Row,
  type SourceContext,
  type SourceReader,
  type Values,
} from '@penstock/connector'
import {
  type Encoder,
  type FileStore,
  gzipPiece,
  mayBeInexact,
  parseExactJson,
  plannedAmong,
  readFiles,
  type StoredFile,
  writeFiles,
} from '@penstock/connector/files'
import { makeS3Client } from '../../amazon-s3/s3-client.ts'
import { s3Objects } from '../../amazon-s3/s3-objects.ts'
import { s3Upload } from '../../amazon-s3/s3-upload.ts'
import { listingBounds } from '../../object-stores/listing.ts'
import { fileStoreOf, type ObjectStore } from '../../object-stores/object-store.ts'
import { placeOf } from '../../object-stores/place.ts'
import { isObject, type JsonObject } from '../../platform-api/json.ts'
import { readRows } from '../../platform-api/rows/events.ts'
import type { PresetDestination, PresetLines, PresetSource } from '../preset-facts.ts'
import { openCompletion } from './preset-completion.ts'

/** Opens the files of a preset that the last transfer of the connection did not read. */
export async function openPreset(preset: PresetSource, context: SourceContext): Promise<SourceReader> {
  const { bucket, path } = placeOf(context.settings.bucketUri, 's3', 'The bucket URI')
  const { startAfter } = context.settings
  const first = startAfter === undefined ? undefined : preset.order(placeOf(startAfter, 's3', 'Start after').path)
  const store = s3Objects(makeS3Client(context), bucket)
  const found = await filesBelow(store, path === '' || path.endsWith('/') ? path : `${path}/`)
  return readNew(preset, context, { ...fileStoreOf(store, path, 'CSV'), list: async () => found }, first)
}

/** The state of a connection between two transfers. */
type PresetCursor = { readonly after: string }

/**
 * Reads the files of a store whose names match the data files and come after the last one. Only the last chunk has a cursor. A
 * transfer that ends before it is repeated as a whole, and no file is skipped.
 * @param first where the first transfer begins
 */
export async function readNew(
  { layout, names, order, isSettled }: PresetSource,
  context: SourceContext,
  store: FileStore,
  first?: string,
): Promise<SourceReader> {
  const options = layout(context.settings)
  const after = (context.cursor as PresetCursor | undefined)?.after ?? first ?? ''
  const lastOf = (name: string) => name.slice(name.lastIndexOf('/') + 1)
  const nowMs = Date.now()
  const listed = (await store.list()).filter(
    ({ name }) => names.test(lastOf(name)) && order(name) > after && (isSettled?.(name, nowMs) ?? true),
  )
  const found = plannedAmong(store, listed, context.plan)
  if (found.length === 0 && context.plan === undefined)
    return { read: async function* () {}, close: async () => store.close?.() }
  const latest = found.map(({ name }) => order(name)).reduce((a, b) => (a > b ? a : b), after)
  const cursor: Json = { after: latest } satisfies PresetCursor
  const reader = await readFiles(
    context,
    { ...store, list: async () => found },
    { format: 'CSV', encoding: 'utf-8', ...('rowsOf' in options ? wholeLines : options) },
  )
  return {
    ...reader,
    async *read(from) {
      let held: Chunk | undefined
      for await (const chunk of 'rowsOf' in options ? rowsIn(reader.read(from), options) : reader.read(from)) {
        if (held) yield held
        held = chunk
      }
      if (held) yield { ...held, cursor }
    },
  }
}

/** A line of JSON as one cell. */
const wholeLines = { columns: ['line'], lines: true } as const

/** The rows of lines. A line that is not a JSON object is a faulty row. Chunks without rows are skipped. */
async function* rowsIn(chunks: AsyncIterable<Chunk>, { columns, rowsOf }: PresetLines): AsyncGenerator<Chunk> {
  let bytes = 0
  for await (const chunk of chunks) {
    const rows: Row[] = []
    const errors = new Map<number, string>()
    for (const [index, [cell]] of chunk.rows.entries()) {
      const text = String(cell ?? '')
      const line = text.trim() === '' ? undefined : exactObject(text)
      const error = chunk.errors?.get(index) ?? (line === null ? 'The line is not a JSON object.' : undefined)
      if (error !== undefined) {
        errors.set(rows.length, error)
        rows.push(columns.map(() => null))
      } else if (line) {
        for (const row of rowsOf(line)) rows.push(row)
      }
    }
    bytes += chunk.bytes
    if (rows.length === 0) continue
    yield { ...chunk, columns, rows, errors, bytes }
    bytes = 0
  }
}

/** An object whose numbers keep all their digits. `null` if the text is not an object. */
function exactObject(text: string): JsonObject | null {
  try {
    const value: unknown = mayBeInexact(text) ? parseExactJson(text) : JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** All objects below a folder, in all of its folders. Throws `too_many_files`. */
async function filesBelow(store: ObjectStore, top: string): Promise<StoredFile[]> {
  const found: StoredFile[] = []
  const folders = [top]
  for (let folder = folders.pop(), listed = 1; folder !== undefined; folder = folders.pop()) {
    const seen = new Set<string>()
    let token: string | undefined
    do {
      const page = await store.page(folder, token)
      found.push(...page.files)
      for (const name of page.folders ?? []) if (name.startsWith(folder) && name !== folder) folders.push(name)
      token = page.next
      listed += 1
      const endless = token !== undefined && seen.has(token)
      if (endless || listed > foldersMax || found.length > listingBounds.files) throw tooMany(top)
      if (token !== undefined) seen.add(token)
    } while (token !== undefined)
  }
  return found
}

/** Pages of listings that a transfer asks for: a folder for each hour of more than a year. */
const foldersMax = 10_000

const tooMany = (top: string): ConnectorError =>
  new ConnectorError('too_many_files', `There are too many files and folders in ${top}. Enter a subfolder.`)

/** Opens the one file that a transfer writes. If no row can be sent, the transfer leaves no file. */
export async function writePreset(preset: PresetDestination, context: DestinationContext): Promise<DestinationWriter> {
  const { settings, transferId, startedTime } = context
  const { bucket, path } = placeOf(settings.outputPath, 's3', 'The output path')
  const folder = path === '' || path.endsWith('/') ? path : `${path}/`
  const key = `${folder}${preset.name(settings, Date.parse(startedTime))}`
  const contentType = preset.gzip ? 'application/gzip' : 'text/plain; charset=utf-8'
  const client = makeS3Client(context)
  const sink = s3Upload(client, { bucket, key, contentType, transferId })
  const names = preset.completion?.(Date.parse(startedTime))
  const completion =
    names &&
    openCompletion(client, {
      bucket,
      key,
      checksum: folder + names.checksum,
      done: folder + names.done,
      transferId,
    })
  const writer = await writeFiles(
    context,
    () => ({
      ...sink,
      async publish(states) {
        if (states.length === 0) return
        await completion?.assertFree()
        await sink.publish(states)
        await completion?.write()
      },
    }),
    { extension: '', encoder: linesOf(preset.gzip) },
  )
  return {
    ...writer,
    async deliver(batch) {
      const { rows, rejected } = readRows(batch, (row) => preset.line(row, settings))
      const lines = rows.map((line) => [line])
      if (lines.length > 0) await completion?.assertFree()
      // A part has at least one byte.
      const delivery = lines.length === 0 ? { bytes: 0 } : await writer.deliver({ ...batch, rows: lines })
      return { ...delivery, ...(rejected.length > 0 && { rejected }) }
    },
  }
}

/** The rows that are rejected before a line is written. */
export const rejectionsOf =
  (preset: PresetDestination, settings: Values) =>
  (batch: Batch): readonly Rejection[] =>
    readRows(batch, (row) => preset.line(row, settings)).rejected

const linesOf = (gzip: boolean): Encoder => ({
  encode: async (rows) => {
    const bytes = Buffer.from(rows.map(([line]) => `${line}\n`).join(''))
    return { bytes: gzip ? await gzipPiece(bytes) : bytes }
  },
  end: async () => undefined,
})
