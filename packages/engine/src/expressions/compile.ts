import type { Row } from '@penstock/connector'
import { answerKey } from '../mapping/answers.ts'
import { type CallSite, type ExpressionFunction, expressionFunctions } from './functions.ts'
import { add, calculate, comparing, holds, isEqual, mixed, type OperatorSite } from './operators.ts'
import type { ASTNode } from './syntax.ts'
import {
  conversions,
  ExpressionError,
  expressionLimits,
  kindOfValue,
  nameOfKind,
  spend,
  type Value,
  type ValueKind,
} from './values.ts'

/** A part of an expression that is ready to be evaluated. */
export type Compiled = {
  readonly kind: ValueKind
  readonly run: (row: Row) => Value
  /** Its value if it is the same for all rows. */
  readonly fixed?: Value
}

/** A name of an expression, which is a column of the source. @returns its index; -1 if the columns are not known yet */
export type ColumnOf = (name: string, at: number) => number

const macros: ReadonlySet<string> = new Set(['exists', 'all', 'filter', 'map'])

/** All names that can be called. */
export const callable: readonly string[] = [...expressionFunctions.keys(), 'lookup', ...macros].sort()

type Call = { readonly name: string; readonly args: readonly ASTNode[]; readonly node: ASTNode }

/** Makes functions of the tree of one expression. Throws an `ExpressionError` for everything that is known to be wrong. */
export class Compiler {
  readonly #columnOf: ColumnOf
  /** The names of the items of lists, the innermost last, and their values while the expression runs. */
  readonly #names: string[] = []
  readonly #values: Value[] = []
  #depth = 0
  /** Whether a part of it needs the key of keyed hashes. */
  needsKey = false

  constructor(columnOf: ColumnOf) {
    this.#columnOf = columnOf
  }

  compile(node: ASTNode): Compiled {
    if (++this.#depth > expressionLimits.depth) throw new ExpressionError('is too deep', node.start)
    try {
      return this.#compile(node)
    } finally {
      this.#depth--
    }
  }

  #compile(node: ASTNode): Compiled {
    switch (node.op) {
      case 'value':
        return literal(node.args, node.start)
      case 'id':
        return this.#identifier(node.args, node.start)
      case '.':
        if (this.#isRow(node.args[0])) return this.#column(node.args[1], node.start)
        throw new ExpressionError('has a name after a dot that is no column: write row.name, or json(…)', node.start)
      case '[]':
        return this.#index(node.args[0], node.args[1])
      case 'call':
        return this.#call({ name: node.args[0], args: node.args[1], node })
      case 'rcall':
        return this.#call({ name: node.args[0], args: [node.args[1], ...node.args[2]], node })
      case 'list':
        return this.#list(node.args, node.start)
      case '?:':
        return this.#choice(node.args)
      case '&&':
      case '||':
        return this.#logical(node.op, node.args)
      case '!_':
        return not(this.#condition(node.args))
      case '-_':
        return negative(this.#of('number', node.args), node.start)
      case 'map':
        throw new ExpressionError('has a table outside of lookup(value, {…})', node.start)
      case '.?':
      case '[?]':
        throw new ExpressionError('has an operator that is not supported', node.start)
      default:
        return this.#binary(node.op, node.args)
    }
  }

  #identifier(name: string, at: number): Compiled {
    const slot = this.#names.lastIndexOf(name)
    const values = this.#values
    if (slot >= 0) return { kind: 'any', run: () => values[slot] as Value }
    if (name === 'row') throw new ExpressionError('needs a column behind row: row.name or row["name"]', at)
    return this.#column(name, at)
  }

  #isRow = (node: ASTNode): boolean => node.op === 'id' && node.args === 'row' && !this.#names.includes('row')

  #column(name: string, at: number): Compiled {
    const index = this.#columnOf(name, at)
    return { kind: 'any', run: (row) => row[index] ?? '' }
  }

  #index(of: ASTNode, by: ASTNode): Compiled {
    if (this.#isRow(of)) {
      if (by.op === 'value' && typeof by.args === 'string') return this.#column(by.args, of.start)
      throw new ExpressionError('must name the column as a text: row["name"]', by.start)
    }
    const list = this.#of('list', of)
    const index = this.#of('number', by)
    return {
      kind: 'any',
      run: (row) => {
        const items = list.run(row) as readonly Value[]
        const at = index.run(row)
        return (at === '' ? undefined : items.at(at as number)) ?? ''
      },
    }
  }

