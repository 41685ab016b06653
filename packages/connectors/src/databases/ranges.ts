import { ConnectorError, type SourceContext, type SourceRange } from '@penstock/connector'
import type { Spot } from './checkpoints.ts'
import type { Reading } from './settings.ts'
import { inTimezone } from './timestamps.ts'

/** Rows by the times of their cursor: rows of a backfill, and rows that are read again because they can come late. */

/** How a cursor column says a time. */
export type CursorTime = {
  /** Its clock: UTC, that of the time zone in the settings, or days of it. */
  readonly clock: 'utc' | 'local' | 'day'
  /** The text of a time of this clock, `YYYY-MM-DD HH:MM:SS`, as the statement compares it; the same text unless given. */
  readonly textOf?: (time: string) => string
}

/** Bounds of the cursor, as texts of the database: the first value that is read, and the first one behind it. */
export type Within = { readonly from?: string; readonly before?: string }

/** Where a reading begins: behind a spot, or within bounds of its own. */
export type Beginning = {
  readonly earlier: Pick<Spot, 'after' | 'skip'> | undefined
  readonly within: Within | undefined
  /** Whether the chunks say where the next transfer continues. */
  readonly keepsCursor: boolean
}

/**
 * Where a transfer begins. A backfill reads its range alone. With a look-back window, rows come again whose cursor is within the window
 * before the last one that was read.
 * @param time how the cursor column says a time; `undefined` if it has numbers
 * @param ended where the transfer before ended
 * @throws ConnectorError `invalid_setting` if the cursor cannot have the range, or the window
 */
export function beginningOf(
  { range, log }: Pick<SourceContext, 'range'> & Partial<Pick<SourceContext, 'log'>>,
  reading: Pick<Reading, 'cursor' | 'lookBackHours' | 'timezone'> & Partial<Pick<Reading, 'lagSeconds'>>,
  time: CursorTime | undefined,
  ended: Pick<Spot, 'after' | 'skip'> | undefined,
): Beginning {
  const { cursor, lookBackHours, timezone } = reading
  if (range) {
    if (cursor === undefined) throw invalid('A backfill needs a cursor column: choose Incremental and name one.')
    if (!time) throw invalid(`The cursor column ${cursor} has no times, so that it has no range of days: name another.`)
    return { earlier: undefined, within: boundsOf(range, time, timezone), keepsCursor: false }
  }
  const keepsCursor = cursor !== undefined
  if (keepsCursor && time) sayWhatWaits(time, reading.lagSeconds ?? 0, log)
  if (!keepsCursor || lookBackHours === 0) return { earlier: ended, within: undefined, keepsCursor }
  if (!time) throw invalid(`The cursor column ${cursor} has no times: set the look-back window to 0.`)
  const last = ended?.after?.[0]
  const forward = last !== undefined && time.clock === 'local' ? hoursForward(last, lookBackHours, timezone) : 0
  const from = last === undefined ? undefined : shiftedBack(last, lookBackHours + forward)
  return from === undefined
    ? { earlier: ended, within: undefined, keepsCursor }
    : { earlier: undefined, within: { from }, keepsCursor }
}

/** Says which rows a transfer leaves to the next one, so that nobody misses them. */
function sayWhatWaits({ clock }: CursorTime, lagSeconds: number, log: SourceContext['log'] = () => {}): void {
  if (clock === 'day') log('Rows of today are read when the day is over.')
  else if (lagSeconds === 1) log('Rows of the last second are read by the next transfer.')
  else if (lagSeconds > 0) log(`Rows of the last ${lagSeconds} seconds are read by the next transfer.`)
}

function boundsOf({ from, to }: SourceRange, { clock, textOf = (text) => text }: CursorTime, timezone: string): Within {
  const isDays = from.length === 'YYYY-MM-DD'.length
  if (clock === 'day') {
    if (isDays) return { from: textOf(from), before: textOf(dayAfter(to)) }
    throw invalid('The cursor column has days: give the range in days.')
  }
  if (isDays) return { from: textOf(`${from} 00:00:00`), before: textOf(`${dayAfter(to)} 00:00:00`) }
  if (clock === 'utc') {
    const shown = (text: string) => text.slice(0, 19).replace('T', ' ')
    return { from: textOf(shown(from)), before: textOf(shown(to)) }
  }
  const local = localBounds(Date.parse(from), Date.parse(to), timezone)
  return { from: textOf(local.from), before: textOf(local.before) }
}

const hourMs = 3_600_000
const quarterMs = hourMs / 4
/** How far clocks were ever changed, at most. */
const changeMs = 24 * hourMs

/**
 * Bounds around all times that the clocks of a zone show between two instants. When they go back, they show an hour twice, and a later
 * instant can have an earlier time. Clocks change at quarters of an hour.
 * @param fromMs included, in milliseconds since 1970
 * @param toMs not included
 */
function localBounds(
  fromMs: number,
  toMs: number,
  timezone: string,
): { readonly from: string; readonly before: string } {
  const shown = (ms: number) => Date.parse(`${inTimezone(new Date(ms), timezone).replace(' ', 'T')}Z`)
  let [from, before] = [shown(fromMs), shown(fromMs)]
  const look = (startMs: number, endMs: number) => {
    for (let at = startMs; at < endMs; ) {
      const next = Math.min(Math.floor(at / quarterMs + 1) * quarterMs, endMs)
      from = Math.min(from, shown(at))
      before = Math.max(before, shown(at) + next - at)
      at = next
    }
  }
  look(fromMs, Math.min(toMs, fromMs + changeMs))
  look(Math.max(fromMs, toMs - changeMs), toMs)
  const textOf = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
  return { from: textOf(from), before: textOf(before) }
}

/** How many hours clocks of a zone may have been set forward before a time that they show, within so many hours. */
function hoursForward(text: string, hours: number, timezone: string): number {
  const at = Date.parse(`${text.slice(0, 19).replace(' ', 'T')}Z`)
  const offsetAt = (ms: number) => Date.parse(`${inTimezone(new Date(ms), timezone).replace(' ', 'T')}Z`) - ms
  if (Number.isNaN(at)) return 0
  const [early, late] = [at - hours * hourMs, at].map((ms) => [
    offsetAt(ms - changeMs / 2),
    offsetAt(ms + changeMs / 2),
  ])
  return Math.max(0, Math.max(...(late ?? [])) - Math.min(...(early ?? []))) / hourMs
}

const timeText = /^(\d{4}-\d\d-\d\d)(?:([T ])(\d\d:\d\d:\d\d)(.*))?$/s

/**
 * The text of a cursor so many hours earlier, in the same form: a time with any fraction and offset, a day, or microseconds since 1970.
 * @returns `undefined` if it is none of these, such as infinity
 */
export function shiftedBack(text: string, hours: number): string | undefined {
  if (/^\d{1,18}$/.test(text)) return String(BigInt(text) - BigInt(Math.round(hours * 3600)) * 1_000_000n)
  const found = timeText.exec(text)
  if (!found) return undefined
  const [, day = '', separator, time = '00:00:00', rest = ''] = found
  const at = Date.parse(`${day}T${time}Z`)
  if (Number.isNaN(at)) return undefined
  const early = new Date(at - hours * 3_600_000)
  if (early.getUTCFullYear() < 1) return undefined
  const shown = early.toISOString()
  return separator === undefined ? shown.slice(0, 10) : `${shown.slice(0, 10)}${separator}${shown.slice(11, 19)}${rest}`
}

const dayAfter = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10)

const invalid = (message: string): ConnectorError => new ConnectorError('invalid_setting', message)
