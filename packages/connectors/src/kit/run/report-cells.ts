import { type Cell, type ColumnType, ConnectorError } from '@penstock/connector'
import { isInexact, mayBeInexact } from '@penstock/connector/files'
import { isObject, type JsonObject } from '../../platform-api/json.ts'
import type { ReportColumn } from '../report-columns.ts'
import type { ReadFacts, ReportRequest } from '../report-facts.ts'
import { valueAt } from './open-api.ts'

type Reviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown
const parseWith = JSON.parse as (text: string, reviver: Reviver) => unknown

/** Parses JSON. Numbers that a double cannot represent become texts, so that no digit is lost. Throws `SyntaxError`. */
export function exactJson(text: string): unknown {
  if (!mayBeInexact(text)) return JSON.parse(text)
  return parseWith(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && isInexact(value, source) ? source : value,
  )
}

/**
 * The types of columns, for destinations that have types. The platform's figures can have as many digits as a floating-point
 * number.
 */
const columnTypes: Readonly<Partial<Record<ReportColumn['type'], ColumnType>>> = {
  whole: { kind: 'bigint' },
  decimal: { kind: 'double' },
  money: { kind: 'double' },
  percent: { kind: 'double' },
  micros: { kind: 'double' },
  cents: { kind: 'double' },
  day: { kind: 'date' },
  boolean: { kind: 'boolean' },
  json: { kind: 'json' },
}

/** How the cells of a report are read of the rows of the platform. */
export type CellReader = {
  readonly names: readonly string[]
  readonly types: readonly (ColumnType | null)[]
  /** The cells of a row, in the order of `names`. */
  rowOf(item: JsonObject, to: Pick<ReportRequest, 'account' | 'about' | 'from' | 'to' | 'zone'>): Cell[]
}

/** Makes the reader of some columns. */
export function cellReader(
  columns: ReadonlyMap<string, ReportColumn>,
  { nulls = [], days }: Pick<ReadFacts, 'nulls' | 'days'> = {},
): CellReader {
  const names = [...columns.keys()]
  const missing = new Set(['', ...nulls])
  return {
    names,
    types: names.map((name) => columnTypes[(columns.get(name) as ReportColumn).type] ?? null),
    rowOf: (item, to) =>
      names.map((name) => {
        const column = columns.get(name) as ReportColumn
        const at = column.at ?? column.ask ?? name
        const value = Object.hasOwn(item, at) ? item[at] : valueAt(item, at)
        const cell = cellOf(column.type, typeof value === 'string' && missing.has(value.trim()) ? null : value)
        if (column.isDay) return days?.by === 'month' ? to.from : dayOfRow(cell, to)
        if (cell !== null) return cell
        return column.of === undefined ? null : ofAccount(column.of, to)
      }),
  }
}

/** Without its day, it is not known what a row replaces. */
function dayOfRow(cell: Cell, { from, to }: Pick<ReportRequest, 'from' | 'to'>): Cell {
  if (typeof cell === 'string' && /^\d{4}-\d\d-\d\d$/.test(cell)) return cell
  if (cell === null && from === to) return from
  throw new ConnectorError('malformed_response', 'A row of the report has no day.')
}

function ofAccount(
  of: NonNullable<ReportColumn['of']>,
  { account, about, zone }: Pick<ReportRequest, 'account' | 'about' | 'zone'>,
): Cell {
  if (of === 'account') return account
  return (of === 'zone' ? zone : about[of]) ?? null
}

/** A value of the platform as a cell. A missing figure is null, and not zero. Numbers keep all their digits. */
export function cellOf(type: ReportColumn['type'], value: unknown): Cell {
  if (value === undefined || value === null || value === '') return null
  if (type === 'json') return typeof value === 'string' ? value : JSON.stringify(value)
  if (type === 'day') return dayOf(value)
  if (type === 'seconds') return timeOf(value)
  if (type === 'boolean') return flagOf(value)
  if (typeof value === 'object') return JSON.stringify(value)
  const text = String(value)
  switch (type) {
    case 'whole': {
      const digits = withoutCommas(text)
      return /^-?\d+$/.test(digits) && Number.isSafeInteger(Number(digits)) ? Number(digits) : digits
    }
    case 'decimal':
    case 'money':
      return withoutCommas(text)
    case 'micros':
      return shifted(withoutCommas(text), 6)
    case 'cents':
      return shifted(withoutCommas(text), 2)
    case 'percent':
      return shifted(withoutCommas(text.replace(/\s*%$/, '')), 2)
    default:
      return typeof value === 'boolean' ? value : text
  }
}

/** A time in seconds since 1970 as ISO 8601. Anything else does not change. */
function timeOf(value: unknown): Cell {
  if (typeof value !== 'number' || value > 1e11)
    return typeof value === 'object' ? JSON.stringify(value) : String(value)
  return value > 0 ? new Date(value * 1000).toISOString().replace('.000Z', 'Z') : null
}

/** Commas between thousands are no part of a number. */
const withoutCommas = (text: string): string =>
  /^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(text) ? text.replaceAll(',', '') : text.trim()

/** Divides a number by a power of ten, by moving the point in its digits. Anything else does not change. */
export function shifted(number: string, places: number): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/.exec(number) ?? []
  if (whole === '') return number
  const digits = whole + fraction
  const point = whole.length + Number(exponent) - places
  const padded = point <= 0 ? '0'.repeat(1 - point) + digits : digits.padEnd(point, '0')
  const at = Math.max(1, point)
  const units = padded.slice(0, at).replace(/^0+(?=\d)/, '')
  const rest = padded.slice(at).replace(/0+$/, '')
  const result = rest === '' ? units : `${units}.${rest}`
  return sign === '-' && /[1-9]/.test(result) ? `-${result}` : result
}

/** A day in any form that platforms use, as YYYY-MM-DD. Other values do not change. */
function dayOf(value: unknown): Cell {
  if (isObject(value)) {
    const [year, month, day] = [value.year, value.month, value.day].map((part) => String(part ?? '').padStart(2, '0'))
    return /^\d{4}$/.test(year ?? '') ? `${year}-${month}-${day}` : JSON.stringify(value)
  }
  const text = String(value).trim()
  const [, compact, c1, c2] = /^(\d{4})(\d\d)(\d\d)$/.exec(text) ?? []
  if (compact !== undefined) return `${compact}-${c1}-${c2}`
  const [, year, month, day] = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)/.exec(text) ?? []
  if (year !== undefined) return `${year}-${month?.padStart(2, '0')}-${day?.padStart(2, '0')}`
  const [, m, d, y] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?!\d)/.exec(text) ?? []
  return y === undefined ? text : `${y}-${m?.padStart(2, '0')}-${d?.padStart(2, '0')}`
}

function flagOf(value: unknown): Cell {
  const text = String(value).toLowerCase()
  if (text === 'true' || text === '1' || text === 'yes') return true
  if (text === 'false' || text === '0' || text === 'no') return false
  return typeof value === 'object' ? JSON.stringify(value) : text
}
