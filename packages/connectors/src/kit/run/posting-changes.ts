import { isObject, type JsonObject } from '../../platform-api/json.ts'
import { type Read, type Wrong, wrong } from '../../platform-api/rows/events.ts'
import { microsOf, microsOfUnits, unitsOf } from '../../platform-api/rows/money.ts'
import type { EventColumn } from '../columns.ts'
import type { PostedObject, PostingDestination, PostingLevel } from '../posting-facts.ts'
import { valueAt } from './open-api.ts'
import { amountsOf } from './read-postings.ts'

/** The currency of an account, and the decimals of its smallest unit at the platform. */
export type AccountMoney = { readonly currency: string; readonly digits: number }

/** A budget before and after, in millionths. */
export type BudgetChange = {
  readonly path: string
  readonly column: string
  readonly from: bigint
  readonly to: bigint
}

/** A tree with another value at a path. */
export function withValue(tree: JsonObject, path: string, value: unknown): JsonObject {
  const [key = '', ...rest] = path.split('.')
  if (rest.length === 0) return { ...tree, [key]: value }
  const below = tree[key]
  return { ...tree, [key]: withValue(isObject(below) ? below : {}, rest.join('.'), value) }
}

/** The values with amounts in the platform's units. Wrong if an amount has more decimals than the currency. */
export function inUnits(
  level: PostingLevel,
  values: JsonObject,
  { as }: PostingDestination['money'],
  { currency, digits }: AccountMoney,
): Read<JsonObject> {
  let read = values
  for (const { column, path } of amountsOf(level)) {
    const micros = microsOf(String(valueAt(values, path) ?? ''))
    if (micros === undefined) continue
    const units = unitsOf(micros, digits)
    if (units === undefined) {
      const few = digits === 0 ? 'no decimals' : `at most ${digits} decimals`
      return wrong(`The amount must have ${few}: the account is in ${currency}.`, column)
    }
    read = withValue(read, path, as === 'text' ? String(units) : Number(units))
  }
  return { read }
}

/** The values of a row that differ from an object, or why one of them cannot change. */
export function changesOf(level: PostingLevel, object: PostedObject, values: JsonObject): Read<JsonObject> {
  let changes: JsonObject = {}
  for (const [name, column] of Object.entries(level.columns)) {
    const value = valueAt(values, column.to)
    if (value === undefined || isSame(column, valueAt(object.values, column.to), value)) continue
    if (level.fixed.includes(name)) {
      return wrong(`The ${level.one} exists with another value, which cannot change.`, name)
    }
    changes = withValue(changes, column.to, value)
  }
  const impossible = level.cannot?.(object, changes)
  return impossible ?? { read: changes }
}

/** The column that a new object lacks. */
export function lacking(level: PostingLevel, values: JsonObject): Wrong | undefined {
  const isThere = (name: string) => valueAt(values, level.columns[name]?.to ?? '') !== undefined
  const names = level.needs.map((one) => [one].flat()).find((anyOf) => !anyOf.some(isThere))
  if (!names) return undefined
  const reason = `There is no ${level.one} with this name, and creating it needs a value in ${names.join(' or ')}.`
  return wrong(reason, names[0] ?? 'name')
}

/** The budgets among values, each with what it was before: nothing in a new object. */
export function budgetsIn(
  level: PostingLevel,
  values: JsonObject,
  object: PostedObject | undefined,
  { digits }: AccountMoney,
): BudgetChange[] {
  return amountsOf(level).flatMap(({ column, path, isBudget }) => {
    const to = microsOfUnits(valueAt(values, path), digits)
    const from = object && microsOfUnits(valueAt(object.values, path), digits)
    return isBudget && to !== undefined ? [{ column, path, from: from ?? 0n, to }] : []
  })
}

/** Whether a platform already has a value. Objects of a platform can have more keys, and lists another order. */
function isSame({ reading }: EventColumn, there: unknown, value: unknown): boolean {
  if (there === undefined || there === null) return false
  if (reading.kind === 'moment') return Date.parse(zoned(there)) === Date.parse(zoned(value))
  return contains(there, value)
}

/** Some platforms write zones as +0100. */
const zoned = (time: unknown): string => String(time).replace(/([+-]\d\d)(\d\d)$/, '$1:$2')

function contains(there: unknown, value: unknown): boolean {
  if (Array.isArray(value)) {
    if (!Array.isArray(there) || there.length !== value.length) return false
    return value.every((one) => there.some((other) => contains(other, one)))
  }
  if (isObject(value)) {
    return isObject(there) && Object.entries(value).every(([key, one]) => contains(there[key], one))
  }
  if (typeof value === 'number') return Number(there) === value
  return String(there) === String(value)
}

/** Values, replaced by other values. Objects are merged. */
export function merged(values: JsonObject, others: JsonObject): JsonObject {
  const all = Object.entries(others).map(([key, value]) => {
    const was = values[key]
    return [key, isObject(value) && isObject(was) ? merged(was, value) : value] as const
  })
  return { ...values, ...Object.fromEntries(all) }
}
