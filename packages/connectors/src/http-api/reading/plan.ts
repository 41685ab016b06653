import { ConnectorError, type Json, type SourceContext, type SourceRange } from '@penstock/connector'
import { timeMs } from '@penstock/expressions/times'
import { isObject, numberIn, textIn } from '../../platform-api/json.ts'
import { timeOfRange } from '../../platform-api/range.ts'
import type { ApiDefinition, ApiStream } from '../definition/definition.ts'
import { fill, type TemplateValues } from '../definition/template.ts'
import { type TimeWindow, windowsOf } from './windows.ts'

const dayMs = 86_400_000

/** One partition of a stream. */
export type Partition = {
  /** Identifies it within the stream; partitions are read in the order of their keys. */
  readonly key: string
  /** Its value in templates: a text, or texts by name. */
  readonly value: unknown
  /** The record that it comes from, as templates know it. */
  readonly parent: unknown
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
  { settings, range }: Pick<SourceContext, 'settings' | 'range'>,
  { cursor }: ApiStream,
  from: Json | undefined,
  nowMs: number,
): Span | undefined {
  const isIncremental = settings.syncMode === 'Incremental'
  if (!cursor) {
    if (range)
      throw new ConnectorError('invalid_setting', 'This stream has no cursor, so that it has no range of days.')
    if (!isIncremental) return undefined
    throw new ConnectorError(
      'invalid_setting',
      'This stream has no cursor, so it cannot be read incrementally; choose Full.',
    )
  }
  if (range) return spanIn(range, nowMs)
  const reached = isIncremental && isObject(from) ? numberIn(from.untilMs) : undefined
  const first = Date.parse(textIn(settings.startDate) ?? timeIn(cursor.start, nowMs))
  const endMs = cursor.end === undefined ? nowMs : Math.min(nowMs, timeMs(timeIn(cursor.end, nowMs)) ?? nowMs)
  if (Number.isNaN(first) && reached === undefined) {
    throw new ConnectorError('invalid_setting', 'This stream has a cursor; enter the start date in the connection.')
  }
  const startMs =
    reached === undefined ? first : reached - (numberIn(settings.lookBackDays) ?? cursor.lookBackDays) * dayMs
  return { startMs: Math.min(startMs, endMs), untilMs: endMs }
}

/** A time of a definition: a day, or a template. */
const timeIn = (template: string | undefined, nowMs: number): string =>
  template === undefined ? '' : fill(template, { nowMs })

/** The time of a backfill, up to the present at most: a last day is read to its end. */
function spanIn(range: SourceRange, nowMs: number): Span {
  const { fromMs, beforeMs } = timeOfRange(range)
  const untilMs = Math.min(nowMs, beforeMs)
  return { startMs: Math.min(fromMs, untilMs), untilMs }
}

/** The windows of a stream; one without times if it has no cursor. */
export const windowsIn = ({ cursor }: ApiStream, span: Span | undefined): readonly (TimeWindow | undefined)[] =>
  cursor && span ? windowsOf(cursor, span.startMs, span.untilMs) : [undefined]

/** Values for templates in the requests of a partition and a window, at a time in milliseconds since 1970. */
export const valuesOf = (
  partition: Partition | undefined,
  window: TimeWindow | undefined,
  nowMs: number,
): TemplateValues => ({
  nowMs,
  ...(partition && { partition: partition.value, parent: partition.parent }),
  ...(window && { cursor: { start: window.start, end: window.end } }),
})
