import { type Document, isMap, isScalar, isSeq, LineCounter, parseDocument, type YAMLMap } from 'yaml'

/**
 * The definition of an HTTP API as text, which is all that is kept. A form changes single values of it, so that comments and keys that
 * the form does not know stay. The service checks the rest of it.
 */

/** Keys and indexes that lead to a value of the text. */
export type TextPath = readonly (string | number)[]

/** An error of the text, from 1. */
export type TextError = { readonly line: number; readonly column: number; readonly message: string }

export type ReadText =
  | { readonly value: unknown; readonly textError?: never }
  | { readonly value?: never; readonly textError: TextError }

/** The value of a text of YAML or JSON, or its first error. */
export function readText(text: string): ReadText {
  try {
    const lines = new LineCounter()
    const document = parse(text, lines)
    const [error] = document.errors
    if (error) {
      const { line, col } = lines.linePos(error.pos[0])
      return { textError: { line, column: col, message: error.message } }
    }
    return { value: document.toJS({ maxAliasCount: 0 }) as unknown }
  } catch {
    return { textError: { line: 1, column: 1, message: 'Aliases (*name) are not possible' } }
  }
}

/** The line and the column of a value, or of the nearest one around it. */
export function placeIn(text: string, path: TextPath): Pick<TextError, 'line' | 'column'> {
  const lines = new LineCounter()
  const document = parse(text, lines)
  for (let length = path.length; length >= 0; length--) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
    if (!isMap(node) && !isSeq(node) && !isScalar(node)) continue
    const { line, col } = lines.linePos(node.range?.[0] ?? 0)
    return { line, column: col }
  }
  return { line: 1, column: 1 }
}

const parse = (text: string, lineCounter = new LineCounter()): Document.Parsed =>
  parseDocument(text, { lineCounter, prettyErrors: false, logLevel: 'silent' })

/** The text with another value at a path; `undefined` removes it, with objects that are empty then. The text must have no errors. */
export function withValue(text: string, path: TextPath, value: unknown): string {
  const document = parse(text)
  if (value === undefined) remove(document, path)
  else if (document.contents === null) document.contents = document.createNode(nest(path, value)) as never
  else set(document, path, value)
  return write(document, text)
}

/** The text with these entries of an object. An entry whose name alone changed keeps its place and its comments. */
export function withEntries(text: string, path: TextPath, entries: readonly (readonly [string, unknown])[]): string {
  if (entries.length === 0) return withValue(text, path, undefined)
  const document = parse(text)
  const map = document.getIn(path, true)
  if (!isMap(map)) return withValue(text, path, Object.fromEntries(entries))
  const names = entries.map(([name]) => name)
  const gone = namesOf(map).filter((name) => !names.includes(name))
  const fresh = names.filter((name) => !map.has(name))
  const [from] = gone
  const [to] = fresh
  const pair = map.items.find(({ key }) => nameOf(key) === from)
  if (gone.length === 1 && fresh.length === 1 && pair && isScalar(pair.key)) pair.key.value = to
  else for (const name of gone) map.delete(name)
  for (const [name, value] of entries) {
    const scalar = map.get(name, true)
    if (isScalar(scalar) && String(scalar.value) === String(value)) continue
    set(document, [...path, name], value)
  }
  return write(document, text)
}

/** The text with a value more or less in a list of texts; a list that is empty then is removed. */
export function withToggled(text: string, path: TextPath, value: string): string {
  const document = parse(text)
  const list = document.getIn(path, true)
  if (!isSeq(list)) return withValue(text, path, [value])
  const at = list.items.findIndex((item) => nameOf(item) === value)
  if (at < 0) list.add(document.createNode(value))
  else list.delete(at)
  return list.items.length === 0 ? withValue(text, path, undefined) : write(document, text)
}

/** Where a line and a column are in a text. */
export function offsetOf(text: string, { line, column }: Pick<TextError, 'line' | 'column'>): number {
  const before = text.split('\n').slice(0, line - 1)
  return Math.min(text.length, before.reduce((sum, one) => sum + one.length + 1, 0) + column - 1)
}

/** The line and the column that a refusal of the service names, with the reason. */
export function textErrorIn(message: string): TextError | undefined {
  const [, line, column, reason = ''] = /line (\d+), column (\d+): (.*)$/s.exec(message) ?? []
  return line === undefined ? undefined : { line: Number(line), column: Number(column), message: reason }
}

function set(document: Document.Parsed, path: TextPath, value: unknown): void {
  const node = document.getIn(path, true)
  const isPlain = value === null || typeof value !== 'object'
  // The node keeps its comments, and a text its quotation marks.
  if (isScalar(node) && isPlain) {
    node.value = value
    if (typeof value !== 'string') delete node.type
    delete node.source
    return
  }
  // A value such as `query:` is null, in which nothing can be set.
  for (let length = 1; length < path.length; length++) {
    const above = document.getIn(path.slice(0, length), true)
    if (!isMap(above) && !isSeq(above)) {
      document.setIn(path.slice(0, length), document.createNode(nest(path.slice(length), value)))
      return
    }
  }
  document.setIn(path, document.createNode(value))
}

function remove(document: Document.Parsed, path: TextPath): void {
  document.deleteIn(path)
  for (let length = path.length - 1; length > 2; length--) {
    const above = document.getIn(path.slice(0, length), true)
    if (!isMap(above) || above.items.length > 0) return
    document.deleteIn(path.slice(0, length))
  }
}

const nest = (path: TextPath, value: unknown): unknown =>
  path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)

const nameOf = (key: unknown): unknown => (isScalar(key) ? String(key.value) : key)
const namesOf = (map: YAMLMap): string[] => map.items.map(({ key }) => String(nameOf(key)))

/** In quotation marks if the text is JSON, so that it stays JSON. */
function write(document: Document, before: string): string {
  const isJson = before.trimStart().startsWith('{')
  const quotes = isJson ? ({ defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'QUOTE_DOUBLE' } as const) : {}
  return document.toString({ lineWidth: 0, flowCollectionPadding: true, ...quotes })
}
