import { type ASTNode, Environment } from '@marcbachmann/cel-js'
import { ExpressionError, expressionLimits, type Fix, type Place } from './values.ts'

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
  if (text.trim() === '') throw new ExpressionError('is empty', { at: 0, length: text.length })
  if (text.length > expressionLimits.length) {
    throw new ExpressionError(`has more than ${expressionLimits.length} characters`, {
      at: expressionLimits.length,
      length: text.length - expressionLimits.length,
    })
  }
  try {
    return environment.parse(text).ast
  } catch (error) {
    throw asExpressionError(error, text)
  }
}

type ReadError = { readonly code?: string; readonly summary?: string; readonly range?: { readonly start: number } }

/** Words of the syntax, which no column can have as its name unless it is written as `row["…"]`. */
const reserved: ReadonlySet<string> = new Set(
  (
    'as break const continue else false for function if import in let loop namespace null package return true var void ' +
    'while'
  ).split(' '),
)

/** Whether a column can be written by its name only. */
export const isName = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name) && !reserved.has(name) && name !== 'row'

/**
 * An error of the parser in our words. The parser throws its own errors, and JavaScript throws an error for a text that is nested
 * too deep.
 */
function asExpressionError(error: unknown, text: string): ExpressionError {
  const { code, range } = error as ReadError
  const at = Math.min(range?.start ?? 0, text.length)
  const here = tokenAt(text, at)
  if (error instanceof RangeError || code === 'limit_exceeded')
    return new ExpressionError('is too long or too deep', here)
  const { open, unopened, quoteAt } = scan(text)
  if (code === 'unterminated_string' || (quoteAt !== undefined && at >= text.length))
    return unclosedText(text, quoteAt ?? here.at)
  if (at >= text.length) return endsEarly(text, open)
  if (code === 'reserved_identifier') {
    const fix = { ...here, text: `row[${JSON.stringify(text.slice(at, at + here.length))}]` }
    return new ExpressionError('uses a reserved word: write a column of this name as row["…"]', here, { fix })
  }
  if (code === 'invalid_macro_argument') return new ExpressionError('needs a name before the comma', here)
  if (text[at] === '=' && text[at + 1] !== '=' && !/[=!<>]/.test(text[at - 1] ?? '')) {
    return new ExpressionError('has a single =: compare with ==', here, { fix: { at, length: 1, text: '==' } })
  }
  if (/[“”„‘’`]/.test(text[at] ?? '')) return foreignQuote(text, at)
  if (unopened === at) {
    const fix = fixed(text, { at, length: 1, text: '' })
    return new ExpressionError(`has a ${text[at]} that closes nothing`, here, { fix })
  }
  return new ExpressionError(`cannot be read from ${JSON.stringify(excerpt(text.slice(at)))} on`, here)
}

/** A name, a number or a sign, or the last character before the end. */
function tokenAt(text: string, at: number): Place {
  if (at >= text.length) {
    const last = text.trimEnd().length - 1
    return { at: last, length: 1 }
  }
  const [token = ''] = /^(?:[A-Za-z_]\w*|[\d.]+|&&|\|\||[=!<>]=|.)/su.exec(text.slice(at)) ?? []
  return { at, length: token.length }
}

/** An opening bracket, and the place where the name before it begins. */
type Bracket = { readonly at: number; readonly from: number; readonly sign: string }

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

/** The brackets of a text that nothing closes, the first one that closes nothing, and the quote of a text without its end. */
function scan(text: string): { open: readonly Bracket[]; unopened?: number; quoteAt?: number } {
  const open: Bracket[] = []
  for (const { 0: token, index: at } of text.matchAll(/"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[()[\]{}]/gs)) {
    const [sign = ''] = token
    if (sign === '"' || sign === "'") {
      if (token.length === 1 || !token.endsWith(sign) || /[^\\](?:\\\\)*\\.$/s.test(token)) return { open, quoteAt: at }
    } else if (closing[sign]) {
      let from = at
      // Backwards, character by character: a pattern with an end would start again at every character of a long name.
      while (sign !== '{' && /[\w.]/.test(text[from - 1] ?? '')) from--
      open.push({ at, from, sign })
    } else if (closing[open.pop()?.sign ?? ''] !== sign) return { open, unopened: at }
  }
  return { open }
}

/** A fix, if the text can be read with it. */
function fixed(text: string, fix: Fix): Fix | undefined {
  try {
    environment.parse(text.slice(0, fix.at) + fix.text + text.slice(fix.at + fix.length))
    return fix
  } catch {
    return undefined
  }
}

function unclosedText(text: string, at: number): ExpressionError {
  const end = text.trimEnd().length
  const fix = fixed(text, { at: end, length: 0, text: text[at] ?? '' })
  return new ExpressionError('has a text without a closing quote', { at, length: Math.max(1, end - at) }, { fix })
}

/** A bracket is open, or a value is missing after an operator. */
function endsEarly(text: string, open: readonly Bracket[]): ExpressionError {
  const end = text.trimEnd().length
  const last = open.at(-1)
  const missing = open
    .map(({ sign }) => closing[sign])
    .reverse()
    .join('')
  const fix = last && fixed(text, { at: end, length: 0, text: missing })
  const [sign] = /(?:&&|\|\||[=!<>]=|[-+*/%<>!?:,.]|\bin)$/.exec(text.slice(0, end)) ?? []
  if (sign && !fix) {
    return new ExpressionError(`ends after ${sign}: a value is missing`, { at: end - sign.length, length: sign.length })
  }
  if (!last) return new ExpressionError('ends too early', tokenAt(text, end))
  const place = { at: last.from, length: last.at + 1 - last.from }
  const shown = text.slice(place.at, last.at + 1)
  return new ExpressionError(`is not closed: ${shown} needs ${closing[last.sign]}`, place, { fix })
}

/** A typographic quote of a word processor. A pair of quotes is fixed together. */
function foreignQuote(text: string, at: number): ExpressionError {
  const [quoted] = /^[“”„‘’`][^“”„‘’`"\\]*[“”„‘’`]/u.exec(text.slice(at)) ?? []
  const place = { at, length: quoted?.length ?? 1 }
  const fix = quoted && { ...place, text: `"${quoted.slice(1, -1)}"` }
  return new ExpressionError('has a quote that is not valid: write " or \'', place, fix ? { fix } : {})
}

const excerpt = (text: string): string => {
  const characters = [...text.slice(0, 40)]
  return characters.length > 12 ? `${characters.slice(0, 12).join('')}…` : characters.join('')
}
