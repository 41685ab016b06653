import { Compiler, type Entry, type NamePath, type Operator, type OperatorSite } from './compile.ts'
import type { Compiled, Values } from './functions/function.ts'
import { plainNumber } from './functions/values.ts'
import type { ASTNode } from './syntax.ts'
import {
  checkLength,
  expressionLimits,
  isEmpty,
  isObject,
  isTrue,
  made,
  type Place,
  spend,
  type Value,
  type ValueKind,
} from './values.ts'

/** Values of the roots, by name. `headers` may be the headers of a response. */
export type Scope = Readonly<Record<string, unknown>>

type Of = Compiled<Scope>

/** The place of a text that does not come from a part of an expression. */
const nowhere: Place = { at: 0, length: 1 }

/** A value as text: an object as JSON, null as the empty text. Throws an `ExpressionError` if it is too long. */
export function textOfJson(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  checkLength(text.length, nowhere)
  return text
}

const values: Values = { textOf: textOfJson, order, nested: (value) => value, readsAnyTime: true }

/** The order of two numbers or texts; `NaN` if they cannot be compared. Texts that are numbers are compared as numbers. */
function order(a: Value, b: Value): number {
  const [left, right] = [plainNumber(a), plainNumber(b)]
  if (left !== undefined && right !== undefined) return left - right
  return typeof a === 'string' && typeof b === 'string' ? (a < b ? -1 : a > b ? 1 : 0) : Number.NaN
}

/** Expressions over JSON. A value that is missing, or cannot be computed, is null. */
export class JsonCompiler extends Compiler<Scope> {
  readonly language = 'definitions'
  readonly values = values
  readonly nothing = null
  readonly isMetered = true
  /** The names of the expression, in their order. */
  readonly names: NamePath[] = []

  named(path: NamePath, place: Place): Of {
    this.names.push(path)
    const [root, ...keys] = path
    return {
      kind: 'any',
      run: (scope) => {
        spend(keys.length, place)
        let value = Object.hasOwn(scope, root) ? (scope[root] as Value) : null
        for (const key of keys) value = within(value, key)
        return value
      },
    }
  }

  member(of: ASTNode, key: string): Of {
    const { run } = this.compile(of)
    return { kind: 'any', run: (scope) => within(run(scope), key) }
  }

  index(of: ASTNode, by: ASTNode): Of {
    const [{ run }, key] = [this.compile(of), this.compile(by)]
    return { kind: 'any', run: (scope) => within(run(scope), key.run(scope)) }
  }

  object(entries: readonly Entry<Scope>[]): Of {
    return {
      kind: 'any',
      run: (scope) =>
        Object.fromEntries(entries.map(({ key, value }) => [textOfJson(key.run(scope)), value.run(scope) ?? null])),
    }
  }

  condition(node: ASTNode): (scope: Scope) => boolean {
    const { run } = this.compile(node)
    return (scope) => isTrue(run(scope))
  }

  binary(operator: Operator, left: ASTNode, right: ASTNode, site: OperatorSite): Of {
    const [a, b] = [this.compile(left).run, this.compile(right).run]
    const operate = operators[operator]
    return { kind: 'any', run: (scope) => operate(a(scope), b(scope), site) }
  }

  converted(kind: ValueKind, { run, fixed }: Of): Of {
    const convert = converters[kind]
    if (!convert) return { kind, run, ...(fixed !== undefined && { fixed }) }
    return { kind, run: (scope) => convert(run(scope)), ...(fixed !== undefined && { fixed: convert(fixed) }) }
  }

  failing = () => () => null

  checkCount(): void {
    // Existing definitions can have more or fewer arguments. A missing argument is null.
  }
}

const converters: Partial<Record<ValueKind, (value: Value) => Value>> = {
  text: textOfJson,
  number: (value) => plainNumber(value) ?? null,
  list: (value) => (Array.isArray(value) ? value : []),
}

function within(of: Value, key: Value): Value {
  if (of instanceof Headers) return /^[\w-]+$/.test(textOfJson(key)) ? of.get(textOfJson(key)) : null
  if (Array.isArray(of)) return of.at(plainNumber(key) ?? of.length)
  if (typeof of === 'string' && typeof key === 'number') return of.at(key)
  return isObject(of) && Object.hasOwn(of, textOfJson(key)) ? (of[textOfJson(key)] as Value) : null
}

function isEqual(left: Value, right: Value, place: Place): boolean {
  if (isEmpty(left) && isEmpty(right)) return (left ?? null) === (right ?? null)
  if (typeof left === 'object' && typeof right === 'object') {
    return made(JSON.stringify(left), place) === made(JSON.stringify(right), place)
  }
  return left === right
}

function isIn(left: Value, right: Value, place: Place): boolean {
  if (typeof right === 'string') return made(right, place).includes(textOfJson(left))
  if (right instanceof Headers) return right.has(textOfJson(left) || '-')
  if (isObject(right)) return Object.hasOwn(right, textOfJson(left))
  const items: readonly Value[] = Array.isArray(right) ? right : []
  spend(items.length, place)
  return items.some((one) => isEqual(left, one, place))
}

function add(left: Value, right: Value, place: Place): Value {
  if (typeof left === 'number' && typeof right === 'number') return left + right
  if (Array.isArray(left) && Array.isArray(right)) {
    spend(left.length + right.length, place)
    return [...left, ...right].slice(0, expressionLimits.items)
  }
  return made(textOfJson(left) + textOfJson(right), place)
}

const calculated = (calculate: (left: number, right: number) => number) => (a: Value, b: Value) => {
  const [left, right] = [plainNumber(a), plainNumber(b)]
  if (left === undefined || right === undefined) return null
  const value = calculate(left, right)
  return Number.isFinite(value) ? value : null
}

const operators: Readonly<Record<Operator, (left: Value, right: Value, place: Place) => Value>> = {
  '==': isEqual,
  '!=': (left, right, place) => !isEqual(left, right, place),
  '<': (left, right) => order(left, right) < 0,
  '<=': (left, right) => order(left, right) <= 0,
  '>': (left, right) => order(left, right) > 0,
  '>=': (left, right) => order(left, right) >= 0,
  in: isIn,
  '+': add,
  '-': calculated((left, right) => left - right),
  '*': calculated((left, right) => left * right),
  '/': calculated((left, right) => left / right),
  '%': calculated((left, right) => left % right),
}
