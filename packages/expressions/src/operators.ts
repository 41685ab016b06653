import type { OperatorSite } from './compile.ts'
import type { Compiled } from './functions/function.ts'
import {
  conversions,
  ExpressionError,
  kindOfValue,
  made,
  nameOfKind,
  type Place,
  type Value,
  type ValueKind,
} from './values.ts'

/** Operators between the values of a row. */

/** Refuses two parts if their kinds are known and different. */
export function checkMixed(left: Compiled, right: Compiled, site: OperatorSite): void {
  const isSame = left.kind === right.kind || left.kind === 'any' || right.kind === 'any'
  if (!isSame && left.fixed !== '' && right.fixed !== '') throw mixed(left.kind, right.kind, site)
}

/** Refuses values of two kinds that are not the same, if neither is empty. */
function refuseMixed(left: Value, right: Value, site: OperatorSite): void {
  const [kind, other] = [kindOfValue(left), kindOfValue(right)]
  if (kind !== other && left !== '' && right !== '') throw mixed(kind, other, site)
}

function mixed(left: ValueKind, right: ValueKind, site: OperatorSite): ExpressionError {
  const [text, other] = left === 'text' ? [left, right] : [right, left]
  const how = text === 'text' ? conversions[other] : ''
  const sides = `${site.left} is ${nameOfKind(left)}, and ${site.right} is ${nameOfKind(right)}`
  return new ExpressionError(sides + how, site, { hasSubject: true })
}

/** Whether two values are the same. An empty one equals only an empty one. */
export function isEqual(left: Value, right: Value, site: OperatorSite): boolean {
  if (left === right) return true
  if (typeof left !== typeof right) refuseMixed(left, right, site)
  if (typeof left === 'object' || typeof right === 'object') {
    throw new ExpressionError('compares a list: compare its items, with exists or all', site)
  }
  return false
}

type Comparison = '<' | '<=' | '>' | '>='

/** The order of two numbers or two texts. Nothing is less or more than an empty value. */
export function comparing(operator: Comparison): (left: Value, right: Value, site: OperatorSite) => boolean {
  const holds = orders[operator]
  return (left, right, site) => {
    if (left === '' || right === '') return false
    if (typeof left !== typeof right) refuseMixed(left, right, site)
    if (typeof left !== 'number' && typeof left !== 'string') {
      throw new ExpressionError('compares neither numbers nor texts', site)
    }
    return holds(left, right as typeof left)
  }
}

const orders: Readonly<Record<Comparison, (left: string | number, right: string | number) => boolean>> = {
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
}

const isLess = comparing('<')

/** Less than 0 if the first value is less; more than 0 otherwise. */
export const orderOf = (left: Value, right: Value, site: OperatorSite): number =>
  isLess(left, right, site) ? -1 : isLess(right, left, site) ? 1 : 0

/** The sum of two numbers, or two texts joined. A number and nothing are nothing. */
export function add(left: Value, right: Value, site: OperatorSite): Value {
  if (typeof left === 'number' && typeof right === 'number') return finite(left + right, site)
  if (typeof left === 'string' && typeof right === 'string') return made(left + right, site)
  checkNumbers(left, right, site)
  return ''
}

/** Refuses values that are neither numbers nor empty. */
function checkNumbers(left: Value, right: Value, site: OperatorSite): void {
  if (left !== '' && right !== '') refuseMixed(left, right, site)
  for (const one of [left, right]) {
    if (typeof one === 'number' || one === '') continue
    const kind = kindOfValue(one)
    throw new ExpressionError(`calculates with ${nameOfKind(kind)}${kind === 'text' ? conversions.number : ''}`, site)
  }
}

type Arithmetic = '-' | '*' | '/' | '%'

/** The result for two numbers; no value if one of them is empty. */
export function arithmetic(operator: Arithmetic): (left: Value, right: Value, site: OperatorSite) => Value {
  const calculate = calculations[operator]
  const divides = operator === '/' || operator === '%'
  return (left, right, site) => {
    if (typeof left !== 'number' || typeof right !== 'number') {
      checkNumbers(left, right, site)
      return ''
    }
    if (divides && right === 0) throw new ExpressionError('divides by zero', site)
    return finite(calculate(left, right), site)
  }
}

const calculations: Readonly<Record<Arithmetic, (left: number, right: number) => number>> = {
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '%': (left, right) => left % right,
}

function finite(number: number, place: Place): number {
  if (!Number.isFinite(number)) throw new ExpressionError('makes a number that is too large', place)
  return number
}

/** A value as a condition: an empty one does not hold. */
export function holds(value: Value, place: Place): boolean {
  if (typeof value === 'boolean') return value
  if (value === '') return false
  throw new ExpressionError(`has ${nameOfKind(kindOfValue(value))} for a condition${conversions.condition}`, place)
}
