import { conversions, ExpressionError, kindOfValue, made, nameOfKind, type Value, type ValueKind } from './values.ts'

/** Where an operator is, and the texts of both sides, which are the user's own. */
export type OperatorSite = { readonly at: number; readonly left: string; readonly right: string }

/** Refuses values of two kinds that are not the same, if neither is empty. */
function refuseMixed(left: Value, right: Value, site: OperatorSite): void {
  const [kind, other] = [kindOfValue(left), kindOfValue(right)]
  if (kind !== other && left !== '' && right !== '') throw mixed(kind, other, site)
}

/** The error of an operator between two kinds. */
export function mixed(left: ValueKind, right: ValueKind, site: OperatorSite): ExpressionError {
  const [text, other] = left === 'text' ? [left, right] : [right, left]
  const how = text === 'text' ? conversions[other] : ''
  const sides = `${site.left} is ${nameOfKind(left)}, and ${site.right} is ${nameOfKind(right)}`
  return new ExpressionError(sides + how, site.at)
}

/** Whether two values are the same. An empty one is the same as an empty one alone. */
export function isEqual(left: Value, right: Value, site: OperatorSite): boolean {
  if (left === right) return true
  if (typeof left !== typeof right) refuseMixed(left, right, site)
  if (typeof left === 'object' || typeof right === 'object') {
    throw new ExpressionError('compares a list: compare its items, with exists or all', site.at)
  }
  return false
}

export type Comparison = '<' | '<=' | '>' | '>='

/** The order of two numbers or two texts. Nothing is less or more than an empty value. */
export function comparing(operator: Comparison): (left: Value, right: Value, site: OperatorSite) => boolean {
  const holds = orders[operator]
  return (left, right, site) => {
    if (left === '' || right === '') return false
    if (typeof left !== typeof right) refuseMixed(left, right, site)
    if (typeof left !== 'number' && typeof left !== 'string') {
      throw new ExpressionError('compares neither numbers nor texts', site.at)
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

/** The sum of two numbers, or two texts joined. A number and nothing are nothing. */
export function add(left: Value, right: Value, site: OperatorSite): Value {
  if (typeof left === 'number' && typeof right === 'number') return finite(left + right, site.at)
  if (typeof left === 'string' && typeof right === 'string') return made(left + right, site.at)
  return calculate('+', left, right, site)
}

export type Arithmetic = '-' | '*' | '/' | '%'

/** The result for two numbers; nothing if one of them is empty. */
export function calculate(operator: Arithmetic | '+', left: Value, right: Value, site: OperatorSite): Value {
  const { at } = site
  if (left !== '' && right !== '') refuseMixed(left, right, site)
  for (const one of [left, right]) {
    if (typeof one !== 'number' && one !== '') {
      const kind = kindOfValue(one)
      throw new ExpressionError(`calculates with ${nameOfKind(kind)}${kind === 'text' ? conversions.number : ''}`, at)
    }
  }
  if (left === '' || right === '') return ''
  const [a, b] = [left as number, right as number]
  switch (operator) {
    case '-':
      return finite(a - b, at)
    case '*':
      return finite(a * b, at)
    case '/':
      if (b === 0) throw new ExpressionError('divides by zero', at)
      return finite(a / b, at)
    case '%':
      if (b === 0) throw new ExpressionError('divides by zero', at)
      return a % b
    default:
      return finite(a + b, at)
  }
}

function finite(number: number, at: number): number {
  if (!Number.isFinite(number)) throw new ExpressionError('makes a number that is too large', at)
  return number
}

/** A value as a condition: an empty one does not hold. */
export function holds(value: Value, at: number): boolean {
  if (typeof value === 'boolean') return value
  if (value === '') return false
  throw new ExpressionError(`has ${nameOfKind(kindOfValue(value))} for a condition${conversions.condition}`, at)
}
