import type { IncomingHttpHeaders } from 'node:http'
import { isIPv6 } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { entriesOf, rangesOf } from '@penstock/connectors'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { Notices } from '../db/notices.ts'
import type { Logger } from '../log.ts'
import { refuse, refuseFieldErrors } from '../refusal.ts'
import type { Runners } from '../runners/runner-pool.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { networkOf } from '../tokens/attempts.ts'
import { errorOfEvent, tooMany } from './body.ts'
import { eventBounds } from './bounds.ts'
import { EventCommits } from './commits.ts'
import { messageIdAt } from './event-ids.ts'
import { type FoundStream, StreamFinder } from './find-streams.ts'
import { KeptBytes } from './kept-bytes.ts'
import { type EventLine, lineOf } from './lines.ts'
import { StreamNotes } from './notes.ts'
import { digestOfMessage, type OpenStream, OpenStreams } from './open-streams.ts'
import { idReader, type RequestContent, readRequest } from './read-request.ts'
import { ReadTurns } from './read-turns.ts'
import { reasonOf } from './refusal-reasons.ts'
import { eventsOf, messageOf, openAnswer } from './sent-messages.ts'
import type { ChallengeAnswer } from './signatures/challenges.ts'
import { type SignedIds, StreamSigning, type UncheckedRequest } from './signing.ts'
import type { TopicEvent } from './to-kafka/topic-writer.ts'
import { putsOnTopic, TopicWriters } from './to-kafka/topic-writers.ts'
import { messageIdOf } from './tracking.ts'
import { InProgress, type Rate, Rates } from './walls.ts'

/** Requests with events, from the first header to the answer. */

/** The part of a request before its body. */
type RequestHead = {
  /** The write key. Undefined if it can only be in the body. */
  readonly key: string | undefined
  /** The stream that the address names. */
  readonly streamId: string | undefined
  readonly origin: string | undefined
  readonly address: string
  /** Bytes of the body, if they are known. */
  readonly bytes: number | undefined
}

type ReceivedEvents = {
  readonly accepted: number
  /** Absent if repeated events are not found. */
  readonly duplicates?: number
  /** Events that were not stored, by their place in the request. */
  readonly refused: readonly { readonly index: number; readonly reason: string }[]
  /** The body that the sender expects, if it expects one. */
  readonly answer?: object
}

type Admission = {
  /** Refuses with `unauthorized` if the stream requires a signature that the request does not have. */
  receive(request: RequestContent): Promise<ReceivedEvents>
  /** The answer to a handshake of the sender. `undefined` if the request is not a handshake. */
  challenge(request: RequestContent): Promise<ChallengeAnswer | undefined>
  release(): void
}

type ReceiverDeps = {
  readonly database: Database
  readonly notices: Notices
  readonly keyring: Keyring
  readonly config: Pick<Config, 'streams'>
  readonly runners: Runners
  readonly log: Logger
}

/** How long the refusal of a sender waits that has sent too much, in milliseconds, and how many wait at most. */
const refusalMs = 500
const slowedMax = 1_000

/** Creates what receives events. Every refusal is of the client, or says when to come back. */
export function createEventReceiver(deps: ReceiverDeps) {
  const receiver = new EventReceiver(deps)
  return {
    admit: (head: RequestHead): Promise<Admission> => receiver.admit(head),
    /** Whether a write key exists and its stream accepts events. */
    isOpen: (key: string): Promise<boolean> => receiver.isOpen(key),
    /** Stores a call of the tracking API as a test. Refuses with `not_found` and `rate_limited` as for a sender. */
    test: (streamId: string, event: object): Promise<void> => receiver.test(streamId, event),
    /** Stores what waits. */
    close: (): Promise<void> => receiver.close(),
  }
}

class EventReceiver {
  readonly #finder: StreamFinder
  readonly #opened: OpenStreams
  readonly #commits: EventCommits
  readonly #topics: TopicWriters
  readonly #kept: KeptBytes
  readonly #signing: StreamSigning
  readonly #notes: StreamNotes
  readonly #perSecond: number
  readonly #rates = new Rates()
  readonly #inProgress = new InProgress(eventBounds.inProgress)
  readonly #turns = new ReadTurns()
  /** Refusals that wait. */
  #slowed = 0

