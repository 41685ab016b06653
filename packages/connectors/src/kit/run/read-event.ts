import { type Batch, ConnectorError, isEcapiItemKey, type Values } from '@penstock/connector'
import { isObject, type JsonObject, numberIn, textIn } from '../../platform-api/json.ts'
import { type BatchRow, isSha256 } from '../../platform-api/rows/batch-rows.ts'
import {
  readBoolean,
  readCount,
  readCurrency,
  readNumber,
  readObjects,
  readTexts,
} from '../../platform-api/rows/event-values.ts'
import { eventIdOf, isoMs, type Read, readObject, readTime, secondsMs, wrong } from '../../platform-api/rows/events.ts'
import { amountWanted, microsOf } from '../../platform-api/rows/money.ts'
import type { ColumnReading, DaysMaxBy, EventColumn, How, ObjectKeys, ObjectType } from '../columns.ts'
import type { Completion, EventDestination } from '../event-facts.ts'
import { valueAt } from './open-api.ts'

/** An event that was read of a row, and its target. */
export type ReadEvent = { readonly event: JsonObject; readonly target: string | undefined }

type ReadFacts = Pick<EventDestination, 'columns' | 'constants' | 'puts' | 'person' | 'needs' | 'finish' | 'targets'>
type Facts = ReadFacts & {
  readonly platformName: string
  /** Values that are treated as missing, because they belong to nobody. */
  readonly noOnes?: readonly string[]
  readonly complete?: Completion | undefined
}

/**
 * Makes the function that reads events of rows by the facts of a destination, or says why the platform would not take one. It
 * uses no network: a preview reads rows in the same way.
 */
