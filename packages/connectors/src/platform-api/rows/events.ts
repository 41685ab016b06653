import { createHash } from 'node:crypto'
import type { Batch, Rejection } from '@penstock/connector'
import { isObject, type JsonObject, parseJson } from '../json.ts'
import { type BatchRow, rowsOf } from './batch-rows.ts'

/** Why an event cannot be sent, without a value of its row. */
export type Wrong = { readonly wrong: string; readonly field?: string }

/** The result of reading a value. */
export type Read<T> = { readonly read: T } | Wrong

/** @param field the column to fix: every rejection names one */
export const wrong = (reason: string, field: string): Wrong => ({ wrong: reason, field })

/** An event and the row that it came from. */
export type RowEvent<Event> = { readonly index: number; readonly event: Event }

/** The rejection of a row with an invalid value. @param index of the row in its batch, from 0 */
export const rejectionOf = (index: number, { wrong: reason, field }: Wrong): Rejection => ({
  index,
  reason,
  ...(field ? { field } : {}),
})

/** Reads each row of a batch. Rejects unreadable rows with the reason. */
export function readRows<T>(batch: Batch, read: (row: BatchRow) => Read<T>): { rows: T[]; rejected: Rejection[] } {
  const rows: T[] = []
  const rejected: Rejection[] = []
  for (const row of rowsOf(batch)) {
    const found = read(row)
    if ('read' in found) rows.push(found.read)
    else rejected.push(rejectionOf(row.index, found))
  }
  return { rows, rejected }
}

/** Creates an event from each row. Rows that are not valid events are rejected with the reason. */
export function readEvents<Event>(
  batch: Batch,
  read: (row: BatchRow) => Read<Event>,
): { events: RowEvent<Event>[]; rejected: Rejection[] } {
  const { rows, rejected } = readRows(batch, (row): Read<RowEvent<Event>> => {
    const found = read(row)
    return 'read' in found ? { read: { index: row.index, event: found.read } } : found
  })
  return { events: rows, rejected }
}

/**
 * The ID by which a platform recognises a repeated event: the row's own ID, or else an ID that is the same whenever this row is
 * repeated in this batch, even if other rows of the batch no longer exist.
 */
export function eventIdOf(batch: Batch, row: BatchRow): string {
  return row.text('event_id') ?? idsOf(batch)[row.index] ?? ''
}

const known = new WeakMap<Batch, readonly string[]>()

/** An ID for each row of a batch, also for rows that are equal. */
function idsOf(batch: Batch): readonly string[] {
  const made = known.get(batch)
  if (made) return made
  const counts = new Map<string, number>()
  const ids = batch.rows.map((row) => {
    const text = JSON.stringify(row)
    const count = counts.get(text) ?? 0
    counts.set(text, count + 1)
    return createHash('sha256').update(`${batch.key}:${count}:${text}`).digest('hex').slice(0, 32)
  })
  known.set(batch, ids)
  return ids
}

/** The object that a cell contains as JSON. An empty object if the cell is empty. */
export function readObject(row: BatchRow, column: string): Read<JsonObject> {
  const text = row.text(column)
  if (text === undefined) return { read: {} }
  const value = parseJson(text)
  return isObject(value) ? { read: value } : wrong('The value is not a JSON object.', column)
}

/** How much the clocks of two machines can differ. */
const aheadMsMax = 60_000
const dayMs = 86_400_000

/** The forms of a time that a column accepts. */
export type TimeForms = {
  /** Converts a number to milliseconds since 1970. `undefined` if it is not such a time. */
  readonly numberMs: (text: string) => number | undefined
  /** How the numbers are called in messages: `seconds`. */
  readonly numbers: string
}

/**
 * A time in milliseconds since 1970, from a number or from ISO 8601 with a time zone.
 * @param daysMax how old the platform allows it to be; absent for no limit
 */
export function readTime(
  row: BatchRow,
  column: string,
  daysMax: number | undefined,
  { numberMs, numbers }: TimeForms,
): Read<number> {
  const text = row.text(column)
  if (text === undefined) return wrong('The timestamp of the event is missing.', column)
  const ms = numberMs(text) ?? isoMs(text)
  if (ms === undefined) {
    return wrong(
      `The timestamp must be ${numbers} since 1970, or written as 2026-01-31T12:00:00Z with its zone.`,
      column,
    )
  }
  const now = Date.now()
  if (ms > now + aheadMsMax) return wrong('The event lies in the future.', column)
  if (daysMax !== undefined && ms < now - daysMax * dayMs) {
    return wrong(`The event is older than the ${daysMax} days that the platform accepts.`, column)
  }
  return { read: ms }
}

/** Milliseconds of a time of ISO 8601 with its zone: times without a zone mean another time for every reader. */
export function isoMs(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/i.test(text)) return undefined
  const ms = Date.parse(text.replace(' ', 'T'))
  return Number.isNaN(ms) ? undefined : ms
}

/** Milliseconds of a number of seconds since 1970. `undefined` if it is not such a number. */
export const secondsMs = (text: string): number | undefined =>
  /^\d{1,10}(\.\d+)?$/.test(text) ? Math.floor(Number(text) * 1000) : undefined

/**
 * A time in whole seconds since 1970, from such a number or from ISO 8601 with a time zone.
 * @param daysMax how old the platform allows it to be; absent for no limit
 */
export function readTimestamp(row: BatchRow, column: string, daysMax: number | undefined): Read<number> {
  const found = readTime(row, column, daysMax, { numberMs: secondsMs, numbers: 'seconds' })
  return 'read' in found ? { read: Math.floor(found.read / 1000) } : found
}