  constructor({ database, notices, keyring, config, runners, log }: ReceiverDeps) {
    this.#finder = new StreamFinder(database, notices)
    this.#opened = new OpenStreams({ database, keyring })
    this.#notes = new StreamNotes(database, log)
    this.#commits = new EventCommits(database, this.#notes, log)
    this.#topics = new TopicWriters({ database, keyring, runners, log, topicsMax: config.streams.topics })
    this.#kept = new KeptBytes(database, config.streams)
    this.#signing = new StreamSigning({ database, keyring })
    this.#perSecond = config.streams.eventsPerSecond
  }

  async close(): Promise<void> {
    await Promise.all([this.#commits.close(), this.#topics.close()])
    await this.#notes.close()
  }

  async isOpen(key: string): Promise<boolean> {
    const stream = await this.#finder.byKey(key)
    return stream !== undefined && isReceiving(stream)
  }

  /** Lets a request in before its body is read: refuses with the codes of {@link EventReceiver.#findOpen}. */
  async admit(head: RequestHead): Promise<Admission> {
    const receivedMs = Date.now()
    const { key, streamId, address } = head
    const bytes = Math.max(eventBounds.request, Math.min(head.bytes ?? eventBounds.body, eventBounds.body))
    const isKeyless = key === undefined && streamId === undefined
    const { stream, giveBack } = await this.#noting({ head, key }, async () => {
      if ((head.bytes ?? 0) > eventBounds.body) {
        refuse('payload_too_large', [{ field: 'body', message: `has more than ${eventBounds.body} bytes` }])
      }
      const stream = isKeyless ? undefined : await this.#findOpen(head, key)
      return { stream, giveBack: this.#inProgress.take(namesOf(stream, address), bytes) }
    })
    const taken = [giveBack]
    const names = namesOf(stream, address)
    return {
      receive: async (request) => {
        const growBy = (more: number) => void taken.push(this.#inProgress.take(names, more))
        const noted = { head, key, bytes: 'body' in request.content ? request.content.body.length : undefined }
        const received = await this.#noting(noted, async () => {
          const signedIds = stream && (await this.#requireSigned(stream, request))
          await this.#turns.take(names[0] ?? '', bytes)
          const { values, keyInBody, headers } = await readRequest(request, { bytes, growBy, receivedMs })
          if (stream) return this.#store(stream, values, { headers, receivedMs, signedIds })
          noted.key = keyInBody
          const found = await this.#findOpen(head, keyInBody)
          const ids = await this.#requireSigned(found, request)
          return this.#store(found, values, { headers, receivedMs, signedIds: ids })
        })
        const { refused, accepted, duplicates = 0 } = received
        if (accepted + duplicates === 0) {
          refuseFieldErrors(refused.map(({ index, reason }) => ({ field: `body.${index}`, message: reason })))
        }
        return received
      },
      challenge: async (request) =>
        stream && (openAnswer(stream, request) ?? (await this.#signing.challenge(stream, uncheckedOf(request)))),
      release: () => {
        for (const giveBack of taken) giveBack()
      },
    }
  }

  /** Notes the request for its stream if it is refused. The address or the write key names the stream. */
  async #noting<T>(
    request: { readonly head: RequestHead; readonly key: string | undefined; readonly bytes?: number | undefined },
    run: () => Promise<T>,
  ): Promise<T> {
    try {
      return await run()
    } catch (error) {
      const { head, key, bytes = head.bytes } = request
      const reason = reasonOf(error)
      if (reason === undefined) throw error
      if (reason === 'over_rate') await this.#slowDown()
      const { streamId } = head
      const named = streamId !== undefined ? this.#finder.byId(streamId) : key !== undefined && this.#finder.byKey(key)
      // A stream that cannot be found does not change the answer.
      const stream = await Promise.resolve(named || undefined).catch(() => undefined)
      if (stream) this.#notes.add(stream.number, { outcome: 'refused', reason, events: 1, bytes })
      throw error
    }
  }

  /**
   * Slows down senders that retry immediately and ignore `Retry-After`. Otherwise their refusals would take time from other
   * senders.
   */
  async #slowDown(): Promise<void> {
    if (this.#slowed >= slowedMax) return
    this.#slowed++
    await delay(refusalMs)
    this.#slowed--
  }

  /**
   * Finds the stream of a request. Refuses with `unauthorized` for an unknown key, with `not_found` if the stream does not
   * accept events, with `forbidden` for another origin or address than it allows, and with `rate_limited` if it has sent or
   * keeps too much.
   */
  async #findOpen({ streamId, origin, address }: RequestHead, key: string | undefined): Promise<FoundStream> {
    const stream = key === undefined ? undefined : await this.#finder.byKey(key)
    if (!stream || (streamId !== undefined && stream.id !== streamId)) {
      return refuse('unauthorized', [{ field: 'key', message: noKey }])
    }
    if (!isReceiving(stream)) {
      return refuse('not_found', [{ field: 'stream', message: turnedOff }])
    }
    requireAllowed(stream, origin, address)
    await this.#requireRoom(stream)
    return stream
  }

  async #requireRoom(stream: FoundStream, isTest = false): Promise<void> {
    this.#rates.check(this.#ratesOf(stream))
    if (putsOnTopic(stream)) this.#topics.check(stream, isTest)
    else await this.#kept.check(stream)
  }

