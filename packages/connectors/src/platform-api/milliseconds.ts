import type { BatchRow } from './batch-rows.ts'
import { type Read, wrong } from './events.ts'

/** How far the clocks of two machines may be apart. */
const aheadMsMax = 60_000
const dayMs = 86_400_000

/**
 * A time in milliseconds since 1970, from seconds or milliseconds since then, or from ISO 8601 with its zone.
 * @param daysMax how old the platform lets it be; absent for no bound
 */
export function readTimeMs(row: BatchRow, column: string, daysMax: number | undefined): Read<number> {
  const text = row.text(column)
  if (text === undefined) return wrong('The timestamp of the event is missing.', column)
  const ms = msOf(text)
  if (ms === undefined) {
    return wrong(
      'The timestamp must be seconds or milliseconds since 1970, or written as 2026-01-31T12:00:00Z with its zone.',
      column,
    )
  }
  const now = Date.now()
  if (ms > now + aheadMsMax) return wrong('The event lies in the future.', column)
  if (daysMax !== undefined && ms < now - daysMax * dayMs) {
    return wrong(`The event is older than the ${daysMax} days that the platform takes.`, column)
  }
  return { read: ms }
}

/** Times without a zone mean another one for everybody who reads them. */
function msOf(text: string): number | undefined {
  if (/^\d{12,13}$/.test(text)) return Number(text)
  if (/^\d{1,10}(\.\d+)?$/.test(text)) return Math.floor(Number(text) * 1000)
  if (!/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/i.test(text)) return undefined
  const ms = Date.parse(text.replace(' ', 'T'))
  return Number.isNaN(ms) ? undefined : ms
}
