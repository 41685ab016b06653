import type { EventValueKind } from '@penstock/wire/rules'

/** Where a reader of a stream begins if it has no cursor: with the oldest kept event, after the newest event, or at a time. */
export type StreamStart = { readonly at: 'oldest' | 'newest' } | { readonly at: 'time'; readonly ms: number }

/** A column of the events of a stream. */
export type StreamColumn = {
  /** Names of nested keys, joined by dots: `context.page.url`. */
  readonly name: string
  /** The kinds of values that were seen, as the sum of their bits in `eventKinds`. */
  readonly kinds: number
}

/** A stream at the time when it was opened. */
export type OpenedStream = {
  readonly id: string
  /** Number of the newest event; 0 before the first one. */
  readonly last: number
  /** Events up to this number are no longer kept. */
  readonly removed: number
  /** The number after which a reader without a cursor begins. */
  readonly begin: number
  /** In the order in which they were first seen. */
  readonly columns: readonly StreamColumn[]
}

/** Some consecutive events. */
export type StreamedEvents = {
  /** Number of the first event. */
  readonly first: number
  readonly count: number
  /** One line of JSON for each event, `[received, event]`, compressed with zstd. An erased event is `null`. */
  readonly lines: Uint8Array
}

/** The stream of the configuration of a connector that declares `readsEvents`. For any other connector, every call ends the job. */
export type EventStreams = {
  open(start: StreamStart): Promise<OpenedStream>
  /** Batches with events after a number, up to about half a megabyte; an empty list if there are no more events. */
  read(after: number): Promise<readonly StreamedEvents[]>
  /** The newest batches. */
  newest(): Promise<readonly StreamedEvents[]>
}

/** An event to put into a store that is not the database of this service. */
export type EventToPut = {
  /** The event as JSON in UTF-8. */
  readonly json: Uint8Array
  /** Events with the same key stay in order. */
  readonly key: string | undefined
  readonly messageId: string | undefined
  readonly receivedMs: number
}

/** An event that a store refuses permanently, by its place. */
export type RefusedEvent = { readonly index?: number; readonly reason: string }

/** A store of events, opened by one job. */
export type EventStore = {
  /**
   * Stores events. Resolves with the refused events after all others are stored as durably as the store can. If it rejects, any
   * part may be stored, and the store is not used again. One call at a time.
   */
  put(events: readonly EventToPut[]): Promise<readonly RefusedEvent[]>
  close(): Promise<void>
}

/** Bits of the kinds of values. */
export const eventKinds = { text: 1, integer: 2, number: 4, boolean: 8, json: 16, time: 32 } as const satisfies Record<
  EventValueKind,
  number
>

/** Levels of nested objects whose keys become columns. Deeper objects are JSON. */
const levelsMax = 5
/** Characters of the name of a column. Values of longer names are only in the whole event. */
const nameLengthMax = 200

/** A time with a zone, and at most three digits after the second. */
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d)$/
const wholeNumber = /^-?\d{1,18}$/

type RawJson = { readonly rawJSON: string }
const isRawJson = (JSON as typeof JSON & { isRawJSON(value: unknown): boolean }).isRawJSON

/**
 * Calls `visit` for every value of an event that is a column: keys of nested objects are joined by dots, lists are one value,
 * and null is no value.
 */
export function eachColumn(event: object, visit: (name: string, value: unknown) => void): void {
  walk(event as Record<string, unknown>, '', 1, visit)
}

function walk(
  object: Readonly<Record<string, unknown>>,
  prefix: string,
  level: number,
  visit: (name: string, value: unknown) => void,
): void {
  for (const key of Object.keys(object)) {
    const value = object[key]
    if (value === null || value === undefined || key.length + prefix.length > nameLengthMax || key === '') continue
    const isObject = typeof value === 'object' && !Array.isArray(value) && !isRawJson(value)
    if (isObject && level < levelsMax) walk(value as Record<string, unknown>, `${prefix}${key}.`, level + 1, visit)
    else visit(prefix + key, value)
  }
}

/** The bit of the kind of a value. */
export function kindOfValue(value: unknown): number {
  switch (typeof value) {
    case 'boolean':
      return eventKinds.boolean
    case 'number':
      return Number.isSafeInteger(value) ? eventKinds.integer : eventKinds.number
    case 'string':
      return time.test(value) && !Number.isNaN(Date.parse(value)) ? eventKinds.time : eventKinds.text
    default:
      if (!isRawJson(value)) return eventKinds.json
      return wholeNumber.test((value as RawJson).rawJSON) ? eventKinds.integer : eventKinds.text
  }
}

/**
 * The events of a stored batch of a stream, a line of JSON each. A first line that starts with `^` is the beginning that all lines
 * share: runners write it once for the outcomes of a transfer.
 * @param text the decompressed batch
 */
export function linesOf(text: string): string[] {
  const [first = '', ...rest] = text.split('\n')
  return first.startsWith('^') ? rest.map((line) => first.slice(1) + line) : [first, ...rest]
}