  /** The service is the sender: a test has no write key, no signature and no address. */
  async test(streamId: string, event: object): Promise<void> {
    const receivedMs = Date.now()
    const stream = (await this.#finder.byId(streamId)) ?? refuse('not_found')
    if (!isReceiving(stream)) refuse('connector_not_configured', [{ field: 'stream', message: turnedOff }])
    await this.#requireRoom(stream, true)
    const body = Buffer.from(JSON.stringify(event))
    const request: RequestContent = { call: 'track', method: 'POST', url: '', content: { body, headers: {} } }
    const bounds = { bytes: body.length, growBy: () => {}, receivedMs }
    const { values, headers } = await readRequest(request, bounds)
    await this.#store(stream, values, { headers, receivedMs, signedIds: undefined, isTest: true })
  }

  /** A request that is refused costs as much as an event. */
  async #requireSigned(stream: FoundStream, request: RequestContent): Promise<SignedIds | undefined> {
    try {
      return await this.#signing.check(stream, uncheckedOf(request))
    } catch (error) {
      this.#rates.pay(this.#ratesOf(stream), 1)
      throw error
    }
  }

  #ratesOf({ id, accountId, organizationId }: FoundStream): Rate[] {
    const most = this.#perSecond
    const rate = (name: string, perSecond: number, of: string): Rate => ({
      name,
      perSecond,
      message: `${of} has sent more than ${perSecond} events a second; PENSTOCK_STREAM_EVENTS_PER_SECOND sets it`,
    })
    return [
      rate(`stream ${id}`, most, 'the stream'),
      rate(`account ${accountId}`, most * 2, 'the sub-account'),
      rate(`organization ${organizationId}`, most * 4, 'the organization'),
    ]
  }

  async #store(
    found: FoundStream,
    received: readonly unknown[],
    {
      headers,
      receivedMs,
      signedIds,
      isTest = false,
    }: {
      readonly headers: IncomingHttpHeaders
      readonly receivedMs: number
      readonly signedIds: SignedIds | undefined
      readonly isTest?: boolean
    },
  ): Promise<ReceivedEvents> {
    const message = isTest ? undefined : messageOf(found, received, receivedMs)
    const given = isTest ? received : eventsOf(found, message?.values ?? received)
    if (given.length > eventBounds.events) refuse('invalid_request', [{ field: 'body', message: tooMany }])
    this.#rates.pay(this.#ratesOf(found), given.length)
    const stream = await this.#opened.open(found)
    const idOf = idReader(found, { headers, signedIds, count: given.length })
    const refused: { index: number; reason: string }[] = []
    const fit: FitEvent[] = []
    const toTopic = putsOnTopic(found)
    for (const [index, value] of given.entries()) {
      const wrong = errorOfEvent(value)
      const id = wrong === undefined ? idOf(value, index) : undefined
      const text =
        wrong !== undefined ? '' : toTopic ? JSON.stringify(value) : keptLine(value, { id, receivedMs, isTest })
      const reason = wrong ?? (text.length > eventBounds.event ? tooLarge : undefined)
      if (reason === undefined) fit.push({ index, value: value as object, id, text })
      else refused.push({ index, reason })
    }
    // A sample must not become a new column at the destinations.
    const values = isTest && !stream.columns.isEmpty ? [] : fit.map(({ value }) => value)
    const of = { values, keyId: found.keyId, receivedMs, explains: isTest }
    const stored =
      fit.length === 0 ? nothing : await (toTopic ? this.#put(found, stream, fit, of) : this.#keep(stream, fit, of))
    refused.push(...(stored.refused ?? []))
    if (refused.length > 0) {
      const note = { outcome: 'refused', reason: 'invalid_event', events: refused.length, bytes: undefined } as const
      this.#notes.add(stream.number, note)
    }
    return { ...stored, refused, ...(message && { answer: message.answer }) }
  }

  #keep(stream: OpenStream, fit: readonly FitEvent[], { values, keyId }: StoredWith): Promise<Stored> {
    const lines = fit.map(({ text, id }): EventLine => {
      return { line: text, digest: id === undefined ? undefined : digestOfMessage(stream, id) }
    })
    return this.#commits.store(stream, lines, { values, keyId })
  }

  /** Puts events on the topic of a stream. Counts and columns are stored a moment later. */
  async #put(
    found: FoundStream,
    stream: OpenStream,
    fit: readonly FitEvent[],
    { values, keyId, receivedMs, explains }: StoredWith,
  ): Promise<Stored> {
    const keyAt = String(found.settings.keyAt ?? '')
    const events = fit.map(({ value, id, text }): TopicEvent => {
      const key = keyAt === '' ? id : messageIdAt(value, keyAt)
      return { about: JSON.stringify([receivedMs, key ?? null, id ?? null]), json: text }
    })
    const columns = new Map<string, number>()
    for (const value of values) stream.columns.look(value, columns)
    const notTaken = await this.#topics.put(found, events, explains)
    const accepted = events.length - notTaken.length
    this.#notes.count(stream.number, { accepted, columns, keyId })
    if (accepted > 0) stream.columns.add(columns)
    return { accepted, refused: notTaken.map(({ index, reason }) => ({ index: fit[index]?.index ?? 0, reason })) }
  }
}