  #list(nodes: readonly ASTNode[], at: number): Compiled {
    const items = nodes.map((node) => this.compile(node))
    if (items.every(({ fixed }) => fixed !== undefined)) return fixedOf(items.map(({ fixed }) => fixed as Value))
    return {
      kind: 'list',
      run: (row) => {
        spend(items.length, at)
        return items.map(({ run }) => run(row))
      },
    }
  }

  #choice([condition, yes, no]: readonly [ASTNode, ASTNode, ASTNode]): Compiled {
    const { run } = this.#condition(condition)
    const [left, right] = [this.compile(yes), this.compile(no)]
    const kind = left.kind === right.kind || right.fixed === '' ? left.kind : left.fixed === '' ? right.kind : 'any'
    return { kind, run: (row) => (run(row) ? left.run(row) : right.run(row)) }
  }

  #logical(operator: '&&' | '||', [left, right]: readonly [ASTNode, ASTNode]): Compiled {
    const a = this.#condition(left).run
    const b = this.#condition(right).run
    return { kind: 'condition', run: operator === '&&' ? (row) => a(row) && b(row) : (row) => a(row) || b(row) }
  }

  /** A condition: an empty value does not hold. */
  #condition(node: ASTNode): { readonly run: (row: Row) => boolean } {
    const { kind, run, fixed } = this.compile(node)
    if (fixed !== '' && kind !== 'any' && kind !== 'condition') {
      const found = `has ${nameOfKind(kind)} for a condition${conversions.condition}`
      throw new ExpressionError(found, node.start)
    }
    const at = node.start
    return { run: (row) => holds(run(row), at) }
  }

  #binary(operator: Operator, [leftNode, rightNode]: readonly [ASTNode, ASTNode]): Compiled {
    const site = { at: signBehind(leftNode), left: textOf(leftNode), right: textOf(rightNode) }
    if (operator === 'in') return this.#membership(leftNode, rightNode, site)
    const [left, right] = [this.compile(leftNode), this.compile(rightNode)]
    const isSame = left.kind === right.kind || [left.kind, right.kind].includes('any')
    if (!isSame && left.fixed !== '' && right.fixed !== '') throw mixed(left.kind, right.kind, site)
    const [a, b] = [left.run, right.run]
    switch (operator) {
      case '==':
        return { kind: 'condition', run: (row) => isEqual(a(row), b(row), site) }
      case '!=':
        return { kind: 'condition', run: (row) => !isEqual(a(row), b(row), site) }
      case '+': {
        const kinds = [left, right].filter(({ fixed }) => fixed !== '').map(({ kind }) => kind)
        const kind = kinds.every((one) => one === kinds[0]) ? kinds[0] : kinds.find((one) => one !== 'any')
        if (kind === 'list' || kind === 'condition') throw new ExpressionError(`adds ${nameOfKind(kind)}`, site.at)
        return { kind: kind ?? 'text', run: (row) => add(a(row), b(row), site) }
      }
      case '-':
      case '*':
      case '/':
      case '%':
        for (const { kind, fixed } of [left, right]) {
          if (kind === 'any' || kind === 'number' || fixed === '') continue
          throw new ExpressionError(
            `calculates with ${nameOfKind(kind)}${kind === 'text' ? conversions.number : ''}`,
            site.at,
          )
        }
        return { kind: 'number', run: (row) => calculate(operator, a(row), b(row), site) }
      default: {
        const compare = comparing(operator)
        return { kind: 'condition', run: (row) => compare(a(row), b(row), site) }
      }
    }
  }

  #membership(leftNode: ASTNode, rightNode: ASTNode, site: OperatorSite): Compiled {
    const [left, right] = [this.compile(leftNode), this.#of('list', rightNode)]
    const { fixed } = right
    const items = Array.isArray(fixed) ? new Set(fixed) : undefined
    const first = Array.isArray(fixed) ? (fixed[0] as Value | undefined) : undefined
    if (items && [...items].every((one) => typeof one === typeof first)) {
      return {
        kind: 'condition',
        run: (row) => {
          const value = left.run(row)
          return items.has(value) || (first !== undefined && isEqual(value, first, site))
        },
      }
    }
    return {
      kind: 'condition',
      run: (row) => {
        const value = left.run(row)
        const list = right.run(row) as readonly Value[]
        spend(list.length, site.at)
        return list.some((one) => isEqual(value, one, site))
      },
    }
  }

  #call(call: Call): Compiled {
    const { name, args, node } = call
    if (macros.has(name)) return this.#macro(call)
    if (name === 'lookup') return this.#lookup(call)
    const definition = expressionFunctions.get(name)
    if (!definition) throw new UnknownName('function', name, node.start)
    const { takes, least = takes.length, more } = definition
    this.needsKey ||= definition.keyed ?? false
    if (args.length < least || (args.length > takes.length && !more)) {
      const most = more ? ' or more' : takes.length > least ? ` to ${takes.length}` : ''
      throw new ExpressionError(`gives ${name} ${args.length} values: it takes ${least}${most}`, node.start)
    }
    const given = args.map((arg, i) => this.#of(takes[Math.min(i, takes.length - 1)] as ValueKind, arg))
    const wrong = definition.refuse?.(given.map(({ fixed }) => fixed))
    if (wrong !== undefined) throw new ExpressionError(`calls ${name}, which ${wrong}`, node.start)
    return callOf(definition, given, siteOf(node, args[0]))
  }

  /** An argument, converted to a kind while the expression runs. Numbers and conditions become texts; nothing else is converted. */
  #of(kind: ValueKind, node: ASTNode): Compiled {
    const compiled = this.compile(node)
    const { run, fixed } = compiled
    if (kind === 'any' || kind === compiled.kind) return compiled
    const { fail } = siteOf(node, node)
    const convert = (value: Value): Value => {
      if (kind === 'text') return typeof value === 'object' ? fail('is a list, not a text') : String(value)
      if (value === '') return kind === 'list' ? [] : ''
      const found = kindOfValue(value)
      return found === kind ? value : fail(`is ${nameOfKind(found)}, not ${nameOfKind(kind)}${conversions[kind]}`)
    }
    if (fixed !== undefined) return { ...fixedOf(convert(fixed)), kind }
    if (compiled.kind !== 'any' && !(kind === 'text' && compiled.kind !== 'list')) {
      fail(`is ${nameOfKind(compiled.kind)}, not ${nameOfKind(kind)}${conversions[kind]}`)
    }
    return { kind, run: (row) => convert(run(row)) }
  }

  /** `list.exists(item, condition)`, `all`, `filter`, and `list.map(item, value)`. */
  #macro({ name, args: [of, variable, body, ...rest], node }: Call): Compiled {
    if (!of || variable?.op !== 'id' || !body || rest.length > 0) {
      throw new ExpressionError(`needs a list, a name and what is done with it: list.${name}(item, …)`, node.start)
    }
    const list = this.#of('list', of)
    const slot = this.#names.push(variable.args) - 1
    const step = name === 'map' ? this.compile(body) : this.#condition(body)
    this.#names.pop()
    const [values, at] = [this.#values, node.start]
    /** Runs the step for each item until `until` holds. */
    const each = (row: Row, until: (result: Value, item: Value) => boolean): boolean => {
      const items = list.run(row) as readonly Value[]
      for (const item of items) {
        spend(1, at)
        values[slot] = item
        if (until(step.run(row), item)) return true
      }
      return false
    }
    if (name === 'exists') return { kind: 'condition', run: (row) => each(row, (result) => result as boolean) }
    if (name === 'all') return { kind: 'condition', run: (row) => !each(row, (result) => !result) }
    const collects = name === 'map'
    return {
      kind: 'list',
      run: (row) => {
        const found: Value[] = []
        each(row, (result, item) => {
          if (collects) found.push(result)
          else if (result) found.push(item)
          return false
        })
        return found
      },
    }
  }

  /** `lookup(value, {"DE": "Germany"}, "other")`, compared like `values` of a mapping. */
  #lookup({ args: [of, table, other, ...rest], node }: Call): Compiled {
    if (!of || table?.op !== 'map' || rest.length > 0) {
      throw new ExpressionError('needs a value and a table: lookup(value, {"from": "to"}, "other")', node.start)
    }
    const entries = table.args.map(([key, value]): [string, Value] => {
      const [from, to] = [this.compile(key).fixed, this.compile(value).fixed]
      if (from === undefined || to === undefined) throw new ExpressionError('has a table that is not fixed', key.start)
      return [answerKey(String(from)), to]
    })
    const known = new Map(entries)
    const [{ run }, fallback] = [this.#of('text', of), other ? this.compile(other) : fixedOf('')]
    const kinds = new Set([
      ...entries.map(([, to]) => kindOfValue(to)),
      fallback.fixed === '' ? undefined : fallback.kind,
    ])
    kinds.delete(undefined)
    const [kind = 'any', ...kindsLeft] = kinds
    return {
      kind: kindsLeft.length > 0 ? 'any' : kind,
      run: (row) => known.get(answerKey(run(row) as string)) ?? fallback.run(row),
    }
  }
}

