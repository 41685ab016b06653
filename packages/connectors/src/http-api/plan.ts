import { type ConnectorContext, ConnectorError, type Json } from '@penstock/connector'
import { isObject, numberIn, textIn } from '../platform-api/json.ts'
import { pagesOf } from '../platform-api/polling.ts'
import type { Api } from './api.ts'
import { type ApiDefinition, type ApiStream, type Partitions, partitionsMax } from './definition.ts'
import { pageReader } from './pages.ts'
import { parseDefinition } from './parse-definition.ts'
import { rowOf } from './records.ts'
import { type TimeWindow, windowsOf } from './windows.ts'

/** Characters of the value of a partition. */
const partitionLengthMax = 200
const dayMs = 86_400_000

/** The definition of a configuration. Throws `invalid_setting` if there is none that can be used. */
export function definitionOf({ secrets }: Pick<ConnectorContext, 'secrets'>): ApiDefinition {
  const parsed = parseDefinition(String(secrets.definition ?? ''))
  if ('definition' in parsed) return parsed.definition
  throw new ConnectorError('invalid_setting', `The definition ${parsed.wrong}`)
}

/** A stream by its name. Throws `invalid_setting` if the definition has none with it. */
export function streamOf({ streams }: ApiDefinition, name: unknown): ApiStream {
  const stream = streams[String(name)]
  if (stream) return stream
  const message = `The definition has no such stream; it has: ${Object.keys(streams).join(', ').slice(0, 500)}.`
  throw new ConnectorError('invalid_setting', message)
}

/** The time that a transfer reads, in milliseconds since 1970. */
export type Span = { readonly startMs: number; readonly untilMs: number }

/**
 * The time that is read of a stream with a cursor; `undefined` if it has none.
 * Throws `invalid_setting` if an incremental transfer is wanted of a stream without a cursor, or if there is no first day.
 */
export function spanOf(
  { settings }: Pick<ConnectorContext, 'settings'>,
  { cursor }: ApiStream,
  from: Json | undefined,
  untilMs: number,
): Span | undefined {
  const isIncremental = settings.syncMode === 'Incremental'
  if (!cursor) {
    if (!isIncremental) return undefined
    throw new ConnectorError(
      'invalid_setting',
      'This stream has no cursor, so it cannot be read incrementally; choose Full.',
    )
  }
  const reached = isIncremental && isObject(from) ? numberIn(from.untilMs) : undefined
  const first = Date.parse(textIn(settings.startDate) ?? cursor.start ?? '')
  if (Number.isNaN(first) && reached === undefined) {
    throw new ConnectorError('invalid_setting', 'This stream has a cursor; enter the start date in the connection.')
  }
  const startMs = reached === undefined ? first : reached - cursor.lookBackDays * dayMs
  return { startMs: Math.min(startMs, untilMs), untilMs }
}

/** The windows of a stream; one without times if it has no cursor. */
export const windowsIn = ({ cursor }: ApiStream, span: Span | undefined): readonly (TimeWindow | undefined)[] =>
  cursor && span ? windowsOf(cursor, span.startMs, span.untilMs) : [undefined]

/**
 * The partitions of a stream, in order and each once; one that is `undefined` if it has none.
 * @param sample whether those of the first page of the other stream are enough
 * Throws what the requests throw, and `malformed_response` if there are too many or one is too long.
 */
export async function partitionsOf(
  api: Api,
  definition: ApiDefinition,
  { partitions }: ApiStream,
  span: Span | undefined,
  context: Pick<ConnectorContext, 'settings'>,
  sample: boolean,
): Promise<readonly (string | undefined)[]> {
  if (!partitions) return [undefined]
  if ('values' in partitions) return sorted(partitions.values)
  const parent = streamOf(definition, partitions.stream)
  const untilMs = span?.untilMs ?? Date.now()
  // Of the other stream everything is read, since its old records can have new ones below them.
  const whole = { settings: { ...context.settings, syncMode: 'Full' } }
  const found = new Set<string>()
  for (const window of windowsIn(parent, spanOf(whole, parent, undefined, untilMs))) {
    for await (const { items } of pagesOf(pageReader(api, parent, valuesOf(undefined, window)))) {
      for (const item of items) addPartition(found, rowOf(item, [partitions.field])[0], partitions)
      if (sample && found.size > 0) return sorted(found)
    }
  }
  return sorted(found)
}

function addPartition(found: Set<string>, value: unknown, { stream, field }: Extract<Partitions, { stream: string }>) {
  const text = textIn(value)
  if (text === undefined) return
  if (text.length > partitionLengthMax) {
    throw new ConnectorError(
      'malformed_response',
      `The field ${field} of ${stream} has a value that is too long for a partition.`,
    )
  }
  if (found.add(text).size > partitionsMax) {
    throw new ConnectorError('malformed_response', `The stream ${stream} gives more than ${partitionsMax} partitions.`)
  }
}

// In an order that does not depend on the answers, so that an interrupted transfer finds its place.
const sorted = (values: Iterable<string>): string[] => [...new Set(values)].sort((a, b) => (a < b ? -1 : 1))

/** Values for templates in the requests of a partition and a window. */
export const valuesOf = (partition: string | undefined, window: TimeWindow | undefined) => ({
  ...(partition === undefined ? {} : { partition }),
  ...(window && { 'cursor.start': window.start, 'cursor.end': window.end }),
})
