import {
  type Cell,
  type Chunk,
  ConnectorError,
  type Json,
  type Row,
  type SourceContext,
  type SourceReader,
  type Values,
} from '@penstock/connector'
import { type PlatformClient, wait } from '../platform-api/client.ts'
import { isObject, type JsonObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { cursorIn } from '../platform-api/next-page.ts'
import { pagesOf } from '../platform-api/polling.ts'
import { timeOfRange } from '../platform-api/range.ts'
import { paths } from './api.ts'
import { readProperties } from './properties.ts'
import { associatedTypesIn, associationColumn, readAssociationsOf } from './read-associations.ts'
import { modifiedProperty, objectTypeOf, ownerFields, owners, propertiesOf, recordId } from './settings.ts'
import { openHubSpot } from './sign-in.ts'

/** Most records of a page (HubSpot's reference of its lists and of its search). */
const listSize = 100
const searchSize = 200
/** HubSpot allows five searches per second for the whole account, so this uses at most four. */
const searchEveryMs = 250
/** More pages than this do not end. */
const pagesMax = 1_000_000

/** The parts of a transfer, one after the other. */
type Part = 'live' | 'changed' | 'archived'

/** Reading resumes in a part, after a place of it. */
type Place = {
  readonly part: Part
  /** A cursor of HubSpot's list, or the ID of the last record of a search. */
  readonly after: string | null
  /** The fixed end of the time that this transfer covers, included, in milliseconds since 1970. */
  readonly untilMs: number
}

type Records = { readonly records: readonly JsonObject[]; readonly next: string | undefined; readonly bytes: number }

/**
 * Reads records of one object type. A full read pages through HubSpot's list. An incremental read searches records that changed
 * between two times, in the order of their IDs and after the last ID of the previous page. So no search needs more than one
 * page, the limit of 10,000 results does not matter, and records with the same time need no special treatment. The next
 * transfer begins at the beginning of this one, minus an overlap, because HubSpot's search finds a change only after a while. A
 * range is read in the same way.
 */
export async function open(context: SourceContext): Promise<SourceReader> {
  const { settings, cursor, range } = context
  const [type, names] = [objectTypeOf(settings), propertiesOf(settings)]
  const client = await openHubSpot(context)
  const { known, clockMs } = await knownProperties(client, type)
  const others = associatedTypesIn(settings)
  if (type === owners) assertPlain(context, others)
  const unknown = names.filter((name) => !known.has(name))
  if (unknown.length > 0) {
    const message = `HubSpot has no property ${unknown.slice(0, 5).join(', ')} of this object type; correct “Properties”.`
    throw new ConnectorError('invalid_setting', message)
  }
  const incremental = settings.syncMode === 'Incremental' && !range
  // It means nothing for another object type, which is read from its beginning.
  const since = isObject(cursor) && incremental && cursor.type === type ? numberIn(cursor.since) : undefined
  const asked = range && timeOfRange(range)
  const from = asked?.fromMs ?? since
  const withArchived = settings.archived === true
  const columns = [recordId, ...names, ...others.map(associationColumn), ...(withArchived ? ['archived'] : [])]
  const reads = { client, type, names, others, columns, withArchived, context }
  return {
    read: (after) => {
      const ends = [clockMs, asked && asked.beforeMs - 1].filter((ms) => ms !== undefined)
      const untilMs = Math.min(Date.now(), ...ends)
      const first: Part = from === undefined ? 'live' : 'changed'
      const place = placeIn(after) ?? { part: first, after: null, untilMs }
      const next = incremental ? { cursor: { type, since: place.untilMs - overlapMsOf(settings) } } : {}
      return after === 'done' ? none() : lastWith(next, reads.columns, chunks(reads, place, from))
    },
    close: async () => {},
  }
}

/** The names of the properties, and the clock of HubSpot if its answer has it. */
async function knownProperties(client: PlatformClient, type: string) {
  if (type === owners) return { known: new Set<string>(ownerFields), clockMs: undefined }
  const { properties, clockMs } = await readProperties(client, type)
  return { known: new Set(properties.map(({ name }) => name)), clockMs }
}

/** Throws `invalid_setting` unless owners are read as they can be: all of them, without associations. */
function assertPlain({ settings, range }: SourceContext, others: readonly string[]): void {
  if (range) throw new ConnectorError('invalid_setting', 'Owners have no range. Start a transfer without a range.')
  if (settings.syncMode === 'Incremental') {
    throw new ConnectorError(
      'invalid_setting',
      'HubSpot cannot say which owners changed. Set “Rows to read” to All rows.',
    )
  }
  if (others.length > 0)
    throw new ConnectorError('invalid_setting', 'Owners have no associations. Clear “Associations”.')
}

async function* none(): AsyncGenerator<Chunk> {}

const overlapMsOf = ({ overlapMinutes }: Values): number => Number(overlapMinutes ?? 10) * 60_000

function placeIn(after: Json | undefined): Place | undefined {
  if (!isObject(after)) return undefined
  const { part, after: at, untilMs } = after
  if (part !== 'live' && part !== 'changed' && part !== 'archived') return undefined
  return { part, after: textIn(at) ?? null, untilMs: numberIn(untilMs) ?? 0 }
}

/** The chunks, of which the last one says that it is, and where the next transfer begins. Without a row, one names the columns. */
async function* lastWith(
  next: Pick<Chunk, 'cursor'>,
  columns: readonly string[],
  chunks: AsyncIterable<Chunk>,
): AsyncGenerator<Chunk> {
  let held: Chunk = { columns, rows: [], bytes: 0, checkpoint: null }
  for await (const chunk of chunks) {
    if (held.rows.length > 0) yield held
    held = chunk
  }
  yield { ...held, ...next, checkpoint: 'done' }
}

type Reads = {
  readonly client: PlatformClient
  readonly type: string
  readonly names: readonly string[]
  /** The types of records whose associations are read. */
  readonly others: readonly string[]
  readonly columns: readonly string[]
  readonly withArchived: boolean
  readonly context: SourceContext
}

/** The pages that have rows, each as a chunk. */
async function* chunks(reads: Reads, place: Place, sinceMs: number | undefined): AsyncGenerator<Chunk> {
  const { client, type, names, others, columns, withArchived } = reads
  const { untilMs } = place
  // A range can begin later than now.
  if (sinceMs !== undefined && sinceMs > untilMs) return
  const parts: readonly Part[] = [
    sinceMs === undefined ? 'live' : 'changed',
    ...(withArchived ? ['archived' as const] : []),
  ]
  for (const part of parts.slice(Math.max(0, parts.indexOf(place.part)))) {
    const read = part === 'changed' ? searching(reads, sinceMs ?? 0, untilMs) : listing(reads, part === 'archived')
    let after = part === place.part ? (place.after ?? undefined) : undefined
    for (let pages = 0; ; pages++) {
      const { records, next, bytes } = await read(after)
      if (next !== undefined && (next === after || pages >= pagesMax)) throw endless()
      const kept =
        part === 'archived' && sinceMs !== undefined ? records.filter(archivedWithin(sinceMs, untilMs)) : records
      // HubSpot removes the associations of a record that is archived.
      const associated =
        others.length === 0 || kept.length === 0 || part === 'archived'
          ? undefined
          : await readAssociationsOf(
              client,
              type,
              others,
              kept.map(({ id }) => String(id)),
            )
      const rows = kept.map((record) => [
        ...rowOf(record, names),
        ...(associated?.cells.get(String(record.id)) ?? others.map(() => null)),
        ...(withArchived ? [part === 'archived'] : []),
      ])
      const nextPart = parts[parts.indexOf(part) + 1]
      const checkpoint: Json =
        next !== undefined
          ? { part, after: next, untilMs }
          : nextPart
            ? { part: nextPart, after: null, untilMs }
            : 'done'
      if (rows.length > 0) yield { columns, rows, bytes: bytes + (associated?.bytes ?? 0), checkpoint }
      if (next === undefined) break
      after = next
    }
  }
}

const endless = () =>
  new ConnectorError(
    'malformed_response',
    'The list of HubSpot does not end, or is not in the order that was asked for.',
  )

/** Pages of HubSpot's own list: every record that is there, or every archived one. */
const listing = ({ client, type, names }: Reads, archived: boolean) => {
  const query = {
    limit: String(listSize),
    ...(type !== owners && { properties: names.join() }),
    ...(archived && { archived: 'true' }),
  }
  const path = type === owners ? paths.owners : paths.objects(type)
  return async (after: string | undefined): Promise<Records> => {
    const { json: answered, text } = await client.askObject({ path, query: { ...query, after } })
    const json = type === owners ? asRecords(answered) : answered
    return { records: recordsIn(json, listSize), next: nextOf(json), bytes: Buffer.byteLength(text) }
  }
}

/** Owners as records, whose properties are their fields. */
const asRecords = ({ results, ...rest }: JsonObject): JsonObject => ({
  ...rest,
  results: Array.isArray(results) ? results.map((owner) => ({ id: objectIn(owner).id, properties: owner })) : results,
})

/** Pages of a search for changes between two times, both included, each page after the last ID of the previous one. */
const searching = ({ client, type, names, context }: Reads, sinceMs: number, untilMs: number) => {
  const propertyName = modifiedProperty(type)
  const between = { propertyName, operator: 'BETWEEN', value: String(sinceMs), highValue: String(untilMs) }
  let freeAtMs = 0
  return async (after: string | undefined): Promise<Records> => {
    const behind = after === undefined ? [] : [{ propertyName: recordId, operator: 'GT', value: after }]
    const body = {
      filterGroups: [{ filters: [between, ...behind] }],
      sorts: [{ propertyName: recordId, direction: 'ASCENDING' }],
      properties: names,
      limit: searchSize,
    }
    const path = `${paths.objects(type)}/search`
    // A page without records can lead to one with records.
    const read = async (at: string | undefined) => {
      const waitMs = freeAtMs - performance.now()
      if (waitMs > 0) await wait(waitMs, context.signal)
      freeAtMs = performance.now() + searchEveryMs
      const asked = { ...body, ...(at !== undefined && { after: at }) }
      const { json, text } = await client.askObject({ method: 'POST', path, body: asked, repeatable: true })
      return { items: recordsIn(json, searchSize), next: nextOf(json), bytes: Buffer.byteLength(text) }
    }
    let page: Records = { records: [], next: undefined, bytes: 0 }
    for await (const { items, next, bytes } of pagesOf(read)) {
      const last = lastIdOf(items, after)
      page = { records: items, next: next === undefined ? undefined : last, bytes: page.bytes + bytes }
      if (items.length > 0) break
    }
    return page
  }
}

/** The cursor of the next page. Throws `malformed_response` if there is a next page that cannot be requested. */
function nextOf({ paging }: JsonObject): string | undefined {
  const { next } = objectIn(paging)
  return next === undefined || next === null ? undefined : cursorIn(textIn(objectIn(next).after) ?? '', 'HubSpot')
}

/** The ID of the last record. Throws `malformed_response` unless the IDs ascend, since records between them would be missed. */
function lastIdOf(records: readonly JsonObject[], after: string | undefined): string | undefined {
  let last = after
  for (const { id } of records) {
    const next = String(id)
    if (!/^\d{1,20}$/.test(next) || (last !== undefined && BigInt(next) <= BigInt(last))) throw endless()
    last = next
  }
  return last
}

function recordsIn({ results }: JsonObject, most: number): readonly JsonObject[] {
  const records = listIn(results).filter(isObject)
  const whole = Array.isArray(results) && records.length === results.length && records.length <= most
  if (whole && records.every(({ id, properties }) => textIn(id) !== undefined && isObject(properties))) return records
  throw new ConnectorError('malformed_response', 'HubSpot answered with something other than records.')
}

const archivedWithin =
  (sinceMs: number, untilMs: number) =>
  ({ archivedAt }: JsonObject): boolean => {
    const at = Date.parse(textIn(archivedAt) ?? '')
    return Number.isNaN(at) || (at >= sinceMs && at <= untilMs)
  }

const rowOf = ({ id, properties }: JsonObject, names: readonly string[]): Row => {
  const values = objectIn(properties)
  return [textIn(id) ?? null, ...names.map((name) => cellOf(Object.hasOwn(values, name) ? values[name] : null))]
}

/** HubSpot returns every value as a text. */
const cellOf = (value: unknown): Cell => {
  if (value === undefined || value === null) return null
  return typeof value === 'string' || typeof value === 'boolean' ? value : (textIn(value) ?? JSON.stringify(value))
}