export function eventReader(facts: Facts): (batch: Batch, row: BatchRow, settings: Values) => Read<ReadEvent> {
  const columns = Object.entries(facts.columns)
    .filter(([, { reading }]) => reading.kind !== 'special')
    .sort(([, a], [, b]) => turnOf(a) - turnOf(b))
  const given = columns.filter(([, { reading }]) => reading.kind === 'object')
  const holding = given.toSorted(([, a], [, b]) => b.to.length - a.to.length)
  const own = columns.filter(([, { reading }]) => reading.kind !== 'object')
  // Of two columns that go together, either can turn out to have no value.
  const pairs = own.map(([, column]) => column).filter(({ how }) => how.with)
  const identifying = own.filter(([, { oneOf }]) => oneOf === 'identifier').map(([, { to }]) => pathOf(to))
  const person = facts.person ?? {
    anyOf: identifying,
    missing: `The row has no identifier by which ${facts.platformName} can find the person.`,
    field: facts.columns.email ? 'email' : (own.find(([, { oneOf }]) => oneOf === 'identifier')?.[0] ?? ''),
  }

  return (batch, row, settings) => {
    const event: Tree = {}
    const taken = new Set<string>()
    let noOnes: string | undefined
    for (const [name, column] of columns) {
      if (taken.has(column.to) || !applies(column, row, event)) continue
      if (facts.noOnes?.includes(row.text(name) ?? '')) {
        noOnes ??= name
        continue
      }
      const { reading, to } = column
      const found =
        reading.kind === 'object'
          ? readGiven(row, name, reading)
          : readColumn(batch, row, settings, event, name, column)
      if ('wrong' in found) return found
      // An empty value in an object is not sent.
      if (found.read !== undefined || at(event, to) !== undefined) put(event, to, found.read)
      if (found.read !== undefined) taken.add(to)
    }
    for (const { to, how } of pairs) {
      const other = facts.columns[how.with ?? '']
      if (taken.has(to) && other && at(event, other.to) === undefined) put(event, to, undefined)
    }
    const wanted =
      person.anyOf.length === 0 ||
      person.anyOf.some((group) => [group].flat().every((path) => isFilled(at(event, path))))
    if (!wanted) {
      const [describing] = given.find(([name, { oneOf }]) => oneOf === 'identifier' && row.text(name)) ?? []
      return wrong(person.missing, noOnes ?? describing ?? person.field)
    }
    for (const { at: path, is, paths, missing } of facts.needs ?? []) {
      if (!is.includes(String(at(event, path)).toLowerCase())) continue
      const lacking = paths.find((one) => !isFilled(at(event, one)))
      if (lacking !== undefined) return wrong(missing, columnAt(lacking))
    }
    for (const [path, value] of Object.entries(facts.constants ?? {})) put(event, path, value)
    for (const { at: path, is, what } of facts.puts ?? []) {
      if (!is.some((value) => value === at(event, path))) continue
      for (const [to, value] of Object.entries(what)) put(event, to, value)
    }
    const target = facts.targets && String(at(event, facts.targets.at))
    const finished = facts.finish ? facts.finish(event, row, settings) : { read: event as JsonObject }
    if ('wrong' in finished) return finished
    const completed = facts.complete ? facts.complete(finished.read) : finished
    if ('wrong' in completed) return completed
    return { read: { event: sentOf(completed.read) ?? {}, target } }
  }

  /** Whether a column is read and sent with an event. */
  function applies(column: EventColumn, row: BatchRow, event: Tree): boolean {
    const { only, with: name } = column.how
    if (only && !only.is.some((value) => value === at(event, only.at))) return false
    const other = name === undefined ? undefined : facts.columns[name]
    if (name === undefined || other === undefined || at(event, other.to) !== undefined) return true
    return turnOf(other) >= turnOf(column) && row.text(name) !== undefined
  }

  function columnAt(path: string): string {
    return columns.find(([, { to }]) => pathOf(to) === path)?.[0] ?? path
  }

  /**
   * The value of a cell, otherwise of the address in another column, otherwise of the object at the path, otherwise the
   * default.
   */
  function readColumn(
    batch: Batch,
    row: BatchRow,
    settings: Values,
    event: Tree,
    name: string,
    { reading, to, how, required }: EventColumn,
  ): Read<unknown> {
    if (reading.kind === 'eventId') {
      return { read: row.text(name) ?? textIn(at(event, to)) ?? eventIdOf(batch, without(row, 'event_id')) }
    }
    const inUrl = () => how.fromUrl && URL.parse(row.text(how.fromUrl[0]) ?? '')?.searchParams.get(how.fromUrl[1])
    const text = row.text(name) ?? (inUrl() || undefined)
    if (text !== undefined) return listed(to, read(reading, textRow(row, name, text), name, event))
    const inGiven = at(event, to)
    if (isFilled(inGiven)) return readInGiven(row, event, name, to, reading, inGiven)
    const usual = usualOf(reading, how, settings)
    if (usual !== undefined) return listed(to, read(reading, textRow(row, name, usual), name, event))
    if (how.usual !== undefined) return { read: how.usual }
    return required || how.missing
      ? wrong(how.missing ?? `The value of ${name} is missing.`, name)
      : { read: undefined }
  }

  /** The value of an object at the path of a column, read like the column. An error blames the object. */
  function readInGiven(
    row: BatchRow,
    event: Tree,
    name: string,
    to: string,
    reading: ColumnReading,
    value: unknown,
  ): Read<unknown> {
    const [blamed = name] = holding.find(([, object]) => object.to === '' || to.startsWith(`${object.to}.`)) ?? []
    if (reading.kind === 'objects') {
      if (!Array.isArray(value) || !value.every(isObject))
        return wrong('The value is not a JSON list of objects.', blamed)
      return objectsWith(reading, value, blamed)
    }
    const values = [value].flat().filter((one) => one !== '' && one !== null)
    if (values.length === 0) return { read: undefined }
    if (reading.kind !== 'digest' && (Array.isArray(value) || isObject(value))) return { read: value }
    const all: unknown[] = []
    for (const one of values) {
      const found = read(reading, textRow(row, name, String(one)), name, event)
      if ('wrong' in found) return wrong(found.wrong, blamed)
      all.push(found.read)
    }
    return { read: to.endsWith('[]') || all.length > 1 ? all : all[0] }
  }
}

const without = (row: BatchRow, column: string): BatchRow => ({
  ...row,
  text: (name) => (name === column ? undefined : row.text(name)),
})
const textRow = (row: BatchRow, column: string, text: string): BatchRow => ({
  ...row,
  text: (name) => (name === column ? text : row.text(name)),
})

function usualOf(reading: ColumnReading, { setting }: How, settings: Values): string | undefined {
  const usual = reading.kind === 'oneOf' ? reading.usual : undefined
  if (typeof usual === 'string') return usual
  const key = usual?.setting ?? setting
  return key === undefined ? undefined : textIn(settings[key])?.trim() || undefined
}

/**
 * Checks the settings that hold values of rows without one. Throws `invalid_setting` if one cannot be read, or if neither the
 * setting nor the column is there.
 * @param mapped the columns of every batch
 */
export function assertSettings(
  { columns, settings: fields }: Pick<EventDestination, 'columns' | 'settings'>,
  settings: Values,
  mapped: readonly string[],
): void {
  for (const [name, { reading, how }] of Object.entries(columns)) {
    if (how.setting === undefined) continue
    const label = fields[how.setting]?.label ?? how.setting
    const text = usualOf(reading, how, settings)
    const found = text === undefined ? undefined : read(reading, { index: 0, text: () => text }, name, {})
    if (found && 'wrong' in found) throw new ConnectorError('invalid_setting', `Correct “${label}”. ${found.wrong}`)
    if (found || how.missing === undefined || how.with !== undefined || mapped.includes(name)) continue
    throw new ConnectorError('invalid_setting', `Set “${label}” in the connection, or map the column ${name}.`)
  }
}

