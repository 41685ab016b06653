import type { ASTNode } from '@marcbachmann/cel-js'
import { isObject } from '../../platform-api/json.ts'
import { formulaFunctions, numberOf, order } from './functions.ts'
import type { Formula } from './parse.ts'
import { Budget, FormulaError, formulaLimits, holds, isEmpty, textOf } from './values.ts'

/** Values of the roots, by name. `headers` may be those of an answer. */
export type Scope = Readonly<Record<string, unknown>>

/**
 * The value of an expression: JSON. A value that is missing, or cannot be made, is null.
 * @param nowMs the time of `now()`, in milliseconds since 1970
 * Throws `FormulaError` if it takes too many steps.
 */
export function evaluate({ root }: Formula, scope: Scope, nowMs: number): unknown {
  return new Evaluation(scope, nowMs).run(root) ?? null
}

class Evaluation {
  readonly #scope: Record<string, unknown>
  readonly #nowMs: number
  readonly #budget = new Budget()

  constructor(scope: Scope, nowMs: number) {
    this.#scope = { __proto__: null, ...scope }
    this.#nowMs = nowMs
  }

  run(node: ASTNode): unknown {
    this.#budget.spend(1)
    switch (node.op) {
      case 'value':
        return typeof node.args === 'bigint' ? Number(node.args) : node.args
      case 'id':
        return this.#scope[node.args]
      case '.':
        return at(this.run(node.args[0]), node.args[1])
      case '[]':
        return at(this.run(node.args[0]), this.run(node.args[1]))
      case 'call':
        return this.#call(node.args[0], node.args[1])
      case 'rcall':
        return this.#call(node.args[0], [node.args[1], ...node.args[2]])
      case 'list':
        return node.args.map((one) => this.run(one) ?? null)
      case 'map':
        return Object.fromEntries(node.args.map(([key, value]) => [textOf(this.run(key)), this.run(value) ?? null]))
      case '?:':
        return this.run(holds(this.run(node.args[0])) ? node.args[1] : node.args[2])
      case '&&':
        return holds(this.run(node.args[0])) && holds(this.run(node.args[1]))
      case '||':
        return holds(this.run(node.args[0])) || holds(this.run(node.args[1]))
      case '!_':
        return !holds(this.run(node.args))
      case '-_': {
        const number = numberOf(this.run(node.args))
        return number === undefined ? null : -number
      }
      case '.?':
      case '[?]':
        return null
      default:
        return this.#binary(node.op, this.run(node.args[0]), this.run(node.args[1]))
    }
  }

  #binary(operator: string, left: unknown, right: unknown): unknown {
    switch (operator) {
      case '==':
        return this.#isEqual(left, right)
      case '!=':
        return !this.#isEqual(left, right)
      case '<':
        return order(left, right) < 0
      case '<=':
        return order(left, right) <= 0
      case '>':
        return order(left, right) > 0
      case '>=':
        return order(left, right) >= 0
      case 'in':
        return this.#isIn(left, right)
      case '+':
        return this.#add(left, right)
      default:
        return calculate(operator, numberOf(left), numberOf(right))
    }
  }

  #isEqual(left: unknown, right: unknown): boolean {
    if (isEmpty(left) && isEmpty(right)) return left === right || (left ?? null) === (right ?? null)
    if (typeof left === 'object' && typeof right === 'object') {
      return this.#budget.made(JSON.stringify(left)) === this.#budget.made(JSON.stringify(right))
    }
    return left === right
  }

  #isIn(left: unknown, right: unknown): boolean {
    if (typeof right === 'string') return this.#budget.made(right).includes(textOf(left))
    if (right instanceof Headers) return right.has(textOf(left) || '-')
    if (isObject(right)) return Object.hasOwn(right, textOf(left))
    const items = Array.isArray(right) ? right : []
    this.#budget.spend(items.length)
    return items.some((one) => this.#isEqual(left, one))
  }

  #add(left: unknown, right: unknown): unknown {
    if (typeof left === 'number' && typeof right === 'number') return left + right
    if (Array.isArray(left) && Array.isArray(right)) {
      this.#budget.spend(left.length + right.length)
      return [...left, ...right].slice(0, formulaLimits.items)
    }
    return this.#budget.made(textOf(left) + textOf(right))
  }

  #call(name: string, args: readonly ASTNode[]): unknown {
    const [of, item, body] = args
    if (name === 'map' || name === 'filter' || name === 'exists') {
      if (!of || item?.op !== 'id' || !body) throw new FormulaError(`needs list.${name}(item, …)`)
      return this.#each(name, this.run(of), item.args, body)
    }
    if (name === 'coalesce' || name === 'either') {
      const isEnough = name === 'either' ? holds : (value: unknown) => !isEmpty(value)
      let value: unknown
      for (const one of args) {
        value = this.run(one)
        if (isEnough(value)) return value
      }
      return name === 'either' ? value : null
    }
    const run = formulaFunctions[name]
    if (!run) throw new FormulaError(`calls ${name}, which is not known`)
    return run(
      args.map((one) => this.run(one)),
      this.#budget,
      this.#nowMs,
    )
  }

  #each(name: 'map' | 'filter' | 'exists', list: unknown, item: string, body: ASTNode): unknown {
    const before = this.#scope[item]
    const found: unknown[] = []
    let exists = false
    for (const one of Array.isArray(list) ? list : []) {
      this.#scope[item] = one
      const value = this.run(body)
      if (name === 'map') found.push(value ?? null)
      else if (holds(value)) found.push(one)
      exists ||= holds(value)
      if (name === 'exists' && exists) break
    }
    this.#scope[item] = before
    return name === 'exists' ? exists : found
  }
}

function at(of: unknown, key: unknown): unknown {
  if (of instanceof Headers) return /^[\w-]+$/.test(textOf(key)) ? of.get(textOf(key)) : null
  if (Array.isArray(of)) return of.at(numberOf(key) ?? of.length)
  if (typeof of === 'string' && typeof key === 'number') return of.at(key)
  return isObject(of) && Object.hasOwn(of, textOf(key)) ? of[textOf(key)] : null
}

function calculate(operator: string, left: number | undefined, right: number | undefined): number | null {
  if (left === undefined || right === undefined) return null
  const value =
    operator === '-' ? left - right : operator === '*' ? left * right : operator === '/' ? left / right : left % right
  return Number.isFinite(value) ? value : null
}
