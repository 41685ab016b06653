import { Compiler, type Entry, type NamePath, type Operator, type OperatorSite, placeOf, textOf } from './compile.ts'
import type { CallSite, Compiled, Values } from './functions/function.ts'
import { add, arithmetic, checkMixed, comparing, holds, isEqual, orderOf } from './operators.ts'
import type { ASTNode } from './syntax.ts'
import {
  conversions,
  ExpressionError,
  kindOfValue,
  nameOfKind,
  type Place,
  type Row,
  spend,
  type Value,
  type ValueKind,
} from './values.ts'

/** Finds the column of the source that a name refers to. @returns its index; -1 if the columns are not known yet */
export type ColumnOf = (name: string, place: Place) => number

type Of = Compiled<Row>

const values: Values = {
  textOf: (value, { fail }) => (typeof value === 'object' ? String(fail('is a list, not a text')) : String(value)),
  order: (left, right, { at, length }) => orderOf(left, right, { at, length, left: 'a value', right: 'another one' }),
  nested: (value) => JSON.stringify(value),
  readsAnyTime: false,
}

/** Expressions over the columns of a row. Nothing is converted silently, and nothing is the empty text. */
export class ColumnCompiler extends Compiler<Row> {
  readonly language = 'mappings'
  readonly values = values
  readonly nothing = ''
  readonly isMetered = false
  readonly #columnOf: ColumnOf

  constructor(columnOf: ColumnOf) {
    super()
    this.#columnOf = columnOf
  }

  named([root, key, ...more]: NamePath, place: Place): Of {
    if (more.length > 0 || (root !== 'row' && key !== undefined)) throw noColumn(place)
    if (root !== 'row') return this.#column(root, place)
    if (key === undefined) throw new ExpressionError('needs a column behind row: row.name or row["name"]', place)
    return this.#column(key, place)
  }