/**
 * The order in which columns are read: objects first, since columns override them in the event, and columns that depend on
 * others later. The time is read last, because its maximum age can depend on the others.
 */
function turnOf({ reading, how }: EventColumn): number {
  if (reading.kind === 'time') return 4
  return (how.only || how.with ? 2 : 0) + (reading.kind === 'object' ? 0 : 1)
}

type ObjectReading = Extract<ColumnReading, { kind: 'object' }>

function readGiven(row: BatchRow, name: string, { keys, as, shape }: ObjectReading): Read<JsonObject> {
  const found = readObject(row, name)
  if ('wrong' in found) return found
  if (keys && Object.keys(found.read).some((key) => !keys.includes(key))) {
    return wrong('The object has a key that the platform does not know.', name)
  }
  if (as !== 'texts') return shape ? { read: shape(found.read) } : found
  const all = Object.entries(found.read).flatMap(([key, value]): [string, string][] =>
    value === null ? [] : [[key, typeof value === 'object' ? JSON.stringify(value) : String(value)]],
  )
  return { read: Object.fromEntries(all) }
}

/** Reads a cell that is there. */
function read(reading: ColumnReading, row: BatchRow, name: string, event: Tree): Read<unknown> {
  const text = row.text(name) ?? ''
  switch (reading.kind) {
    case 'plain': {
      const { lengthMax, pattern, wanted, upper, leaveOut } = reading
      const isValid = (lengthMax === undefined || text.length <= lengthMax) && (pattern?.test(text) ?? true)
      if (isValid) return { read: upper ? text.toUpperCase() : text }
      if (leaveOut) return { read: undefined }
      return wrong(wanted ?? `The value has more than ${lengthMax} characters.`, name)
    }
    case 'digest': {
      const digest = (reading.suffix ? text.trim().replace(reading.suffix, '') : text.trim()).toLowerCase()
      if (reading.hash === 'md5' ? /^[0-9a-f]{32}$/.test(digest) : isSha256(digest)) return { read: digest }
      const kind = reading.hash === 'md5' ? 'an MD5 digest of 32' : 'a SHA-256 digest of 64'
      return wrong(`The value is not ${kind} hexadecimal characters.`, name)
    }
    case 'decimal':
      return readDecimal(reading, row, name)
    case 'amount':
      return microsOf(text) === undefined ? wrong(amountWanted, name) : { read: text }
    case 'count':
      return readCount(row, name)
    case 'whole': {
      const isWhole = /^-?\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))
      return isWhole ? { read: Number(text) } : wrong('The value must be a whole number.', name)
    }
    case 'currency':
      return readCurrency(row, name)
    case 'flag': {
      const { words = {} } = reading
      const word = text.toLowerCase()
      const found = Object.hasOwn(words, word) ? { read: words[word] } : readBoolean(row, name)
      return 'wrong' in found || reading.as !== 'number' ? found : { read: Number(found.read) }
    }
    case 'time':
      return readEventTime(reading, row, name, event)
    case 'moment': {
      const ms = isoMs(text)
      if (ms !== undefined) return { read: `${new Date(ms).toISOString().slice(0, 19)}Z` }
      return wrong('The time must be written as 2026-01-31T12:00:00+01:00, with its zone.', name)
    }
    case 'oneOf': {
      const { values, lettersOnly, wanted, otherwise } = reading
      const key = lettersOnly ? text.toLowerCase().replace(/[^a-z]/g, '') : text.toLowerCase()
      if (Object.hasOwn(values, key)) return { read: values[key] }
      if (!otherwise) return wrong(`The value must be ${wanted}.`, name)
      put(event, otherwise.to, text)
      return { read: otherwise.value }
    }
    case 'texts':
      return readTexts(row, name)
    case 'objects': {
      const found = readObjects(row, name)
      return 'wrong' in found || found.read === undefined ? found : objectsWith(reading, found.read, name)
    }
    default:
      return { read: text }
  }
}

function readDecimal(
  { as, decimals, min }: Extract<ColumnReading, { kind: 'decimal' }>,
  row: BatchRow,
  name: string,
): Read<unknown> {
  const found = readNumber(row, name)
  if ('wrong' in found || found.read === undefined) return found
  if (!Number.isFinite(found.read)) return wrong('The number is too large.', name)
  if (min !== undefined && found.read < min) return wrong(`The value must be at least ${min}.`, name)
  const value = decimals === undefined ? found.read : Number(found.read.toFixed(decimals))
  return { read: as === 'text' ? String(value) : value }
}

