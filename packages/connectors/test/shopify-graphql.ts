import assert from 'node:assert/strict'

/** GraphQL as far as the documents of the connector go: one operation, whose fields have arguments and fields of their own. */

export type GraphqlField = {
  name: string
  /** JSON values, or `$name` of a variable. */
  args: Record<string, unknown>
  /** The type of `... on Type`, if the fields are of that alone. */
  on?: string
  fields: GraphqlField[]
}
export type GraphqlDocument = { kind: 'query' | 'mutation'; name: string; variables: string[]; fields: GraphqlField[] }

/** Parses a document. Throws if it is none. */
export function parseGraphql(text: string): GraphqlDocument {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|\.\.\.|[\w$]+|[^\s\w]/g) ?? []
  let at = 0
  const peek = () => tokens[at] ?? ''
  const take = (wanted?: string) => {
    const token = tokens[at++] ?? ''
    if (wanted !== undefined) assert.equal(token, wanted, text)
    return token
  }
  function value(): unknown {
    const token = take()
    if (token === '[') {
      const list: unknown[] = []
      while (peek() !== ']') {
        list.push(value())
        if (peek() === ',') take()
      }
      take(']')
      return list
    }
    return token.startsWith('"') || /^(?:\d+|true|false|null)$/.test(token) ? JSON.parse(token) : token
  }
  function args(): Record<string, unknown> {
    const given: Record<string, unknown> = {}
    if (peek() !== '(') return given
    take('(')
    while (peek() !== ')') {
      const name = take()
      take(':')
      given[name] = value()
      if (peek() === ',') take()
    }
    take(')')
    return given
  }
  function selection(): GraphqlField[] {
    const fields: GraphqlField[] = []
    if (peek() !== '{') return fields
    take('{')
    while (peek() !== '}') {
      if (peek() === '...') {
        take('...')
        take('on')
        const on = take()
        fields.push({ name: '...', args: {}, on, fields: selection() })
        continue
      }
      const name = take()
      assert.match(name, /^\w+$/, text)
      fields.push({ name, args: args(), fields: selection() })
    }
    take('}')
    assert.ok(fields.length > 0, text)
    return fields
  }
  const kind = peek() === 'mutation' ? 'mutation' : 'query'
  if (/^(?:query|mutation)$/.test(peek())) take()
  const name = /^\w+$/.test(peek()) ? take() : ''
  const variables: string[] = []
  if (peek() === '(') {
    while (take() !== ')') if (peek().startsWith('$')) variables.push(peek())
  }
  const fields = selection()
  assert.equal(at, tokens.length, text)
  return { kind, name, variables, fields }
}

/** The fields of a type with the types of its objects: `LineItem*` is a connection, `Money[]` a list. */
export type GraphqlTypes = Readonly<Record<string, string>>
export type Stored = { [key: string]: unknown }

/** Something that a type does not have. */
export class UndefinedField extends Error {}

export function typeOfField(types: GraphqlTypes, type: string, name: string): string {
  for (const field of (types[type] ?? '').split(' ')) {
    const [key, of = ''] = field.split(':')
    if (key === name) return of
  }
  throw new UndefinedField(`Field '${name}' doesn't exist on type '${type}'`)
}

const field = (fields: readonly GraphqlField[], name: string): GraphqlField => {
  const found = fields.find((one) => one.name === name)
  if (!found) throw new UndefinedField(name)
  return found
}

/** The fields of the objects of a connection. */
export const nodeFields = (connection: GraphqlField): readonly GraphqlField[] =>
  field(field(connection.fields, 'edges').fields, 'node').fields

/**
 * An object as far as it was asked for.
 * @param below gets the objects of connections below it; absent: they are in the answer
 */
export function projected(
  types: GraphqlTypes,
  type: string,
  stored: Stored,
  fields: readonly GraphqlField[],
  below?: (type: string, items: readonly Stored[], fields: readonly GraphqlField[]) => void,
): Stored {
  const result: Stored = {}
  for (const asked of fields) {
    if (asked.on !== undefined) {
      const fields = projected(types, asked.on, stored, asked.fields, stored.__typename === asked.on ? below : () => {})
      if (stored.__typename === asked.on) Object.assign(result, fields)
      continue
    }
    const of = typeOfField(types, type, asked.name)
    const value = stored[asked.name] ?? null
    if (of.endsWith('*')) {
      const items = (value ?? []) as Stored[]
      if (below) below(of.slice(0, -1), items, nodeFields(asked))
      else result[asked.name] = connectionOf(types, of.slice(0, -1), items, asked)
      continue
    }
    if ((of === '') !== (asked.fields.length === 0)) throw new UndefinedField(`Selections of ${asked.name}`)
    const name = of.replace('[]', '')
    const one = (item: unknown) => projected(types, name, item as Stored, asked.fields, below)
    if (of === '' || value === null) result[asked.name] = value
    else if (of.endsWith('[]')) {
      const names = asked.args.names as string[] | undefined
      result[asked.name] = (value as Stored[]).filter((item) => !names || names.includes(String(item.name))).map(one)
    } else result[asked.name] = one(value)
  }
  return result
}

/** A connection of an ordinary query, which must say how many objects it wants. */
export function connectionOf(types: GraphqlTypes, type: string, items: readonly Stored[], asked: GraphqlField): Stored {
  const { first } = asked.args
  if (typeof first !== 'number') throw new UndefinedField(`you must provide one of first or last on ${asked.name}`)
  const fields = nodeFields(asked)
  return { edges: items.slice(0, first).map((item) => ({ node: projected(types, type, item, fields) })) }
}

/** Numbers of connections in a document, and how deep they are. */
export function connectionsIn(fields: readonly GraphqlField[], depth = 0): { count: number; depth: number } {
  let count = 0
  let deepest = depth
  for (const one of fields) {
    const isConnection = one.fields.some(({ name }) => name === 'edges' || name === 'nodes')
    const inner = connectionsIn(one.fields, depth + (isConnection ? 1 : 0))
    count += inner.count + (isConnection ? 1 : 0)
    deepest = Math.max(deepest, inner.depth)
  }
  return { count, depth: deepest }
}
