import { ColumnCompiler, type ColumnOf } from './column-compiler.ts'
import { meaning } from './compile.ts'
import { isName, parseExpression } from './syntax.ts'
import {
  asExpressionError,
  begin,
  type Cell,
  ExpressionError,
  nameOfKind,
  type Place,
  type Problem,
  problemOf,
  type Row,
  reasonOf,
  shownNumber,
  type Value,
  type ValueKind,
} from './values.ts'

/**
 * An expression for the columns of a source: pure, and bounded in time and memory for each row
 * (docs/decisions/expressions.md).
 */
export type Expression = {
  readonly text: string
  readonly kind: ValueKind
  /** The names of the columns that it reads. */
  readonly columns: readonly string[]
  /** Its value for a row; null if it is empty. Throws only an `ExpressionError`, without values of the row. */
  readonly evaluate: (row: Row) => Cell
}

/**
 * An expression that can be evaluated, or the error: as a phrase to follow the name of its field, and as a problem at its place.
 */
export type ReadExpression =
  | { readonly expression: Expression; readonly wrong?: never; readonly problem?: never }
  | { readonly expression?: never; readonly wrong: string; readonly problem: Problem }

const needsHashKey =
  'calls hmac: save a hash key in the configuration of the destination, which destinations of any columns have'

/** The key of keyed hashes, if the configuration of the destination has one. */
export type HashKey = { readonly hashKey: string | undefined }

/**
 * Reads an expression.
 * @param columns of the source; absent if they are not known, so that any name is treated as a column
 * @param key absent if it is not known, so that the expression is only checked: its keyed hashes would be wrong
 * @param hints whether a message about an unknown column suggests a similar one, which requires comparing all columns
 */
export function compileExpression(
  text: string,
  columns: readonly string[] | undefined,
  key?: HashKey,
  hints = true,
): ReadExpression {
  const indexes = columns && indexesOf(columns)
  const names = new Set<string>()
  const columnOf: ColumnOf = (name, place) => {
    names.add(name)
    const index = indexes ? indexes.get(name) : -1
    if (index !== undefined) return index
    const write = (column: string) => writeColumn(column, text.slice(place.at, place.at + place.length))
    throw new ExpressionError(`has no column ${name}`, place, hints ? meaning(name, columns ?? [], place, write) : {})
  }
  try {
    const compiler = new ColumnCompiler(columnOf)
    const { run, kind } = compiler.compile(parseExpression(text))
    if (key && compiler.needsKey && key.hashKey === undefined)
      throw new ExpressionError(needsHashKey, compiler.needsKey)
    if (kind === 'list') throw isList(wholeOf(text))
    return { expression: { text, kind, columns: [...names], evaluate: evaluating(run, key?.hashKey, wholeOf(text)) } }
  } catch (error) {
    return { wrong: reasonOf(error), problem: problemOf(error) }
  }
}

const isList = (place: Place) => new ExpressionError('has a list as its value: write join(…)', place)

/** All of an expression, without the spaces around it. */
const wholeOf = (text: string): Place => ({ at: text.length - text.trimStart().length, length: text.trim().length })

/** A column in the notation of another one: `name`, `row.name` or `row["name"]`. */
function writeColumn(name: string, other: string): string {
  if (!isName(name) || other.startsWith('row[')) return `row[${JSON.stringify(name)}]`
  return other.startsWith('row.') ? `row.${name}` : name
}

const kept = new WeakMap<readonly string[], ReadonlyMap<string, number>>()

/**
 * The index of each column by its name; of the first one if several columns have the same name. One list serves many expressions.
 */
function indexesOf(columns: readonly string[]): ReadonlyMap<string, number> {
  const known = kept.get(columns)
  if (known) return known
  const indexes = new Map([...columns.entries()].reverse().map(([index, name]) => [name, index]))
  kept.set(columns, indexes)
  return indexes
}

/**
 * The same for a condition that rows must meet.
 * @param columns as for `compileExpression`, and so is the key
 */
export function compileFilter(text: string, columns: readonly string[] | undefined, key?: HashKey): ReadExpression {
  const read = compileExpression(text, columns, key)
  if (!read.expression || read.expression.kind === 'any' || read.expression.kind === 'condition') return read
  const wrong = `must be a condition, such as row.country == "DE", and is ${nameOfKind(read.expression.kind)}`
  return { wrong, problem: problemOf(new ExpressionError(wrong, wholeOf(text))) }
}

const evaluating = (run: (row: Row) => Value, hashKey: string | undefined, whole: Place) => {
  const evaluation = { hashKey }
  return (row: Row): Cell => {
    begin(evaluation)
    try {
      return cellOf(run(row), whole)
    } catch (error) {
      throw asExpressionError(error)
    }
  }
}

function cellOf(value: Value, whole: Place): Cell {
  if (typeof value === 'string') return value === '' ? null : value
  if (typeof value === 'number') return shownNumber(value)
  if (typeof value === 'boolean') return value
  throw isList(whole)
}