/** An event that can be stored, with its index in the request and the text that is stored. */
type FitEvent = {
  readonly index: number
  readonly value: object
  readonly id: string | undefined
  readonly text: string
}

type StoredWith = {
  /** The events whose columns are noted. */
  readonly values: readonly object[]
  readonly keyId: string | undefined
  readonly receivedMs: number
  readonly explains: boolean
}

type Stored = Omit<ReceivedEvents, 'refused'> & Partial<Pick<ReceivedEvents, 'refused'>>

const nothing: Stored = { accepted: 0, duplicates: 0 }

/** An event as the database keeps it. */
function keptLine(
  value: unknown,
  { id, receivedMs, isTest }: { id: string | undefined; receivedMs: number; isTest: boolean },
): string {
  const isOwnId = id === messageIdOf((value as { messageId?: unknown } | null)?.messageId)
  return lineOf(receivedMs, value, {
    ...(id !== undefined && !isOwnId && { id }),
    ...(isTest && { test: true as const }),
  })
}

const uncheckedOf = ({ method, url, content }: RequestContent): UncheckedRequest =>
  'body' in content
    ? { method, url, headers: content.headers, body: content.body }
    : { method, url, headers: {}, body: Buffer.alloc(0) }

const namesOf = (stream: FoundStream | undefined, address: string): string[] =>
  stream ? [`stream ${stream.id}`, `account ${stream.accountId}`] : [`address ${networkOf(address)}`]

const turnedOff = 'does not accept events: it is turned off'
const noKey =
  'is not a write key of the stream. Send it as user name of Basic authentication, as Bearer token, or as writeKey in the query'
const tooLarge = `has more than ${eventBounds.event} characters`

const isReceiving = ({ open, settings }: FoundStream): boolean => open && settings.receive !== false

function requireAllowed({ settings }: FoundStream, origin: string | undefined, address: string): void {
  const origins = entriesOf(settings.origins)
  if (origin !== undefined && origins.length > 0 && !origins.includes(origin)) {
    refuse('forbidden', [{ field: 'header.origin', message: 'is not among the web origins of the stream' }])
  }
  const ranges = rangesOf(settings.addresses)
  if (ranges && !ranges.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) {
    refuse('forbidden', [{ field: 'address', message: 'is not in the IP ranges of the stream' }])
  }
}
