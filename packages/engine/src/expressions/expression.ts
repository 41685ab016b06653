import type { Cell, Row } from '@penstock/connector'
import { didYouMean } from '@penstock/wire/rules'
import { type ColumnOf, Compiler, callable, UnknownName } from './compile.ts'
import { parseExpression } from './syntax.ts'
import { begin, ExpressionError, nameOfKind, shownNumber, type Value, type ValueKind } from './values.ts'

/**
 * An expression for the columns of a source: pure, and bounded in time and memory for each row
 * (docs/decisions/0068-expressions.md).
 */
export type Expression = {
  readonly text: string
  readonly kind: ValueKind
  /** The names of the columns that it reads. */
  readonly columns: readonly string[]
  /** Its value for a row; null if it is empty. Throws an `ExpressionError` without values of the row, and nothing else. */
  readonly evaluate: (row: Row) => Cell
}

/** An expression that can be evaluated, or why there is none, as a phrase to follow the name of its field. */
export type ReadExpression =
  | { readonly expression: Expression; readonly wrong?: never }
  | { readonly expression?: never; readonly wrong: string }

const needsHashKey =
  'calls hmac: save a hash key in the configuration of the destination, which destinations of any columns have'

/** The key of keyed hashes, if the configuration of the destination has one. */
export type HashKey = { readonly hashKey: string | undefined }

/**
 * Reads an expression.
 * @param columns of the source; absent if they are not known, so that any name is taken for one
 * @param key absent if it is not known, so that the expression is only checked: its keyed hashes would be wrong
 */
export function compileExpression(text: string, columns: readonly string[] | undefined, key?: HashKey): ReadExpression {
  const indexes = columns && new Map([...columns.entries()].reverse().map(([index, name]) => [name, index]))
  const names = new Set<string>()
  const columnOf: ColumnOf = (name, at) => {
    names.add(name)
    const index = indexes ? indexes.get(name) : -1
    if (index === undefined) throw new UnknownName('column', name, at)
    return index
  }
  try {
    if (text.trim() === '') throw new ExpressionError('is empty', 0)
    const compiler = new Compiler(columnOf)
    const { run, kind } = compiler.compile(parseExpression(text))
    if (key && compiler.needsKey && key.hashKey === undefined) {
      throw new ExpressionError(needsHashKey, 0)
    }
    if (kind === 'list') throw new ExpressionError('has a list as its value: write join(…)', 0)
    return { expression: { text, kind, columns: [...names], evaluate: evaluating(run, key?.hashKey) } }
  } catch (error) {
    const known = asExpressionError(error)
    const meant =
      known instanceof UnknownName ? didYouMean(known.unknown, known.of === 'column' ? (columns ?? []) : callable) : ''
    return { wrong: shown(known) + (meant && `.${meant}`) }
  }
}

/**
 * The same for a condition that rows must meet.
 * @param columns as for `compileExpression`, and so is the key
 */
export function compileFilter(text: string, columns: readonly string[] | undefined, key?: HashKey): ReadExpression {
  const read = compileExpression(text, columns, key)
  if (!read.expression || read.expression.kind === 'any' || read.expression.kind === 'condition') return read
  return { wrong: `must be a condition, such as row.country == "DE", and is ${nameOfKind(read.expression.kind)}` }
}

/** Why an expression has no value for a row, for people. */
export const reasonOf = (error: unknown): string => shown(asExpressionError(error))

const shown = ({ message, at }: ExpressionError): string => `${message}, at character ${at + 1}`

const evaluating =
  (run: (row: Row) => Value, hashKey: string | undefined) =>
  (row: Row): Cell => {
    begin(hashKey)
    try {
      return cellOf(run(row))
    } catch (error) {
      throw asExpressionError(error)
    }
  }

function cellOf(value: Value): Cell {
  if (typeof value === 'string') return value === '' ? null : value
  if (typeof value === 'number') return shownNumber(value)
  if (typeof value === 'boolean') return value
  throw new ExpressionError('has a list as its value: write join(…)', 0)
}

/** JavaScript itself throws for a stack or a text that is too large. */
function asExpressionError(error: unknown): ExpressionError {
  if (error instanceof ExpressionError) return error
  if (error instanceof RangeError) return new ExpressionError('needs too much memory', 0)
  throw error
}
