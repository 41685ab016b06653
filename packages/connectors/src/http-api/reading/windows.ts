import { ConnectorError } from '@penstock/connector'
import { formatMs, formOfStrftime } from '@penstock/expressions/times'
import type { StreamCursor } from '../definition/definition.ts'

/** The time of one request. */
export type TimeWindow = { readonly start: string; readonly end: string }

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const windowsMax = 20_000

/**
 * Divides a time into windows of the step of a cursor, each in its format.
 * @param startMs the beginning, in milliseconds since 1970; `untilMs` the end
 * Throws `invalid_setting` if there would be too many.
 */
export function windowsOf(cursor: StreamCursor, startMs: number, untilMs: number): TimeWindow[] {
  const { format, stepDays, stepHours } = cursor
  const ofHours = stepHours === undefined ? Number.POSITIVE_INFINITY : stepHours * hourMs
  const stepMs = stepDays === undefined ? ofHours : stepDays * dayMs
  if ((untilMs - startMs) / stepMs > windowsMax) {
    throw new ConnectorError('invalid_setting', 'The start date is too long ago for this step; choose a later one.')
  }
  const windows: TimeWindow[] = []
  let at = startMs
  do {
    const end = Math.min(untilMs, at + stepMs)
    windows.push({ start: written(at, format), end: written(Math.max(at, end), format) })
    at = end
  } while (at < untilMs)
  return windows
}

function written(ms: number, format: StreamCursor['format']): string {
  if (format === 'milliseconds' || format === '%ms') return String(ms)
  if (format === 'seconds' || format === '%s') return String(Math.floor(ms / 1000))
  if (format.includes('%')) return formatMs(ms, formOfStrftime(format) ?? '')
  const time = new Date(ms).toISOString()
  return format === 'date' ? time.slice(0, 10) : `${time.slice(0, 19)}Z`
}
