import { textOfJson } from '@penstock/expressions/json'
import { durationMs, formatMs, formOfStrftime, isoOf, timeMs } from '@penstock/expressions/times'
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../../platform-api/json.ts'
import { original } from './asked-keys.ts'
import { expressionOf, type Notes, note, noteGap, resultOf, templateOf } from './texts.ts'

/** Partitions, cursor and what they put into requests. */
export type ImportedSlices = {
  readonly query: Record<string, string>
  readonly headers: Record<string, string>
  readonly form: Record<string, string>
  readonly body: Record<string, unknown>
  readonly partitions?: object
  readonly cursor?: JsonObject
  /** Expressions that records must meet, since the API does not filter by the times. */
  readonly keep: readonly string[]
  /** An expression that ends the pages, since later records are older. */
  readonly stop?: string
}

/** The name of a stream from which partitions are taken; it is imported, too. */
export type NameOfParent = (stream: JsonObject) => string | undefined

const formats: Readonly<Record<string, string>> = {
  '%Y-%m-%d': 'date',
  '%s': 'seconds',
  '%ms': 'milliseconds',
  '%Y-%m-%dT%H:%M:%SZ': 'time',
}

/** Imports the partition routers and the cursor of a stream, and notes by which names its templates know them. */
export function importSlices(stream: JsonObject, notes: Notes, nameOfParent: NameOfParent): ImportedSlices {
  const requests = { query: {}, headers: {}, form: {}, body: {} }
  const inject = (given: unknown, path: string, template: string) => {
    if (given !== undefined && given !== null) injectInto(requests, objectIn(given), template, notes, path)
  }
  const partitions = routersOf(stream, notes, inject, nameOfParent)
  const sync = objectIn(stream.incremental_sync)
  const own = { ...requests, ...(partitions && { partitions }), keep: [] }
  if (sync.type === undefined) return own
  const where = 'incremental_sync'
  if (sync.type !== 'DatetimeBasedCursor') {
    note(notes, where, `${sync.type} cannot be carried.`)
    return own
  }
  notes.cursor = {
    start: textIn(sync.partition_field_start) ?? 'start_time',
    end: textIn(sync.partition_field_end) ?? 'end_time',
  }
  inject(sync.start_time_option, `${where}.start_time_option`, '{{ cursor.start }}')
  inject(sync.end_time_option, `${where}.end_time_option`, '{{ cursor.end }}')
  const field = fieldOf(sync.cursor_field, notes)
  const isAfter = `milliseconds(${field}) >= milliseconds(cursor.start)`
  const isFeed = sync.is_data_feed === true
  const isFiltered = sync.is_client_side_incremental === true || isFeed
  if (isFiltered && field === undefined) note(notes, `${where}.cursor_field`, 'It is not the name of a field.')
  const recordFormats = [sync.cursor_datetime_formats ?? sync.datetime_format].flat().map(String)
  if (isFiltered && !recordFormats.every(isClear))
    note(notes, `${where}.cursor_datetime_formats`, 'Records with times of this form cannot be filtered.')
  return {
    ...own,
    cursor: cursorOf(sync, notes),
    keep: isFiltered ? [`!has(${field}) || ${isAfter}`] : [],
    ...(isFeed && {
      stop: `count > 0 && !(${isAfter.replaceAll('record', 'last')}) && has(${field?.replace('record', 'last')})`,
    }),
  }
}

function fieldOf(value: unknown, notes: Notes): string | undefined {
  const name = textIn(resultOf(value, notes, 'incremental_sync.cursor_field'))
  return name?.split(/[./]/).reduce((at, key) => `${at}[${JSON.stringify(key)}]`, 'record')
}

function cursorOf(sync: JsonObject, notes: Notes): JsonObject {
  const where = 'incremental_sync'
  const given = String(resultOf(sync.datetime_format, notes, `${where}.datetime_format`) ?? '')
  const format = formats[given] ?? given
  if (!formats[given] && (formOfStrftime(given) === undefined || !given.includes('%'))) {
    note(notes, `${where}.datetime_format`, `The format ${given} cannot be carried.`)
  }
  const step = millisecondsOf(sync.step, notes, `${where}.step`)
  const lookBack = millisecondsOf(sync.lookback_window, notes, `${where}.lookback_window`)
  if (step !== undefined && step < 3_600_000) {
    noteGap(notes, `${where}.step`, 'Steps are an hour or longer: all is asked for in one request.')
  }
  if (step !== undefined && /^P\d+[DWMY]/.test(textIn(sync.cursor_granularity) ?? '')) {
    noteGap(
      notes,
      `${where}.cursor_granularity`,
      'The last day of a request is the first one of the next: it can come twice.',
    )
  }
  const days = (ms: number) => Math.min(3_660, Math.ceil(ms / 86_400_000))
  return {
    format,
    ...(step === undefined || step < 3_600_000
      ? {}
      : step < 86_400_000
        ? { stepHours: Math.ceil(step / 3_600_000) }
        : { stepDays: days(step) }),
    ...(lookBack ? { lookBackDays: days(lookBack) } : {}),
    ...startOf(sync.start_datetime, notes, given),
    ...endOf(sync.end_datetime, notes, given),
  }
}