function readEventTime(
  { unit, daysMax }: Extract<ColumnReading, { kind: 'time' }>,
  row: BatchRow,
  name: string,
  event: Tree,
): Read<unknown> {
  const days = typeof daysMax === 'object' ? daysOf(daysMax, event) : daysMax
  const numberMs = (text: string) => (/^\d{12,13}$/.test(text) ? Number(text) : secondsMs(text))
  const found = readTime(row, name, days, { numberMs, numbers: 'seconds or milliseconds' })
  if ('wrong' in found || unit === 'milliseconds') return found
  if (unit === 'seconds') return { read: Math.floor(found.read / 1000) }
  if (unit === 'utc') return { read: new Date(found.read).toISOString() }
  const text = row.text(name) ?? ''
  const isIso = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?(Z|[+-]\d{2}:\d{2})$/.test(text)
  return { read: isIso ? text : new Date(found.read).toISOString().replace('.000Z', 'Z') }
}

const daysOf = ({ by, of, else: others }: DaysMaxBy, event: Tree): number | undefined => {
  const value = String(at(event, by))
  return Object.hasOwn(of, value) ? of[value] : others
}

/** Objects with only the known keys, or with all keys if the facts name none. */
function objectsWith(
  { keys, strict, items }: Extract<ColumnReading, { kind: 'objects' }>,
  given: readonly JsonObject[],
  blamed: string,
): Read<readonly JsonObject[]> {
  const list = items ? given.map((one) => withOwnNames(one, items)) : given
  if (!keys) return { read: list }
  const isUnknown = (key: string) => !Object.hasOwn(keys, key)
  if (strict && list.some((one) => Object.keys(one).some(isUnknown))) {
    return wrong(`An object has an unknown key. Known keys: ${Object.keys(keys).join(', ')}.`, blamed)
  }
  return { read: list.map((one) => withKeys(one, keys)) }
}

/** An object with only the known keys, in their types. Values of another type are omitted. */
function withKeys(given: JsonObject, keys: ObjectKeys): JsonObject {
  return Object.fromEntries(
    Object.entries(keys).flatMap(([key, as]) => {
      const [type, ...others] = typeof as === 'string' ? [as] : as
      const value = [key, ...others].map((name) => given[name]).find((one) => one !== undefined && one !== null)
      const made = inType(value, type as ObjectType)
      return made === undefined ? [] : [[key, made]]
    }),
  )
}

/** An item of ECAPI with the platform's keys. Keys that the platform does not know are omitted. */
function withOwnNames(item: JsonObject, items: Readonly<Record<string, string>>): JsonObject {
  const entries = Object.entries(item).flatMap(([key, value]): [string, unknown][] => {
    if (!isEcapiItemKey(key) || (key !== items[key] && Object.values(items).includes(key))) return [[key, value]]
    const own = Object.hasOwn(items, key) ? items[key] : undefined
    return own === undefined || (own !== key && Object.hasOwn(item, own)) ? [] : [[own, value]]
  })
  return Object.fromEntries(entries)
}

function inType(value: unknown, type: ObjectType): unknown {
  if (type === 'text') return textIn(value)
  const number = numberIn(value)
  return type === 'number' || Number.isSafeInteger(number) ? number : undefined
}

// An event in the making.

type Tree = { [key: string]: unknown }

const pathOf = (to: string): string => (to.endsWith('[]') ? to.slice(0, -2) : to)
const at = (event: Tree, to: string): unknown => valueAt(event, pathOf(to))
const isFilled = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
const listed = (to: string, found: Read<unknown>): Read<unknown> =>
  'wrong' in found || !to.endsWith('[]') || found.read === undefined ? found : { read: [found.read].flat() }

/** Puts a value at a path. An object at that path gets the keys of the new object. */
function put(event: Tree, to: string, value: unknown): void {
  const keys = pathOf(to).split('.').filter(Boolean)
  const last = keys.pop()
  let tree = event
  for (const key of keys) {
    const next = isObject(tree[key]) ? (tree[key] as Tree) : {}
    tree[key] = next
    tree = next
  }
  if (last === undefined) Object.assign(tree, value)
  else tree[last] = isObject(value) && isObject(tree[last]) ? { ...tree[last], ...value } : value
}

/** The event without the paths that only rules see, and without keys that hold nothing. */
function sentOf(event: JsonObject, isTop = true): JsonObject | undefined {
  const kept = Object.entries(event).flatMap(([key, value]): [string, unknown][] => {
    if (value === undefined || (isTop && key.startsWith('@'))) return []
    const sent = isObject(value) ? sentOf(value, false) : value
    return sent === undefined ? [] : [[key, sent]]
  })
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}