  #column(name: string, place: Place): Of {
    const index = this.#columnOf(name, place)
    return { kind: 'any', run: (row) => row[index] ?? '' }
  }

  member(of: ASTNode): Of {
    throw noColumn(placeOf(of))
  }

  index(of: ASTNode, by: ASTNode): Of {
    if (of.op === 'id' && of.args === 'row' && !this.isItem('row')) {
      if (by.op === 'value' && typeof by.args === 'string') return this.#column(by.args, wholeIndex(of, by))
      throw new ExpressionError('must name the column as a text: row["name"]', placeOf(by))
    }
    const list = this.argument('list', of).run
    const index = this.argument('number', by).run
    return {
      kind: 'any',
      run: (row) => {
        const items = list(row) as readonly Value[]
        const at = index(row)
        return (at === '' ? undefined : items.at(at as number)) ?? ''
      },
    }
  }

  object(_: readonly Entry<Row>[], place: Place, isTable: boolean): Of {
    throw new ExpressionError(
      isTable ? 'has a table that is not fixed' : 'has a table outside of lookup(value, {…})',
      place,
    )
  }

  /** A condition: an empty value does not hold. */
  condition(node: ASTNode): (row: Row) => boolean {
    const { kind, run, fixed } = this.compile(node)
    if (fixed !== '' && kind !== 'any' && kind !== 'condition') {
      throw new ExpressionError(`has ${nameOfKind(kind)} for a condition${conversions.condition}`, placeOf(node))
    }
    const place = placeOf(node)
    return (row) => holds(run(row), place)
  }

  binary(operator: Operator, leftNode: ASTNode, rightNode: ASTNode, site: OperatorSite): Of {
    const left = this.compile(leftNode)
    if (operator === 'in') return membership(left, this.argument('list', rightNode), site)
    const right = this.compile(rightNode)
    checkMixed(left, right, site)
    const [a, b] = [left.run, right.run]
    switch (operator) {
      case '==':
        return { kind: 'condition', run: (row) => isEqual(a(row), b(row), site) }
      case '!=':
        return { kind: 'condition', run: (row) => !isEqual(a(row), b(row), site) }
      case '+': {
        const kinds = [left, right].filter(({ fixed }) => fixed !== '').map(({ kind }) => kind)
        const kind = kinds.every((one) => one === kinds[0]) ? kinds[0] : kinds.find((one) => one !== 'any')
        if (kind === 'list' || kind === 'condition') throw new ExpressionError(`adds ${nameOfKind(kind)}`, site)
        return { kind: kind ?? 'text', run: (row) => add(a(row), b(row), site) }
      }
      case '-':
      case '*':
      case '/':
      case '%': {
        for (const { kind, fixed } of [left, right]) {
          if (kind === 'any' || kind === 'number' || fixed === '') continue
          const how = kind === 'text' ? conversions.number : ''
          throw new ExpressionError(`calculates with ${nameOfKind(kind)}${how}`, site)
        }
        const calculate = arithmetic(operator)
        return { kind: 'number', run: (row) => calculate(a(row), b(row), site) }
      }
      default: {
        const compare = comparing(operator)
        return { kind: 'condition', run: (row) => compare(a(row), b(row), site) }
      }
    }
  }

  /** Numbers and conditions become texts. Nothing else is converted. */
  converted(given: ValueKind, compiled: Of, node: ASTNode): Of {
    const { run, fixed, kind: known } = compiled
    if (given === 'table') {
      throw new ExpressionError('needs a value and a table: lookup(value, {"from": "to"}, "other")', placeOf(node))
    }
    if (given === 'order' && (known === 'list' || (known === 'text' && fixed !== ''))) return compiled
    const kind = given === 'time' ? 'text' : given === 'order' ? 'number' : given
    if (kind === known) return compiled
    const fail = this.failing(placeOf(node), textOf(node))
    const refuse = (found: ValueKind) => fail(`is ${nameOfKind(found)}, not ${nameOfKind(kind)}${conversions[kind]}`)
    const convert = (value: Value): Value => {
      if (kind === 'text') return typeof value === 'object' ? refuse('list') : String(value)
      if (value === '') return kind === 'list' ? [] : ''
      const found = kindOfValue(value)
      return found === kind || (given === 'order' && found === 'list') ? value : refuse(found)
    }
    if (fixed !== undefined) {
      const value = convert(fixed)
      return { kind, run: () => value, fixed: value }
    }
    if (known !== 'any' && !(kind === 'text' && known !== 'list')) refuse(known)
    return { kind, run: (row) => convert(run(row)) }
  }

  failing =
    (place: Place, text: string): CallSite['fail'] =>
    (why) => {
      throw new ExpressionError(`${text} ${why}`, place, { hasSubject: true })
    }

  checkCount(name: string, count: number, least: number, most: number, place: Place): void {
    if (count >= least && count <= most) return
    const up = most === Number.POSITIVE_INFINITY ? ' or more' : most > least ? ` to ${most}` : ''
    const message = `${name} takes ${least}${up} ${least === 1 && up === '' ? 'argument' : 'arguments'}, not ${count}`
    throw new ExpressionError(message, place, { hasSubject: true })
  }
}

const noColumn = (place: Place) =>
  new ExpressionError('has a name after a dot that is no column: write row.name, or json(…)', place)

/** `row["name"]`, with the bracket that closes it. */
const wholeIndex = ({ start, input }: ASTNode, by: ASTNode): Place => {
  const end = input.indexOf(']', by.end)
  return { at: start, length: (end < 0 ? by.end : end + 1) - start }
}

function membership(left: Of, { run, fixed }: Of, site: OperatorSite): Of {
  const list = Array.isArray(fixed) ? (fixed as readonly Value[]) : undefined
  const first = list?.[0]
  if (list?.every((one) => typeof one === typeof first)) {
    const items = new Set(list)
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
      const all = run(row) as readonly Value[]
      spend(all.length, site)
      return all.some((one) => isEqual(value, one, site))
    },
  }
}
