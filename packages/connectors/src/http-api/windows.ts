import { ConnectorError } from '@penstock/connector'
import type { StreamCursor } from './definition.ts'

/** The time of one request. */
export type TimeWindow = { readonly start: string; readonly end: string }

const dayMs = 86_400_000
const windowsMax = 20_000

/**
 * Divides a time into windows of the step of a cursor, each in its format.
 * @param startMs the beginning, in milliseconds since 1970; `untilMs` the end
 * Throws `invalid_setting` if there would be too many.
 */
export function windowsOf({ format, stepDays }: StreamCursor, startMs: number, untilMs: number): TimeWindow[] {
  const stepMs = stepDays === undefined ? Number.POSITIVE_INFINITY : stepDays * dayMs
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
  if (format === 'milliseconds') return String(ms)
  if (format === 'seconds') return String(Math.floor(ms / 1000))
  const time = new Date(ms).toISOString()
  return format === 'date' ? time.slice(0, 10) : `${time.slice(0, 19)}Z`
}
