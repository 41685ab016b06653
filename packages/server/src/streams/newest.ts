import { eachColumn } from '@penstock/connector'
import { isStoredInKafka } from '@penstock/connectors'
import { type Showing, shorten } from '@penstock/engine'
import { limits, type StreamEvent, type StreamOutcome, streamConnectorIds } from '@penstock/wire'
import { showingTo } from '../access.ts'
import type { Answer, Call } from '../call.ts'
import type { Database } from '../db/database.ts'
import { refuse } from '../refusal.ts'
import { openDataKey } from '../secrets/data-keys.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { type MasterKey, unseal } from '../secrets/seal.ts'
import { unixSeconds } from '../time.ts'
import { batchPlace, readLine, type StoredEvent, unpackLines } from './lines.ts'
import * as newest from './newest-queries.ts'
import { digestOfMessage } from './open-streams.ts'
import * as queries from './queries.ts'
import type { StreamDeps } from './streams.ts'
import { messageIdOf } from './tracking.ts'
import { viewConsumer, viewFigures } from './view.ts'

/** Shows the newest events of a stream and what became of them. */

/** Bytes of sealed batches that one view opens at once, beyond the newest batch, and that a search opens. */
const sealedBytesMax = 1024 ** 2
const searchedBytesMax = 8 * 1024 ** 2
/** Transfers of a connection that are listed. */
const transfersMax = 100

export async function getStreamEvents(
  { db, actor, account, id, query: { size, view, outcome, q } }: Call<'getStreamEvents'>,
  { keyring }: StreamDeps,
): Promise<Answer<'getStreamEvents'>> {
  const of = { id, accountId: account.id }
  const configuration = { ...of, connectorIds: streamConnectorIds }
  const { settings } = (await queries.findStreamConfiguration.first(db, configuration)) ?? refuse('not_found')
  const showing = showingTo(actor, view)
  const [figures, consumers, found] = await Promise.all([
    queries.streamFigures.first(db, { id }),
    queries.consumersOf.all(db, of),
    newest.findShown.first(db, { id }),
  ])
  const { events, refusals, searched } = found
    ? await shownOf({ db, keyring }, { ...found, id, size, showing, outcome, q })
    : { events: [], refusals: [], searched: q === undefined ? null : 0 }
  const numbers = events.flatMap(({ outcome, number }) => (outcome === 'stored' && number !== null ? [number] : []))
  const first = numbers.at(-1)
  const delivered = first === undefined ? [] : await queries.deliveriesOf.all(db, { ...of, first, limit: transfersMax })
  const transfers = Map.groupBy(delivered, ({ connectionId }) => connectionId)
  const isWhole = showing === 'whole' && numbers.length > 0
  return {
    reply: {
      id,
      ...viewFigures(settings, figures),
      masked: showing === 'masked',
      searched,
      events,
      refusals: refusals.map(({ newestTime, ...refusal }) => ({ ...refusal, newestTime: unixSeconds(newestTime) })),
      consumers: isStoredInKafka(settings)
        ? null
        : consumers.map((consumer) => ({
            ...viewConsumer(consumer),
            transfers: (transfers.get(consumer.connectionId) ?? []).map(({ id, after, last }) => ({ id, after, last })),
          })),
    },
    showsRecords: isWhole,
    ...(isWhole && view !== undefined && { view: { id: view, of: id } }),
  }
}

type Shown = {
  readonly id: string
  readonly number: number
  readonly lastNumber: number
  readonly dataKeyId: string
  readonly size: number
  readonly showing: Showing
  /** Undefined for all outcomes. */
  readonly outcome: StreamOutcome | undefined
  /** Undefined for all events. */
  readonly q: string | undefined
}

async function shownOf(
  { db, keyring }: { readonly db: Database; readonly keyring: Keyring },
  { id, number: stream, lastNumber, dataKeyId, size, showing, outcome, q }: Shown,
) {
  const showsNotes = q === undefined && outcome !== 'stored'
  const [key, notes, refusals] = await Promise.all([
    openDataKey(db, keyring, dataKeyId),
    // A flood of refused requests leaves half of the list to events.
    showsNotes
      ? newest.newestNotes.all(db, {
          stream,
          outcome: outcome ?? null,
          limit: outcome === undefined ? Math.floor(size / 2) : size,
        })
      : [],
    newest.refusalsOf.all(db, { stream }),
  ])
  if (!key) return { events: [], refusals, searched: null }
  if (q !== undefined) {
    if (outcome !== undefined && outcome !== 'stored') return { events: [], refusals, searched: 0 }
    return { ...(await search(db, { id, stream, lastNumber, key, size, showing, q })), refusals }
  }
  const first = Math.max(1, lastNumber - size + 1)
  const batches = await newest.shownBatches.all(db, { stream, first, bytes: sealedBytesMax })
  const stored = await storedIn(batches, { id, key, size })
  const byDigest = new Map(
    stored.flatMap((event) => (event.id === undefined ? [] : [[digestOfMessage({ key }, event.id), event]])),
  )
  const isShown = outcome === undefined || outcome === 'stored'
  const views = isShown ? stored.map((event) => ({ ms: event.receivedMs, event: viewStored(event, showing) })) : []
  for (const note of notes) {
    const original = note.digest === null ? undefined : byDigest.get(note.digest)
    views.push({ ms: note.time.getTime(), event: viewNote(note, original && viewStored(original, showing)) })
  }
  const events = views.toSorted((a, b) => b.ms - a.ms || (b.event.number ?? 0) - (a.event.number ?? 0))
  return { events: events.slice(0, size).map(({ event }) => event), refusals, searched: null }
}

