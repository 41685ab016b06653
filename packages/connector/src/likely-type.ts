import { isDay } from '@penstock/wire/rules'
import type { Cell } from './rows.ts'

/** Types that databases read from texts as they are. */
export type PlainKind = 'bigint' | 'decimal' | 'boolean' | 'date' | 'timestamp' | 'instant'

/** A column has a likely type if at least this share of its values fits. Its other values are probably faults. */
const likelyPercent = 80

export const areMost = (fits: number, records: number): boolean => fits * 100 >= records * likelyPercent

/** The type of the values of a column. */
export type LikelyType = {
  readonly kind: PlainKind
  /** Number of values, without empty ones. */
  readonly records: number
  /** Number of values of this type. */
  readonly fits: number
  readonly isOf: (cell: Cell) => boolean
}

/**
 * The type of all or most values of a column without a declared type, such as a column of a file. A type needs values with only one
 * reading: whole numbers and decimals without leading zeros, `true` and `false`, and days and times of ISO 8601, all with a zone or all
 * without one. If all decimals look like `1.234`, the point may group digits, so the column is text. Digits after a zero are an
 * identifier, so the column is text too.
 * @param all whether every value must have the type
 * @returns undefined: the column is text
 */
export function likelyType(cells: readonly Cell[], all = false): LikelyType | undefined {
  const given = cells.filter((cell) => cell !== null && cell !== '')
  const records = given.length
  if (records === 0) return undefined
  for (const family of families) {
    const isOfFamily = (cell: Cell) => family.some((kind) => is[kind](cell))
    const fitting: Cell[] = []
    for (const [at, cell] of given.entries()) {
      if (isOfFamily(cell)) fitting.push(cell)
      else if (all || !areMost(records - (at + 1 - fitting.length), records)) break
    }
    if (all ? fitting.length < records : !areMost(fitting.length, records)) continue
    const kind = family.find((one) => fitting.every(is[one]))
    if (!kind) return undefined
    if (kind === 'decimal' && fitting.every(mayBeGrouped)) return undefined
    if ((kind === 'bigint' || kind === 'decimal') && given.some(isNumbered)) return undefined
    return { kind, records, fits: fitting.length, isOf: is[kind] }
  }
  return undefined
}

/** Types of the same kind of value, narrow types first. */
const families: readonly (readonly PlainKind[])[] = [
  ['bigint', 'decimal'],
  ['boolean'],
  ['date', 'timestamp', 'instant'],
]

const is: Readonly<Record<PlainKind, (cell: Cell) => boolean>> = {
  bigint: (cell) =>
    typeof cell === 'number' ? Number.isSafeInteger(cell) : /^(?:0|-?[1-9]\d{0,17})$/.test(String(cell)),
  decimal: (cell) => typeof cell !== 'boolean' && /^(?:0|-?(?:0|[1-9]\d{0,30})(?:\.\d{1,18})?)$/.test(String(cell)),
  boolean: (cell) => /^(?:true|false)$/.test(String(cell)),
  date: (cell) => /^\d{4}-\d\d-\d\d$/.test(String(cell)) && isDay(String(cell)),
  timestamp: (cell) => isTime(String(cell), ''),
  instant: (cell) => isTime(String(cell), 'zone'),
}

const time = /^(\d{4}-\d\d-\d\d)[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(?<zone>Z|[+-]\d\d:\d\d)?$/

function isTime(text: string, zone: 'zone' | ''): boolean {
  const found = time.exec(text)
  return found !== null && isDay(found[1] ?? '') && (found.groups?.zone !== undefined) === (zone === 'zone')
}

/** Whether a point in a text may group digits. */
const mayBeGrouped = (cell: Cell): boolean =>
  typeof cell === 'string' && /^(?:0|-?[1-9]\d{0,2}(?:\.\d{3})?|-?[1-9]\d{3,})$/.test(cell)

/** Whether digits are rather an identifier, such as a postal code, than a number. */
export const isNumbered = (cell: Cell): boolean => typeof cell === 'string' && /^[+-]?0\d/.test(cell)
