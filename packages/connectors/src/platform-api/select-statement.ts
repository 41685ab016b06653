import { ConnectorError } from '@penstock/connector'
import { textIn } from './json.ts'

/** A SELECT statement in the query language of a platform, which a person entered. */
export type SelectStatement = {
  /** Without a semicolon at its end. */
  readonly text: string
  /** The same text, with `x` for each character in quotes: quoted texts do not affect the form of the statement. */
  readonly plain: string
  /** The expressions of the SELECT list, with the spaces around them. */
  readonly list: string
  /** The object after FROM. */
  readonly from: string
  /** The text after this object, and the same with `x` for each character in quotes. */
  readonly rest: { readonly text: string; readonly plain: string }
}

/** Reads a setting that is one SELECT statement. @param label of the setting. Throws `invalid_setting`. */
export function readSelect(setting: unknown, label: string): SelectStatement {
  const text = (textIn(setting) ?? '').trim().replace(/;$/, '').trim()
  if (text === '') throw new ConnectorError('invalid_setting', `Set “${label}” to a SELECT statement.`)
  const plain = text.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/gs, (quoted) => {
    const quote = quoted[0] ?? ''
    return `${quote}${'x'.repeat(Math.max(0, quoted.length - 2))}${quote}`
  })
  const [head = '', list, from] = /^select\s+(.+?)\s+from\s+(\w+)(?=\s|$)/is.exec(plain) ?? []
  if (list !== undefined && from !== undefined && !/[;{}]/.test(plain)) {
    return { text, plain, list, from, rest: { text: text.slice(head.length), plain: plain.slice(head.length) } }
  }
  throw new ConnectorError('invalid_setting', `The ${label} must be one SELECT statement; nothing else is run.`)
}

/** Replaces text in brackets by x, since conditions in it belong to another query. */
function withoutBrackets(plain: string): string {
  let depth = 0
  return plain.replace(/./gs, (character) => {
    if (character === '(') depth++
    if (character === ')') depth--
    return depth > 0 || character === ')' ? 'x' : character
  })
}

/**
 * Locates the conditions of a statement: the texts before WHERE, after it, and from the next clause on.
 * @param later the words that begin a clause after the conditions
 */
export function conditionsOf({ rest }: SelectStatement, later: RegExp): Record<'before' | 'where' | 'after', string> {
  const plain = withoutBrackets(rest.plain)
  const end = plain.search(later)
  const after = end === -1 ? plain.length : end
  const [where] = [...plain.slice(0, after).matchAll(/\bwhere\b/gi)]
  const at = where?.index ?? after
  return {
    before: rest.text.slice(0, at).trim(),
    where: rest.text.slice(at + (where?.[0].length ?? 0), after).trim(),
    after: rest.text.slice(after).trim(),
  }
}
