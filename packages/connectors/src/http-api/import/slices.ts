import { type JsonObject, listIn, objectIn, textIn } from '../../platform-api/json.ts'
import { type Notes, templateOf } from './texts.ts'

/** Partitions, cursor and what they put into requests. */
export type ImportedSlices = {
  readonly query: Record<string, string>
  readonly body: Record<string, string>
  readonly partitions?: { values: string[] } | { stream: string; field: string }
  readonly cursor?: JsonObject
}

const formats: Readonly<Record<string, string>> = {
  '%Y-%m-%d': 'date',
  '%s': 'seconds',
  '%ms': 'milliseconds',
  '%Y-%m-%dT%H:%M:%SZ': 'time',
  '%Y-%m-%dT%H:%M:%S%z': 'time',
  '%Y-%m-%dT%H:%M:%S.%fZ': 'time',
  '%Y-%m-%dT%H:%M:%S.%f%z': 'time',
}

/** Imports the partition router and the cursor of a stream, and notes by which names its templates know them. */
export function importSlices(stream: JsonObject, notes: Notes): ImportedSlices {
  const requests = { query: {} as Record<string, string>, body: {} as Record<string, string> }
  const wrong = (path: string, message: string): undefined => {
    notes.problems.push({ path: `${notes.path}.${path}`, message })
  }
  const inject = (given: unknown, path: string, template: string) => {
    const { inject_into: place, field_name: name } = objectIn(given)
    if (given === undefined || given === null) return
    const field = textIn(name)
    if (field === undefined || (place !== 'request_parameter' && place !== 'body_json'))
      wrong(path, `A value in ${place} cannot be carried.`)
    else requests[place === 'body_json' ? 'body' : 'query'][field] = template
  }
  const partitions = routerOf(stream, notes, wrong, inject)
  const sync = objectIn(stream.incremental_sync)
  if (sync.type === undefined) return { ...requests, ...(partitions && { partitions }) }
  const where = 'incremental_sync'
  if (sync.type !== 'DatetimeBasedCursor') {
    wrong(where, `${sync.type} cannot be carried.`)
    return requests
  }
  if (sync.is_client_side_incremental) wrong(where, 'A cursor that only filters what was read cannot be carried.')
  notes.cursor = {
    start: textIn(sync.partition_field_start) ?? 'start_time',
    end: textIn(sync.partition_field_end) ?? 'end_time',
  }
  const format = formats[String(sync.datetime_format)]
  if (format === undefined) wrong(`${where}.datetime_format`, `The format ${sync.datetime_format} cannot be carried.`)
  inject(sync.start_time_option, `${where}.start_time_option`, '{{ cursor.start }}')
  inject(sync.end_time_option, `${where}.end_time_option`, '{{ cursor.end }}')
  const lookBack = daysOf(sync.lookback_window, notes)
  const step = daysOf(sync.step, notes)
  if (sync.lookback_window !== undefined && lookBack === undefined)
    wrong(`${where}.lookback_window`, 'It is not a duration.')
  const cursor = {
    format,
    ...(step === undefined ? {} : { stepDays: Math.max(1, step) }),
    ...(lookBack === undefined ? {} : { lookBackDays: lookBack }),
  }
  return { ...requests, ...(partitions && { partitions }), cursor }
}

function routerOf(
  stream: JsonObject,
  notes: Notes,
  wrong: (path: string, message: string) => undefined,
  inject: (given: unknown, path: string, template: string) => void,
): ImportedSlices['partitions'] {
  const given = objectIn(stream.retriever).partition_router
  const where = 'retriever.partition_router'
  if (given === undefined || given === null) return undefined
  const [router, ...more] = [given].flat().map((one) => objectIn(one))
  if (!router || more.length > 0) return wrong(where, 'Two partition routers of one stream cannot be carried.')
  if (router.type === 'ListPartitionRouter') {
    notes.partition = textIn(router.cursor_field)
    inject(router.request_option, where, '{{ partition }}')
    if (!Array.isArray(router.values)) return wrong(`${where}.values`, 'Only values that are listed can be carried.')
    return { values: router.values.map((one) => templateOf(String(one), notes, `${where}.values`)) }
  }
  if (router.type !== 'SubstreamPartitionRouter') return wrong(where, `${router.type} cannot be carried.`)
  const [parent, ...others] = listIn(router.parent_stream_configs).map((one) => objectIn(one))
  if (!parent || others.length > 0) return wrong(where, 'Partitions of two streams cannot be carried.')
  if (listIn(parent.extra_fields).length > 0) return wrong(where, 'Extra fields of partitions cannot be carried.')
  notes.partition = textIn(parent.partition_field)
  inject(parent.request_option, where, '{{ partition }}')
  const name = textIn(objectIn(parent.stream).name)
  const field = textIn(parent.parent_key)
  if (name === undefined || field === undefined) return wrong(where, 'The other stream has no name.')
  return { stream: name.replace(/[^\p{L}\p{N}_ .-]/gu, '_').slice(0, 100), field: field.replaceAll('/', '.') }
}

/** The days of a duration of ISO 8601, rounded up; `undefined` if it is none. */
function daysOf(value: unknown, notes: Notes): number | undefined {
  if (value === undefined) return undefined
  const text = /\{\{/.test(String(value)) ? templateOf(String(value), notes, 'incremental_sync') : String(value)
  const match = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(T\d.*)?$/.exec(text)
  if (!match) return undefined
  const [years = 0, months = 0, weeks = 0, days = 0] = match.slice(1, 5).map((one) => Number(one ?? 0))
  return Math.min(3_660, years * 365 + months * 30 + weeks * 7 + days + (match[5] ? 1 : 0))
}
