import { ConnectorError, type FieldValue } from '@penstock/connector'

/** Patterns of tables, as a person writes them: `sales.*, crm.orders, "odd, name"`. */

type TablePattern = {
  /** `undefined`: any schema. */
  readonly schema: NamePattern | undefined
  readonly table: NamePattern
}
/** The texts between the asterisks of a name; one text without an asterisk. */
type NamePattern = readonly string[]

/** The tables that the settings select. Throws `invalid_setting` if a pattern cannot be read. */
export type TableChoice = {
  /** `named`: a pattern without an asterisk selects it; `matched`: another one does; `undefined`: it is not selected. */
  readonly choose: (schema: string, table: string) => 'named' | 'matched' | undefined
}

export function tableChoice(included: FieldValue | undefined, excluded: FieldValue | undefined): TableChoice {
  const [include, exclude] = [patternsIn(included), patternsIn(excluded)]
  return {
    choose(schema, table) {
      if (exclude.some((pattern) => selects(pattern, schema, table))) return undefined
      const found = include.filter((pattern) => selects(pattern, schema, table))
      if (found.length === 0) return undefined
      return found.some((pattern) => pattern.table.length === 1 && (pattern.schema?.length ?? 1) === 1)
        ? 'named'
        : 'matched'
    },
  }
}

const selects = (pattern: TablePattern, schema: string, table: string): boolean =>
  isLike(table, pattern.table) && (pattern.schema === undefined || isLike(schema, pattern.schema))

/** Compares in time that grows with the length of the name times the number of asterisks. */
function isLike(name: string, pattern: NamePattern): boolean {
  const [first = '', ...others] = pattern
  const last = others.pop()
  if (last === undefined) return name === first
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false
  const end = name.length - last.length
  let at = first.length
  for (const text of others) {
    const found = name.indexOf(text, at)
    if (found < 0 || found + text.length > end) return false
    at = found + text.length
  }
  return true
}

/** A name of a table as a pattern that selects only this table. */
export const quotedName = (name: string): string =>
  /^[\p{L}\p{N}_$-]+$/u.test(name) ? name : `"${name.replaceAll('"', '""')}"`

const part = /"((?:[^"]|"")*)"|([^",.\n]*)/y

function patternsIn(value: FieldValue | undefined): readonly TablePattern[] {
  const text = typeof value === 'string' ? value : ''
  const patterns: TablePattern[] = []
  let at = 0
  const read = (): NamePattern | undefined => {
    while (text[at] === ' ' || text[at] === '\t' || text[at] === '\r') at++
    part.lastIndex = at
    const [all = '', quoted, bare = ''] = part.exec(text) ?? []
    at += all.length
    while (text[at] === ' ' || text[at] === '\t' || text[at] === '\r') at++
    if (quoted !== undefined) return [quoted.replaceAll('""', '"')]
    const name = bare.trim()
    return name === '' ? undefined : name.split('*')
  }
  while (at < text.length) {
    const begin = at
    const first = read()
    const isQualified = text[at] === '.'
    if (isQualified) at++
    const second = isQualified ? read() : undefined
    const isEnd = at >= text.length || text[at] === ',' || text[at] === '\n'
    if (!isEnd || (isQualified && !(first && second))) throw invalidPattern(text.slice(begin, begin + 80))
    at++
    if (first) patterns.push(second ? { schema: first, table: second } : { schema: undefined, table: first })
  }
  return patterns
}

const invalidPattern = (text: string) =>
  new ConnectorError(
    'invalid_setting',
    `Tables: "${text.split('\n')[0]}" is not a pattern. Write schema.table, with * for any characters, and double quotes around names with commas, dots or quotes.`,
  )
