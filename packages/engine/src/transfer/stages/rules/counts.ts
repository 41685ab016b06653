import type { Cell, Row } from '@penstock/connector'
import type { ConnectionRule } from '@penstock/wire'
import type { UniqueValues } from './unique-values.ts'

/** Counts of the rules of a connection, over the columns of a source. */

/** Counts of one rule, as they are stored with the checkpoint. */
export type RuleCount = {
  /** Number of records that break it, and the number of the first one. */
  readonly broken: number
  readonly first: number | null
  /** The newest time, in milliseconds. */
  readonly newest: number | null
  /** Whether the source has no such column. */
  readonly missing: boolean
}

const nothing: RuleCount = { broken: 0, first: null, newest: null, missing: false }

/** Counts of rules that have counted no record. */
export const noCounts = (rules: readonly ConnectionRule[]): readonly RuleCount[] => rules.map(() => nothing)

/** Sums of the counts of two groups of records; `later` has the higher numbers. */
export const sumOf = (counts: readonly RuleCount[], later: readonly RuleCount[]): readonly RuleCount[] =>
  counts.map((one, i) => {
    const other = later[i] ?? nothing
    const newest = Math.max(one.newest ?? Number.NEGATIVE_INFINITY, other.newest ?? Number.NEGATIVE_INFINITY)
    return {
      broken: one.broken + other.broken,
      first: one.first ?? other.first,
      newest: Number.isFinite(newest) ? newest : null,
      missing: one.missing || other.missing,
    }
  })

/** A record of the source, and its number. */
export type NumberedRow = { readonly number: number; readonly raw: Row }

/**
 * Counts records.
 * @param columns of the source
 * @param rows in their order
 */
export function countRows(
  rules: readonly ConnectionRule[],
  columns: readonly string[],
  rows: readonly NumberedRow[],
  unique: UniqueValues,
): readonly RuleCount[] {
  return rules.map((rule, place) => {
    if (rule.column === undefined || rows.length === 0) return nothing
    const at = columns.indexOf(rule.column)
    if (at === -1) return { ...nothing, missing: true }
    if (rule.check === 'freshness') return { ...nothing, newest: newestOf(rows, at) }
    const breaks = breaksOf(rule)
    let broken = 0
    let first: number | null = null
    for (const { number, raw } of rows) {
      const cell = raw[at] ?? null
      const isBroken =
        rule.check === 'unique' ? !isEmpty(cell) && unique.isSeen(place, String(cell), number) : breaks(cell)
      if (!isBroken) continue
      broken += 1
      first ??= number
    }
    return { ...nothing, broken, first }
  })
}

const isEmpty = (cell: Cell): boolean => cell === null || (typeof cell === 'string' && cell.trim() === '')

/** Whether a value breaks a rule. Values that are empty break no rule but that against them. */
function breaksOf({ check, values = [], min, max }: ConnectionRule): (cell: Cell) => boolean {
  if (check === 'empty') return isEmpty
  if (check === 'values') {
    const accepted = new Set(values)
    return (cell) => !isEmpty(cell) && !accepted.has(String(cell))
  }
  return (cell) => {
    if (isEmpty(cell)) return false
    const value = numberOf(cell)
    return value === undefined || value < (min ?? Number.NEGATIVE_INFINITY) || value > (max ?? Number.POSITIVE_INFINITY)
  }
}

function numberOf(cell: Cell): number | undefined {
  if (typeof cell === 'number') return cell
  if (typeof cell !== 'string' || !/^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/.test(cell)) return undefined
  return Number(cell)
}

function newestOf(rows: readonly NumberedRow[], at: number): number | null {
  let newest: number | null = null
  for (const { raw } of rows) {
    const time = timeOf(raw[at] ?? null)
    if (time !== undefined && (newest === null || time > newest)) newest = time
  }
  return newest
}

/** Numbers from here on are milliseconds, not seconds: as seconds they would be in the year 5138. */
const millisecondsFrom = 100_000_000_000

/** Milliseconds of an ISO 8601 date or time, UTC unless it has an offset, or of a Unix time in seconds or milliseconds. */
function timeOf(cell: Cell): number | undefined {
  const value = numberOf(cell)
  if (value !== undefined) return Math.abs(value) < millisecondsFrom ? value * 1000 : value
  if (typeof cell !== 'string') return undefined
  const [, date, time, offset] =
    /^\s*(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?\s*$/.exec(
      cell,
    ) ?? []
  if (date === undefined) return undefined
  const zone =
    offset === undefined || offset === 'Z' ? 'Z' : `${offset.slice(0, 3)}:${offset.slice(3).replace(':', '') || '00'}`
  const ms = Date.parse(`${date}T${time ?? '00:00'}${zone}`)
  return Number.isNaN(ms) ? undefined : ms
}
