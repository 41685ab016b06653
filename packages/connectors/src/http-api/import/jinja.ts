/** A part of an expression of Jinja. */
export type JinjaNode =
  | { readonly op: 'constant'; readonly value: string | number | boolean | null }
  | { readonly op: 'name'; readonly name: string }
  | { readonly op: 'get'; readonly of: JinjaNode; readonly key: JinjaNode }
  | { readonly op: 'slice'; readonly of: JinjaNode; readonly from?: JinjaNode; readonly until?: JinjaNode }
  | { readonly op: 'call'; readonly of: JinjaNode; readonly args: readonly JinjaNode[]; readonly named: NamedNodes }
  | {
      readonly op: 'filter'
      readonly name: string
      readonly of: JinjaNode
      readonly args: readonly JinjaNode[]
      readonly named: NamedNodes
    }
  | { readonly op: 'test'; readonly name: string; readonly of: JinjaNode; readonly args: readonly JinjaNode[] }
  | { readonly op: 'not' | 'minus'; readonly of: JinjaNode }
  | { readonly op: 'binary'; readonly sign: string; readonly left: JinjaNode; readonly right: JinjaNode }
  | { readonly op: 'choice'; readonly if: JinjaNode; readonly yes: JinjaNode; readonly no: JinjaNode }
  | { readonly op: 'list'; readonly items: readonly JinjaNode[] }
  | { readonly op: 'map'; readonly entries: readonly (readonly [JinjaNode, JinjaNode])[] }
  | { readonly op: 'join'; readonly parts: readonly JinjaNode[] }

type NamedNodes = Readonly<Record<string, JinjaNode>>

/** A text that is no template that can be read. The message is a sentence. */
export class JinjaError extends Error {}

const none: JinjaNode = { op: 'constant', value: null }
const tokenOf =
  /\s*(?:(\d+(?:\.\d+)?)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([A-Za-z_]\w*)|(\/\/|\*\*|==|!=|<=|>=|[-+*/%~<>()[\]{}.,:|=]))/y
const depthMax = 40

/** Reads an expression, without the braces around it. Throws {@link JinjaError}. */
function parseJinja(text: string): JinjaNode {
  const parser = new Parser(text)
  const node = parser.expression()
  if (parser.now !== undefined) throw new JinjaError(`The expression {{ ${shown(text)} }} cannot be read.`)
  return node
}

const shown = (text: string) => text.trim().slice(0, 100)

