import { type Cell, type Chunk, eachColumn, eventKinds, type Row, type StreamColumn } from '@penstock/connector'
import type { NumberedEvent } from './events.ts'
import type { KnownColumn } from './preset-facts.ts'

/** Events as rows. */

type ColumnTypes = NonNullable<Chunk['types']>

/** Columns that this service adds. A key of an event with such a name is only in the whole event. */
const own = ['_number', '_received_time', '_event']

/** The columns of events of the tracking API, which come first in this order. */
const tracking = [
  'type',
  'event',
  'name',
  'userId',
  'anonymousId',
  'groupId',
  'previousId',
  'messageId',
  'timestamp',
  'receivedAt',
  'sentAt',
  'originalTimestamp',
  'channel',
]
const trackingGroups = ['traits.', 'properties.', 'context.', 'integrations.']

/** The place of a column in front of the columns in the order in which they were seen. */
function rankOf(name: string): number {
  const known = tracking.indexOf(name)
  if (known >= 0) return known
  const group = trackingGroups.findIndex((prefix) => name.startsWith(prefix))
  return tracking.length + (group < 0 ? -0.5 : group)
}

/** The columns of events in their order, without the own columns of the service. */
export const ordered = (columns: readonly StreamColumn[]): StreamColumn[] =>
  columns.filter(({ name }) => !own.includes(name)).toSorted((a, b) => rankOf(a.name) - rankOf(b.name))

/** The type of a column with values of these kinds. `null` for texts and for values of several kinds. */
export function typeOfKinds(kinds: number): ColumnTypes[number] {
  switch (kinds) {
    case eventKinds.integer:
      return { kind: 'bigint' }
    case eventKinds.number:
    case eventKinds.number | eventKinds.integer:
      return { kind: 'double' }
    case eventKinds.boolean:
      return { kind: 'boolean' }
    case eventKinds.json:
      return { kind: 'json' }
    case eventKinds.time:
      return { kind: 'instant', digits: 3 }
    default:
      return null
  }
}

/** How events become rows. */
export type EventReading = {
  readonly columns: readonly string[]
  readonly types: ColumnTypes
  row(event: NumberedEvent): Row
}

/** Columns that are there before the first event, by their names. */
export type KnownColumns = Readonly<Record<string, KnownColumn>>

const knownKinds: Readonly<Record<KnownColumn['type'], number>> = {
  text: eventKinds.text,
  integer: eventKinds.integer,
  number: eventKinds.number,
  boolean: eventKinds.boolean,
  time: eventKinds.time,
  json: eventKinds.json,
}

/**
 * Known columns, and the others that were seen. A column that was seen has the kinds of its values. A list of which single places are
 * columns is not a column.
 */
export function withKnown(seen: readonly StreamColumn[], known: KnownColumns = {}): StreamColumn[] {
  const kindsOf = new Map(seen.map(({ name, kinds }) => [name, kinds]))
  const places = Object.entries(known).map(([name, { at = name }]) => at.replace(/(?:\.\d+)+$/, ''))
  return [
    ...Object.entries(known).map(([name, { type }]) => ({ name, kinds: kindsOf.get(name) ?? knownKinds[type] })),
    ...ordered(seen).filter(({ name }) => !places.includes(name) && !Object.hasOwn(known, name)),
  ]
}

/** Known columns whose place is not their name. */
const placed = (known: KnownColumns) =>
  Object.entries(known).flatMap(([name, { at }]) => (at === undefined ? [] : [{ name, path: at.split('.') }]))

/** @param shape `keys`: a column for each key, `event`: the whole event, or `both` */
export function eventReading(seen: readonly StreamColumn[], shape: string, known: KnownColumns = {}): EventReading {
  const keys = shape === 'event' ? [] : withKnown(seen, known)
  const elsewhere = placed(known)
  const whole = shape !== 'keys'
  const types: ColumnTypes = [
    ...keys.map(({ kinds }) => typeOfKinds(kinds)),
    { kind: 'bigint' },
    { kind: 'instant', digits: 3 },
    ...(whole ? [{ kind: 'json' } as const] : []),
  ]
  const columns = [...keys.map(({ name }) => name), ...own.slice(0, whole ? 3 : 2)]
  const places = new Map(keys.map(({ name }, index) => [name, index]))
  return {
    columns,
    types,
    row({ number, receivedMs, value }) {
      const row: Cell[] = new Array(columns.length).fill(null)
      row[keys.length] = number
      if (!value) return row
      row[keys.length + 1] = new Date(receivedMs).toISOString()
      if (whole) row[keys.length + 2] = JSON.stringify(value)
      if (keys.length === 0) return row
      eachColumn(value, (name, one) => {
        const place = places.get(name)
        if (place !== undefined) row[place] = cellOf(one, types[place]?.kind)
      })
      for (const { name, path } of elsewhere) {
        const place = places.get(name)
        const one = valueAt(value, path)
        if (place !== undefined && one !== undefined) row[place] = knownCellOf(one, types[place]?.kind)
      }
      return row
    },
  }
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value
  for (const key of path) at = typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined
  return at ?? undefined
}

/** The kinds of values at an index of a list are not known. An invalid number is empty. */
function knownCellOf(value: unknown, kind: string | undefined): Cell {
  if (kind !== 'double') return cellOf(value, undefined)
  const number = typeof value === 'number' ? value : Number(JSON.stringify(value))
  return Number.isFinite(number) ? number : null
}

function cellOf(value: unknown, kind: string | undefined): Cell {
  if (typeof value === 'string') return kind === 'instant' ? timeOf(value) : value
  // Numbers that are not doubles are objects, whose JSON is their digits.
  return typeof value === 'object' ? JSON.stringify(value) : (value as Cell)
}

/** A column that was not noted, because the stream has too many, can have values of another kind than it is known for. */
function timeOf(text: string): string | null {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? null : new Date(ms).toISOString()
}