/** A name that does not exist, for which another one may be meant. */
export class UnknownName extends ExpressionError {
  readonly of: 'function' | 'column'
  readonly unknown: string

  constructor(of: UnknownName['of'], unknown: string, at: number) {
    super(`has no ${of} ${unknown}`, at)
    this.of = of
    this.unknown = unknown
  }
}

type Operator = Exclude<Extract<ASTNode, { args: [ASTNode, ASTNode] }>['op'], '&&' | '||' | '[]' | '[?]'>

function literal(value: unknown, at: number): Compiled {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return fixedOf(value)
  if (value === null) return fixedOf('')
  if (typeof value === 'bigint' && Number.isSafeInteger(Number(value))) return fixedOf(Number(value))
  throw new ExpressionError('has a value that is not supported', at)
}

const fixedOf = (fixed: Value): Compiled => ({ kind: kindOfValue(fixed), run: () => fixed, fixed })

const not = ({ run }: { readonly run: (row: Row) => boolean }): Compiled => ({
  kind: 'condition',
  run: (row) => !run(row),
})

function negative({ run, fixed }: Compiled, at: number): Compiled {
  const site = { at, left: '0', right: '' }
  const of = (value: Value) => calculate('-', 0, value, site)
  return fixed === undefined ? { kind: 'number', run: (row) => of(run(row)) } : fixedOf(of(fixed))
}

function callOf({ gives, run }: ExpressionFunction, given: readonly Compiled[], site: CallSite): Compiled {
  const [first, second] = given
  if (given.length === 1 && first) {
    const one = first.run
    return { kind: gives, run: (row) => run([one(row)], site) }
  }
  if (given.length === 2 && first && second) {
    const [one, two] = [first.run, second.run]
    return { kind: gives, run: (row) => run([one(row), two(row)], site) }
  }
  return {
    kind: gives,
    run: (row) =>
      run(
        given.map((each) => each.run(row)),
        site,
      ),
  }
}

/** Where a call is, and how it fails: with the text of its first argument, which is the user's own. */
function siteOf(node: ASTNode, subject: ASTNode | undefined): CallSite {
  const at = node.start
  const shown = textOf(subject ?? node)
  return {
    at,
    fail: (why) => {
      throw new ExpressionError(`${shown} ${why}`, at)
    },
  }
}

/** The text of a part of an expression, at most 60 characters of it. */
function textOf({ input, start, end }: ASTNode): string {
  const text = input.slice(start, end)
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}

/** Where the sign of an operator is, behind its left side. */
function signBehind({ input, end }: ASTNode): number {
  return end + Math.max(0, input.slice(end).search(/[^\s)]/))
}
