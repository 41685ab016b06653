import { createHash } from 'node:crypto'
import type { Batch, Rejection } from '@penstock/connector'
import { type BatchRow, rowsOf } from './batch-rows.ts'
import { isObject, type JsonObject, parseJson } from './json.ts'

/** Why an event cannot be sent, without a value of its row. */
export type Wrong = { readonly wrong: string; readonly field?: string }

/** What came of reading a value. */
export type Read<T> = { readonly read: T } | Wrong

export const wrong = (reason: string, field?: string): Wrong => ({ wrong: reason, ...(field ? { field } : {}) })

/** An event and the row that it came from. */
export type RowEvent<Event> = { readonly index: number; readonly event: Event }

/** Makes an event of each row; those of which none can be made are rejected with the reason. */
export function readEvents<Event>(
  batch: Batch,
  read: (row: BatchRow) => Read<Event>,
): { events: RowEvent<Event>[]; rejected: Rejection[] } {
  const events: RowEvent<Event>[] = []
  const rejected: Rejection[] = []
  for (const row of rowsOf(batch)) {
    const found = read(row)
    if ('read' in found) events.push({ index: row.index, event: found.read })
    else rejected.push({ index: row.index, reason: found.wrong, ...(found.field ? { field: found.field } : {}) })
  }
  return { events, rejected }
}

/**
 * The ID by which a platform recognises an event that comes twice: the row's own, else one that is the same whenever
 * this batch comes again.
 */
export function eventIdOf(batch: Batch, row: BatchRow): string {
  const own = row.text('event_id')
  return own ?? createHash('sha256').update(`${batch.key}:${row.index}`).digest('hex').slice(0, 32)
}

/** An object that a cell holds as JSON; an empty one where the cell is empty. */
export function readObject(row: BatchRow, column: string): Read<JsonObject> {
  const text = row.text(column)
  if (text === undefined) return { read: {} }
  const value = parseJson(text)
  return isObject(value) ? { read: value } : wrong('The value is no JSON object.', column)
}

/** How far the clocks of two machines may be apart. */
const aheadSecondsMax = 60

/**
 * A time in seconds since 1970, from such a number or from ISO 8601 with its zone.
 * @param daysMax how old the platform lets it be; absent for no bound
 */
export function readTimestamp(row: BatchRow, column: string, daysMax: number | undefined): Read<number> {
  const text = row.text(column)
  if (text === undefined) return wrong('The timestamp of the event is missing.', column)
  const seconds = secondsOf(text)
  if (seconds === undefined) {
    return wrong('The timestamp must be seconds since 1970, or written as 2026-01-31T12:00:00Z with its zone.', column)
  }
  const now = Date.now() / 1000
  if (seconds > now + aheadSecondsMax) return wrong('The event lies in the future.', column)
  if (daysMax !== undefined && seconds < now - daysMax * 86_400) {
    return wrong(`The event is older than the ${daysMax} days that the platform takes.`, column)
  }
  return { read: seconds }
}

/** Times without a zone mean another one for everybody who reads them. */
function secondsOf(text: string): number | undefined {
  if (/^\d{1,10}(\.\d+)?$/.test(text)) return Math.floor(Number(text))
  if (!/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/i.test(text)) return undefined
  const milliseconds = Date.parse(text.replace(' ', 'T'))
  return Number.isNaN(milliseconds) ? undefined : Math.floor(milliseconds / 1000)
}
