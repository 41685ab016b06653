/** Expressions over JSON values, such as the requests and the responses of an API. */

import type { NamePath } from './compile.ts'
import { JsonCompiler, type Scope } from './json-compiler.ts'
import { parseExpression } from './syntax.ts'
import { asExpressionError, begin, type Value } from './values.ts'

export type { NamePath } from './compile.ts'
export { type Scope, textOfJson } from './json-compiler.ts'
export { ExpressionError, isEmpty, isTrue, reasonOf } from './values.ts'

/** An expression over JSON. */
type JsonExpression = {
  /** Its names, without the names of items of lists. */
  readonly names: readonly NamePath[]
  readonly run: (scope: Scope) => Value
}

const known = new Map<string, JsonExpression>()
const knownMax = 1_000

function expressionOf(text: string): JsonExpression {
  const found = known.get(text)
  if (found) return found
  const compiler = new JsonCompiler()
  const { run } = compiler.compile(parseExpression(text))
  const expression = { names: compiler.names, run }
  if (known.size >= knownMax) known.clear()
  known.set(text, expression)
  return expression
}

/** The names in an expression. Throws an `ExpressionError` for an expression that is not valid. */
export const namesIn = (text: string): readonly NamePath[] => expressionOf(text).names

/**
 * The value of an expression: JSON. A value that is missing, or cannot be computed, is null.
 * @param nowMs the time of `now()`, in milliseconds since 1970
 * Throws an `ExpressionError` for an expression that is not valid, or exceeds a limit.
 */
export function evaluate(text: string, scope: Scope, nowMs: number): unknown {
  const { run } = expressionOf(text)
  begin({ nowMs })
  try {
    return run(scope) ?? null
  } catch (error) {
    throw asExpressionError(error)
  }
}
