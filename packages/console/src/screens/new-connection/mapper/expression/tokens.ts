import { functionNamed } from './functions.ts'

/** A part of an expression as the editor shows it. */
export type Token = { readonly kind: 'column' | 'function' | 'text' | 'number' | 'plain'; readonly text: string }

const pattern =
  /(row\s*\[\s*(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')\s*\]|row\.[A-Za-z_]\w*)|("(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)|(\d+(?:\.\d+)?)|([A-Za-z_]\w*)/gs

const words: ReadonlySet<string> = new Set(['true', 'false', 'null', 'in'])

/** The parts of an expression, which are together its text. Names of columns are marked if the columns are known. */
export function tokensOf(text: string, columns: ReadonlySet<string>): Token[] {
  const tokens: Token[] = []
  let from = 0
  for (const match of text.matchAll(pattern)) {
    if (match.index > from) tokens.push({ kind: 'plain', text: text.slice(from, match.index) })
    from = match.index + match[0].length
    tokens.push({ kind: kindOf(match, text.slice(from), columns), text: match[0] })
  }
  if (from < text.length) tokens.push({ kind: 'plain', text: text.slice(from) })
  return tokens
}

function kindOf(
  [, column, quoted, number, name = '']: RegExpMatchArray,
  after: string,
  columns: ReadonlySet<string>,
): Token['kind'] {
  if (column !== undefined) return 'column'
  if (quoted !== undefined) return 'text'
  if (number !== undefined) return 'number'
  if (/^\s*\(/.test(after) && functionNamed.has(name)) return 'function'
  return columns.has(name) && !words.has(name) ? 'column' : 'plain'
}