/**
 * The newest stored events that contain a text. It is searched anywhere for an actor who can see values. For others it is
 * searched in the visible name or type, or as the whole message ID, which they must know then.
 */
async function search(
  db: Database,
  {
    id,
    stream,
    lastNumber,
    key,
    size,
    showing,
    q,
  }: Omit<Shown, 'number' | 'dataKeyId' | 'outcome' | 'q'> & {
    readonly stream: number
    readonly key: MasterKey
    readonly q: string
  },
): Promise<{ events: StreamEvent[]; searched: number }> {
  const wanted = q.toLowerCase()
  // The text as it is in a value, and as a person copies it from the JSON.
  const forms = new Set([wanted, JSON.stringify(wanted).slice(1, -1)])
  const events: StreamEvent[] = []
  let [searched, bytes] = [0, 0]
  for (let before = lastNumber + 1; events.length < size && bytes < searchedBytesMax; ) {
    const batches = await newest.batchesBefore.all(db, { stream, before, bytes: sealedBytesMax })
    for (const { firstNumber, count, sealed } of batches) {
      before = firstNumber
      searched += count
      bytes += sealed.length
      const isFound = (line: string) => {
        const text = line.toLowerCase()
        return [...forms].some((form) => text.includes(form))
      }
      for (const event of await openBatch({ firstNumber, count, sealed }, { id, key, isFound })) {
        const view = viewStored(event, showing)
        const isShown =
          showing === 'whole' ||
          event.id === q ||
          [view.name, view.type].some((one) => one?.toLowerCase().includes(wanted))
        if (isShown && event.value !== undefined) events.push(view)
        if (events.length === size) return { events, searched }
      }
      if (bytes >= searchedBytesMax) break
    }
    if (batches.length === 0) break
  }
  return { events, searched }
}

type NumberedEvent = StoredEvent & { readonly number: number; readonly id: string | undefined; readonly bytes: number }

/** The newest events of batches, newest first. */
async function storedIn(
  batches: readonly { firstNumber: number; count: number; sealed: Buffer }[],
  { id, key, size }: { id: string; key: MasterKey; size: number },
): Promise<NumberedEvent[]> {
  const events: NumberedEvent[] = []
  for (const batch of batches) {
    for (const event of await openBatch(batch, { id, key })) {
      if (events.length === size) return events
      events.push(event)
    }
  }
  return events
}

/**
 * The events of a batch, newest first, each parsed when it is requested. @param isFound which lines are read; by default all
 */
async function openBatch(
  { firstNumber, count, sealed }: { firstNumber: number; count: number; sealed: Buffer },
  { id, key, isFound = () => true }: { id: string; key: MasterKey; isFound?: (line: string) => boolean },
): Promise<Iterable<NumberedEvent>> {
  const lines = await unpackLines(unseal(key, batchPlace(id, firstNumber, count), sealed), count)
  return (function* () {
    for (let at = count - 1; at >= 0; at--) {
      const line = lines[at] ?? ''
      if (!isFound(line)) continue
      const event = readLine(line)
      const own = messageIdOf((event.value as { messageId?: unknown } | undefined)?.messageId)
      yield { ...event, number: firstNumber + at, id: event.more.id ?? own, bytes: Buffer.byteLength(line) }
    }
  })()
}

function viewStored({ number, receivedMs, value, more, id, bytes }: NumberedEvent, showing: Showing): StreamEvent {
  const { type, event, name } = (value ?? {}) as Readonly<Record<string, unknown>>
  const isPlace = type === 'page' || type === 'screen'
  return {
    time: Math.floor(receivedMs / 1000),
    outcome: 'stored',
    reason: null,
    number,
    events: 1,
    bytes,
    messageId: id === undefined ? null : shorten(id, true, showing),
    type: nameOf(type),
    name: nameOf(event) ?? (isPlace ? nameOf(name) : null),
    test: more.test === true,
    value: value === undefined ? null : cut(JSON.stringify(showing === 'whole' ? value : maskOf(value))),
  }
}

const viewNote = (
  { time, outcome, reason, events, bytes }: newest.ShownNoteRow,
  original: StreamEvent | undefined,
): StreamEvent => ({
  time: unixSeconds(time),
  outcome,
  reason,
  number: original?.number ?? null,
  events,
  bytes,
  messageId: original?.messageId ?? null,
  type: original?.type ?? null,
  name: original?.name ?? null,
  test: original?.test ?? false,
  value: null,
})

/**
 * Names of events are few, and known to everyone who can see the stream. A name that looks like a person's identifier is a
 * mask.
 */
const nameOf = (name: unknown): string | null =>
  typeof name === 'string' && name !== '' ? shorten(name.toWellFormed(), false) : null

const cut = (text: string): string => {
  const whole = text.toWellFormed()
  return whole.length > limits.streamEventLengthMax ? `${whole.slice(0, limits.streamEventLengthMax)}…` : whole
}

/** An event with its keys, and masks of its values. */
function maskOf(event: object): object {
  const masked: Record<string, unknown> = Object.create(null)
  eachColumn(event, (column, value) => {
    const path = column.split('.')
    let place = masked
    for (const key of path.slice(0, -1)) {
      // A key can have a dot.
      if (typeof place[key] !== 'object') place[key] = Object.create(null)
      place = place[key] as Record<string, unknown>
    }
    place[path.at(-1) ?? column] = shorten(typeof value === 'object' ? JSON.stringify(value) : (value as string), true)
  })
  return masked
}