/** The start of a cursor, unless it is a value of the configuration that was not given: the connection then has one. */
function startOf(given: unknown, notes: Notes, format: string): { readonly start?: string } {
  const text = timeTemplate(given, notes, 'incremental_sync.start_datetime', true)
  const own = formatOf(given) ?? format
  if (text === undefined || text === '') return {}
  if (!isClear(own)) noteFormat(notes, 'incremental_sync.start_datetime', own)
  if (text.includes('{{')) return { start: text }
  const ms = timeMs(/^\d{9,}$/.test(text) ? Number(text) : text)
  if (ms === undefined) {
    note(notes, 'incremental_sync.start_datetime', `The time ${text.slice(0, 50)} cannot be read.`)
    return {}
  }
  return { start: ms % 86_400_000 === 0 ? isoOf(ms).slice(0, 10) : `{{ "${isoOf(ms)}" }}` }
}

function endOf(given: unknown, notes: Notes, format: string): { readonly end?: string } {
  const text = timeTemplate(given, notes, 'incremental_sync.end_datetime', true)
  const own = formatOf(given) ?? format
  if (
    text === undefined ||
    text === '' ||
    /^\{\{ (time\()?now\(\)\)? \}\}$|^\{\{ formatTime\(now\(\), [^()]*\) \}\}$/.test(text)
  )
    return {}
  const isRead = text.includes('{{') ? isClear(own) : timeMs(text) !== undefined
  if (!isRead) noteFormat(notes, 'incremental_sync.end_datetime', own)
  return text.includes('{{') || isRead ? { end: text } : {}
}

const formatOf = (given: unknown): string | undefined => textIn(objectIn(given).datetime_format)

const noteFormat = (notes: Notes, path: string, format: string) =>
  noteGap(notes, path, `A time of the form ${format} cannot be read; check it.`)

/** Whether times of a format are read without it. */
function isClear(format: string): boolean {
  const [form, sample] = [formOfStrftime(format), Date.UTC(2003, 3)]
  return /^(%s|%ms)$/.test(format) || (form !== undefined && timeMs(formatMs(sample, form)) === sample)
}

/** A time, which may be between two others, as a template. */
function timeTemplate(given: unknown, notes: Notes, path: string, isOptional: boolean): string | undefined {
  const { datetime, min_datetime: min, max_datetime: max } = isObject(given) ? given : { datetime: given }
  const before = notes.problems.length
  let text = templateOf(datetime ?? '', notes, path, 'time')
  for (const [name, bound] of Object.entries({ max: min, min: max })) {
    const expression = bound === undefined || bound === null ? undefined : expressionOf(bound, notes, path, 'time')
    const own = expressionOf(datetime ?? '', notes, path, 'time')
    if (expression !== undefined && own !== undefined) text = `{{ ${name}(time(${own}), time(${expression})) }}`
  }
  const missing = notes.problems.slice(before).every(({ message }) => message.includes('--value'))
  if (isOptional && missing) notes.problems.length = before
  return notes.problems.length > before || (isOptional && text === '') ? undefined : text
}

function millisecondsOf(value: unknown, notes: Notes, path: string): number | undefined {
  if (value === undefined || value === null) return undefined
  const before = notes.problems.length
  const text = textOfJson(resultOf(value, notes, path))
  if (text === '' || text === 'P' || notes.problems.length > before) return undefined
  return durationMs(text) ?? note(notes, path, 'It is not a duration.')
}

type Inject = (given: unknown, path: string, template: string) => void

/** The partitions of the routers of a stream, of which the templates then know the names. */
function routersOf(stream: JsonObject, notes: Notes, inject: Inject, nameOfParent: NameOfParent): object | undefined {
  const given = objectIn(stream.retriever).partition_router
  if (given === undefined || given === null) return undefined
  const routers = [given].flat().map((one) => objectIn(one))
  if (routers.length === 0) return undefined
  const isOne = routers.length === 1
  const kinds = routers.map((router, index) => {
    const name = isOne
      ? undefined
      : `${nameOf(router)?.replace(/\W/g, '_') ?? 'kind'}${index > 0 && routers.slice(0, index).some((one) => nameOf(one) === nameOf(router)) ? index : ''}`
    const kind = routerOf(router, notes, inject, nameOfParent, name)
    return name === undefined ? kind : { name, ...kind }
  })
  return isOne ? kinds[0] : kinds
}

