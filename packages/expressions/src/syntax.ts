import { type ASTNode, Environment } from '@marcbachmann/cel-js'
import { ExpressionError, expressionLimits } from './values.ts'

export type { ASTNode } from '@marcbachmann/cel-js'

// Only its parser is used: its evaluator has no bounds on time and memory, and its errors contain values.
const environment = new Environment({
  limits: {
    maxAstNodes: expressionLimits.nodes,
    maxDepth: expressionLimits.depth,
    maxListElements: expressionLimits.items,
    maxMapEntries: expressionLimits.items,
  },
})

/**
 * Reads the text of an expression, in the syntax of the Common Expression Language.
 * @returns its tree, at most `expressionLimits.depth` deep
 * @throws an `ExpressionError` with the place that cannot be read
 */
export function parseExpression(text: string): ASTNode {
  if (text.trim() === '') throw new ExpressionError('is empty', 0)
  if (text.length > expressionLimits.length) {
    throw new ExpressionError(`has more than ${expressionLimits.length} characters`, expressionLimits.length)
  }
  try {
    return environment.parse(text).ast
  } catch (error) {
    throw asExpressionError(error, text)
  }
}

type ReadError = { readonly code?: string; readonly summary?: string; readonly range?: { readonly start: number } }

/** An error of the parser in our words. It throws errors of its own, and what JavaScript throws for a text that is nested too deep. */
function asExpressionError(error: unknown, text: string): ExpressionError {
  const { code, range } = error as ReadError
  const at = Math.min(range?.start ?? 0, text.length)
  if (error instanceof RangeError || code === 'limit_exceeded')
    return new ExpressionError('is too long or too deep', at)
  if (at >= text.length) return new ExpressionError('ends too early', at)
  if (code === 'unterminated_string') return new ExpressionError('has a text without a closing quote', at)
  if (code === 'reserved_identifier') {
    return new ExpressionError('uses a reserved word: write a column of this name as row["…"]', at)
  }
  if (code === 'invalid_macro_argument') return new ExpressionError('needs a name before the comma', at)
  if (text[at] === '=') return new ExpressionError('has a single =: compare with ==', at)
  if (/[“”„‘’`]/.test(text[at] ?? '')) return new ExpressionError('has a quote that is none: write " or \'', at)
  return new ExpressionError(`cannot be read from ${JSON.stringify(excerpt(text.slice(at)))} on`, at)
}

const excerpt = (text: string): string => {
  const characters = [...text.slice(0, 40)]
  return characters.length > 12 ? `${characters.slice(0, 12).join('')}…` : characters.join('')
}