class Parser {
  readonly #tokens: string[] = []
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
    tokenOf.lastIndex = 0
    for (let end = 0; /\S/.test(text.slice(end)); end = tokenOf.lastIndex) {
      const found = tokenOf.exec(text)
      if (!found) this.#fail()
      else this.#tokens.push((found[1] ?? found[2] ?? found[3] ?? found[4]) as string)
    }
  }

  get now(): string | undefined {
    return this.#tokens[this.#at]
  }

  #fail(): never {
    throw new JinjaError(`The expression {{ ${shown(this.#text)} }} cannot be read.`)
  }

  #takes(...tokens: readonly string[]): boolean {
    const fits = tokens.every((token, index) => this.#tokens[this.#at + index] === token)
    if (fits) this.#at += tokens.length
    return fits
  }

  #needs(token: string): void {
    if (!this.#takes(token)) this.#fail()
  }

  expression(): JinjaNode {
    if (++this.#depth > depthMax) this.#fail()
    const yes = this.#or()
    let node = yes
    if (this.#takes('if')) {
      const condition = this.#or()
      node = { op: 'choice', if: condition, yes, no: this.#takes('else') ? this.expression() : none }
    }
    this.#depth--
    return node
  }

  #or(): JinjaNode {
    let left = this.#and()
    while (this.#takes('or')) left = { op: 'binary', sign: 'or', left, right: this.#and() }
    return left
  }

  #and(): JinjaNode {
    let left = this.#not()
    while (this.#takes('and')) left = { op: 'binary', sign: 'and', left, right: this.#not() }
    return left
  }

  #not(): JinjaNode {
    return this.#takes('not') ? { op: 'not', of: this.#not() } : this.#compared()
  }

  #compared(): JinjaNode {
    let left = this.#sum()
    for (;;) {
      const sign = ['==', '!=', '<=', '>=', '<', '>', 'in'].find((one) => this.#takes(one))
      if (sign !== undefined) left = { op: 'binary', sign, left, right: this.#sum() }
      else if (this.#takes('not', 'in')) {
        left = { op: 'not', of: { op: 'binary', sign: 'in', left, right: this.#sum() } }
      } else if (this.#takes('is')) {
        const isNot = this.#takes('not')
        const name = this.#name()
        const args = name === 'sameas' ? this.#arguments().args : []
        const tested: JinjaNode = { op: 'test', name, of: left, args }
        left = isNot ? { op: 'not', of: tested } : tested
      } else return left
    }
  }

  #sum(): JinjaNode {
    let left = this.#product()
    for (;;) {
      const sign = ['+', '-', '~'].find((one) => this.#takes(one))
      if (sign === undefined) return left
      left = { op: 'binary', sign, left, right: this.#product() }
    }
  }

  #product(): JinjaNode {
    let left = this.#unary()
    for (;;) {
      const sign = ['*', '//', '/', '%'].find((one) => this.#takes(one))
      if (sign === undefined) return left
      left = { op: 'binary', sign, left, right: this.#unary() }
    }
  }

  #unary(): JinjaNode {
    if (this.#takes('-')) return { op: 'minus', of: this.#unary() }
    return this.#postfix(this.#primary())
  }

  #postfix(first: JinjaNode): JinjaNode {
    let node = first
    for (;;) {
      if (this.#takes('.')) node = { op: 'get', of: node, key: this.#key() }
      else if (this.#takes('[')) node = this.#index(node)
      else if (this.now === '(') node = { op: 'call', of: node, ...this.#arguments() }
      else if (this.#takes('|')) {
        const name = this.#name()
        node = { op: 'filter', name, of: node, ...(this.now === '(' ? this.#arguments() : { args: [], named: {} }) }
      } else return node
    }
  }

  #key(): JinjaNode {
    const name = this.now
    if (name === undefined || !/^\w+$/.test(name)) this.#fail()
    this.#at++
    return { op: 'constant', value: /^\d+$/.test(name) ? Number(name) : name }
  }

  #index(of: JinjaNode): JinjaNode {
    const from = this.now === ':' ? undefined : this.expression()
    if (!this.#takes(':')) {
      this.#needs(']')
      return { op: 'get', of, key: from ?? none }
    }
    const until = this.now === ']' ? undefined : this.expression()
    this.#needs(']')
    return { op: 'slice', of, ...(from && { from }), ...(until && { until }) }
  }

  #arguments(): { args: JinjaNode[]; named: Record<string, JinjaNode> } {
    const args: JinjaNode[] = []
    const named: Record<string, JinjaNode> = Object.create(null)
    this.#needs('(')
    while (!this.#takes(')')) {
      const isNamed = /^[A-Za-z_]/.test(this.now ?? '') && this.#tokens[this.#at + 1] === '='
      if (isNamed) {
        const name = this.#name()
        this.#needs('=')
        named[name] = this.expression()
      } else args.push(this.expression())
      if (this.now !== ')') this.#needs(',')
    }
    return { args, named }
  }

  #name(): string {
    const name = this.now
    if (name === undefined || !/^[A-Za-z_]\w*$/.test(name)) this.#fail()
    this.#at++
    return name
  }

  #primary(): JinjaNode {
    const token = this.now
    if (token === undefined) this.#fail()
    this.#at++
    if (token === '(') {
      const inside = this.expression()
      this.#needs(')')
      return inside
    }
    if (token === '[') return { op: 'list', items: this.#items(']') }
    if (token === '{') {
      const entries: (readonly [JinjaNode, JinjaNode])[] = []
      while (!this.#takes('}')) {
        const key = this.expression()
        this.#needs(':')
        entries.push([key, this.expression()])
        if (this.now !== '}') this.#needs(',')
      }
      return { op: 'map', entries }
    }
    if (/^["']/.test(token)) return { op: 'constant', value: unquoted(token) }
    if (/^\d/.test(token)) return { op: 'constant', value: Number(token) }
    if (/^(true|false|none|null)$/i.test(token)) {
      const word = token.toLowerCase()
      return { op: 'constant', value: word === 'true' ? true : word === 'false' ? false : null }
    }
    if (/^(if|else|and|or|in|is)$/.test(token) || !/^[A-Za-z_]/.test(token)) this.#fail()
    return { op: 'name', name: token }
  }

  #items(end: string): JinjaNode[] {
    const items: JinjaNode[] = []
    while (!this.#takes(end)) {
      items.push(this.expression())
      if (this.now !== end) this.#needs(',')
    }
    return items
  }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }
const unquoted = (token: string): string =>
  token.slice(1, -1).replace(/\\(.)/gs, (_, character: string) => escapes[character] ?? character)

/**
 * Reads a template: texts, `{{ … }}`, and the statements `set` and `if`. One that is a single expression is that expression.
 * Throws {@link JinjaError}.
 */
export function parseTemplate(template: string): JinjaNode {
  const pieces = piecesOf(template)
  const { parts, end } = partsUntil(pieces, 0, new Map(), 0)
  if (end !== pieces.length) throw new JinjaError('The template has a statement that cannot be carried.')
  return joined(parts)
}

type Piece = { readonly kind: 'text' | 'expression' | 'statement'; readonly text: string }

/** Splits a template. Braces within texts of an expression do not end it. */
function piecesOf(template: string): Piece[] {
  const pieces: Piece[] = []
  let from = 0
  let trims = false
  for (const found of template.matchAll(
    /\{\{(-?)((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?!-?\}\})[^"'])*)(-?)\}\}|\{%(-?)([\s\S]*?)(-?)%\}|\{#[\s\S]*?#\}/g,
  )) {
    const [whole, beforeA, expression, afterA, beforeB, statement, afterB] = found
    let text = template.slice(from, found.index)
    if (trims) text = text.trimStart()
    if (beforeA || beforeB) text = text.trimEnd()
    if (text !== '') pieces.push({ kind: 'text', text })
    if (expression !== undefined) pieces.push({ kind: 'expression', text: expression })
    if (statement !== undefined) pieces.push({ kind: 'statement', text: statement.trim() })
    trims = Boolean(afterA || afterB)
    from = found.index + whole.length
  }
  const rest = template.slice(from)
  if (rest !== '') pieces.push({ kind: 'text', text: trims ? rest.trimStart() : rest })
  return pieces
}

type Names = ReadonlyMap<string, JinjaNode>

function partsUntil(
  pieces: readonly Piece[],
  from: number,
  given: Names,
  depth: number,
): { parts: JinjaNode[]; end: number } {
  if (depth > depthMax) throw new JinjaError('The template is too deep.')
  const names = new Map(given)
  const parts: JinjaNode[] = []
  let at = from
  while (at < pieces.length) {
    const { kind, text } = pieces[at] as Piece
    if (kind === 'text') parts.push({ op: 'constant', value: text })
    else if (kind === 'expression') parts.push(replaced(parseJinja(text), names))
    else if (/^(else|elif|endif)\b/.test(text)) return { parts, end: at }
    else if (/^if\s/.test(text)) {
      const block = conditional(pieces, at, names, depth)
      parts.push(block.node)
      at = block.end
    } else {
      const [, name, value] = /^set\s+(\w+)\s*=([\s\S]+)$/.exec(text) ?? []
      if (name === undefined || value === undefined) {
        throw new JinjaError(`The statement {% ${shown(text)} %} cannot be carried.`)
      }
      names.set(name, replaced(parseJinja(value), names))
    }
    at++
  }
  return { parts, end: at }
}

/** An `if` with its branches; ends at its `endif`. */
function conditional(
  pieces: readonly Piece[],
  at: number,
  names: Names,
  depth: number,
): { node: JinjaNode; end: number } {
  const condition = replaced(parseJinja((pieces[at] as Piece).text.replace(/^(el)?if\s/, '')), names)
  const then = partsUntil(pieces, at + 1, names, depth + 1)
  const next = pieces[then.end]?.text ?? ''
  const choice = (other: JinjaNode, end: number) => ({
    node: { op: 'choice', if: condition, yes: joined(then.parts), no: other } as const,
    end,
  })
  if (/^elif\s/.test(next)) {
    const other = conditional(pieces, then.end, names, depth + 1)
    return choice(other.node, other.end)
  }
  if (next === 'else') {
    const other = partsUntil(pieces, then.end + 1, names, depth + 1)
    if (pieces[other.end]?.text !== 'endif') throw new JinjaError('The template has an if without an endif.')
    return choice(joined(other.parts), other.end)
  }
  if (next !== 'endif') throw new JinjaError('The template has an if without an endif.')
  return choice({ op: 'constant', value: '' }, then.end)
}

/** Parts as one value. Space around a single expression has no meaning, since the result is read as a value. */
function joined(parts: readonly JinjaNode[]): JinjaNode {
  const isSpace = (part: JinjaNode) =>
    part.op === 'constant' && typeof part.value === 'string' && part.value.trim() === ''
  const solid = parts.filter((part) => !isSpace(part))
  const [only] = solid
  if (only && solid.length === 1) return only
  return parts.length === 0 ? { op: 'constant', value: '' } : { op: 'join', parts }
}

/** An expression with the values of the names that statements have set. */
function replaced(node: JinjaNode, names: Names): JinjaNode {
  if (names.size === 0) return node
  const of = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(of)
    if (typeof value !== 'object' || value === null) return value
    if ('op' in value && value.op === 'name' && 'name' in value) return names.get(String(value.name)) ?? value
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, of(one)]))
  }
  return of(node) as JinjaNode
}