const nameOf = (router: JsonObject): string | undefined =>
  textIn(router.cursor_field) ?? textIn(objectIn(listIn(router.parent_stream_configs)[0]).partition_field)

function routerOf(
  router: JsonObject,
  notes: Notes,
  inject: Inject,
  nameOfParent: NameOfParent,
  name: string | undefined,
): object | undefined {
  const where = 'retriever.partition_router'
  const value = name === undefined ? 'partition' : `partition.${name}`
  const parentValue = name === undefined ? 'parent' : `parent.${name}`
  if (router.type === 'ListPartitionRouter') {
    notes.partitions.set(String(resultOf(router.cursor_field, notes, where)), value)
    inject(router.request_option, where, `{{ ${value} }}`)
    const values = resultOf(router.values, notes, `${where}.values`)
    if (!Array.isArray(values)) return note(notes, `${where}.values`, 'Only values that are listed can be carried.')
    const listed = values.map((one) => textOfJson(resultOf(one, notes, `${where}.values`))).filter((one) => one !== '')
    return { values: listed }
  }
  if (router.type !== 'SubstreamPartitionRouter') return note(notes, where, `${router.type} cannot be carried.`)
  const parents = listIn(router.parent_stream_configs).map((one) => objectIn(one))
  const fields = new Set(parents.map((parent) => String(resultOf(parent.partition_field, notes, where))))
  if (fields.size > 1) return note(notes, where, 'Partitions of several names from several streams cannot be carried.')
  for (const field of fields) notes.partitions.set(field, value)
  notes.parents.set('', parentValue)
  const of = parents.map((parent) => {
    inject(parent.request_option, where, `{{ ${value} }}`)
    const more = listIn(parent.extra_fields).map((keys) => [keys].flat().map(String))
    // An expression accesses the field as one key, or key by key.
    for (const keys of more) {
      const [first = ''] = keys
      notes.parents.set(
        first,
        keys.length === 1
          ? `${parentValue}[${JSON.stringify(first)}]`
          : `${parentValue}[${JSON.stringify(keys.join('.'))}]`,
      )
    }
    const stream = nameOfParent(objectIn(parent.stream))
    const field = textIn(resultOf(parent.parent_key, notes, where))
    if (stream === undefined || field === undefined) return note(notes, where, 'The other stream has no name.')
    return {
      stream,
      field: field.replaceAll('/', '.'),
      ...(more.length > 0 && { fields: more.map((keys) => keys.join('.')) }),
    }
  })
  noteGrandparents(parents, notes, parentValue)
  return of.length === 1 ? of[0] : { of }
}

/** Notes the names of the partitions from which the partitions of a stream come. */
function noteGrandparents(parents: readonly JsonObject[], notes: Notes, parentValue: string): void {
  for (const parent of parents) {
    const above = objectIn(objectIn(original(parent.stream)).retriever).partition_router
    const routers = [above ?? []].flat().map((one) => objectIn(one))
    for (const router of routers.length > 1 ? routers : []) {
      const name = nameOf(router)
      if (name !== undefined)
        notes.parents.set(`parent_slice.${name}`, `${parentValue}.partition.${name.replace(/\W/g, '_')}`)
    }
  }
}

/** Puts a template into the part of a request that an option names. */
export function injectInto(
  requests: Pick<ImportedSlices, 'query' | 'headers' | 'form' | 'body'>,
  option: JsonObject,
  template: string,
  notes: Notes,
  path: string,
): void {
  const { inject_into: place, field_name: name, field_path: keys } = option
  const names = (listIn(keys).length > 0 ? listIn(keys) : [name]).map((one) => templateOf(one ?? '', notes, path))
  const [field = ''] = names
  if (field === '' || (names.length > 1 && place !== 'body_json')) note(notes, path, 'It has no name of a field.')
  else if (place === 'request_parameter') requests.query[field] = template
  else if (place === 'header') requests.headers[field] = template
  else if (place === 'body_data') requests.form[field] = template
  else if (place === 'body_json') {
    let at: Record<string, unknown> = requests.body
    for (const key of names.slice(0, -1)) {
      const below = (at[key] ?? {}) as Record<string, unknown>
      at[key] = below
      at = below
    }
    at[names.at(-1) ?? ''] = template
  } else note(notes, path, `A value in ${place} cannot be carried.`)
}
