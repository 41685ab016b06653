import { nearestNames } from '@penstock/wire/rules'
import type { Facts, Language } from './functions/facts.ts'
import type { CallSite, Compiled, ExpressionFunction, Values } from './functions/function.ts'
import { functions } from './functions/index.ts'
import { answerKey } from './local/answer-key.ts'
import type { ASTNode } from './syntax.ts'
import { ExpressionError, expressionLimits, type Fix, type Place, spend, type Value, type ValueKind } from './values.ts'

/** A name with the keys after it, such as `row`, `country` or `cursor`, `start`. */
export type NamePath = readonly [root: string, ...keys: string[]]

/** An operator between two values. */
export type Operator = Exclude<Extract<ASTNode, { args: [ASTNode, ASTNode] }>['op'], '&&' | '||' | '[]' | '[?]'>

/** A key and a value of an object, and the place of the key. */
export type Entry<Input> = { readonly key: Compiled<Input>; readonly value: Compiled<Input>; readonly place: Place }

/** The place of an operator, and the texts of both sides as the user wrote them. */
export type OperatorSite = Place & { readonly left: string; readonly right: string }

/**
 * Compiles the tree of one expression to functions, for the values of one language. Throws an `ExpressionError` for every error
 * that is already known.
 */
export abstract class Compiler<Input> {
  abstract readonly language: Language
  abstract readonly values: Values
  /** No value. */
  abstract readonly nothing: Value
  /** Whether each part counts as a step. Otherwise only calls and the items of lists count. */
  abstract readonly isMetered: boolean
  /** The names of the items of lists, the innermost last, and their values while the expression runs. */
  readonly #items: string[] = []
  readonly #values: Value[] = []
  #depth = 0
  /** The first part of it that needs the key of keyed hashes. */
  needsKey: Place | undefined

  /** A name that is not an item of a list. */
  abstract named(path: NamePath, place: Place): Compiled<Input>
  /** The value of a key of an expression that is not a name. */
  abstract member(of: ASTNode, key: string): Compiled<Input>
  abstract index(of: ASTNode, by: ASTNode): Compiled<Input>
  abstract binary(operator: Operator, left: ASTNode, right: ASTNode, site: OperatorSite): Compiled<Input>
  abstract condition(node: ASTNode): (input: Input) => boolean
  /** A value that is converted to another kind. @param node the part of the expression with this value */
  abstract converted(kind: ValueKind, value: Compiled<Input>, node: ASTNode): Compiled<Input>
  /** An object of keys and values. @param isTable whether it is the table of `lookup` */
  abstract object(entries: readonly Entry<Input>[], place: Place, isTable: boolean): Compiled<Input>
  abstract failing(place: Place, text: string): CallSite['fail']
  /** Throws an `ExpressionError` if the function does not accept this number of arguments. */
  abstract checkCount(name: string, count: number, least: number, most: number, place: Place): void

  compile(node: ASTNode): Compiled<Input> {
    if (++this.#depth > expressionLimits.depth) throw new ExpressionError('is too deep', placeOf(node))
    const compiled = this.#compile(node)
    this.#depth--
    if (!this.isMetered) return compiled
    const [{ run }, place] = [compiled, placeOf(node)]
    const metered = (input: Input) => {
      spend(1, place)
      return run(input)
    }
    return { ...compiled, run: metered }
  }

  #compile(node: ASTNode): Compiled<Input> {
    switch (node.op) {
      case 'value':
        return this.#literal(node.args, placeOf(node))
      case 'id':
      case '.':
        return this.#named(node)
      case '[]':
        return this.index(...node.args)
      case 'call':
        return this.#call(node.args[0], node.args[1], node)
      case 'rcall':
        return this.#call(node.args[0], [node.args[1], ...node.args[2]], node)
      case 'list':
        return this.#list(node.args, placeOf(node))
      case '?:':
        return this.#choice(node.args)
      case '&&':
      case '||': {
        const [a, b] = [this.condition(node.args[0]), this.condition(node.args[1])]
        return {
          kind: 'condition',
          run: node.op === '&&' ? (input) => a(input) && b(input) : (input) => a(input) || b(input),
        }
      }
      case '!_': {
        const holds = this.condition(node.args)
        return { kind: 'condition', run: (input) => !holds(input) }
      }
      case '-_': {
        const { run, fixed } = this.argument('number', node.args)
        const negative = (of: Value) => (typeof of === 'number' ? 0 - of : of)
        return fixed === undefined
          ? { kind: 'number', run: (input) => negative(run(input)) }
          : fixedOf(negative(fixed), 'number')
      }
      case 'map':
        return this.object(this.#entries(node.args), placeOf(node), false)
      case '.?':
      case '[?]':
        throw new ExpressionError('has an operator that is not supported', placeOf(node))
      default: {
        const [left, right] = node.args
        const sign = { at: signBehind(left), length: node.op.length }
        return this.binary(node.op, left, right, { ...sign, left: textOf(left), right: textOf(right) })
      }
    }
  }

  #literal(value: unknown, place: Place): Compiled<Input> {
    if (typeof value === 'string') return fixedOf(value, 'text')
    if (typeof value === 'boolean') return fixedOf(value, 'condition')
    if (value === null) return fixedOf(this.nothing, 'text')
    const number = typeof value === 'bigint' ? Number(value) : value
    const isExact = typeof value === 'number' || Number.isSafeInteger(number) || this.language === 'definitions'
    if (typeof number === 'number' && isExact) return fixedOf(number, 'number')
    throw new ExpressionError('has a value that is not supported', place)
  }

  isItem = (name: string): boolean => this.#items.includes(name)

  #named(node: Extract<ASTNode, { op: 'id' | '.' }>): Compiled<Input> {
    const path = pathOf(node)
    if (path && !this.isItem(path[0])) return this.named(path, placeOf(node))
    if (node.op === '.') return this.member(...node.args)
    const slot = this.#items.lastIndexOf(node.args)
    const values = this.#values
    return { kind: 'any', run: () => values[slot] }
  }

  #list(nodes: readonly ASTNode[], place: Place): Compiled<Input> {
    const items = nodes.map((node) => this.compile(node))
    const { nothing, isMetered } = this
    if (items.every(({ fixed }) => fixed !== undefined))
      return fixedOf(
        items.map(({ fixed }) => fixed),
        'list',
      )
    return {
      kind: 'list',
      run: (input) => {
        if (!isMetered) spend(items.length, place)
        return items.map(({ run }) => run(input) ?? nothing)
      },
    }
  }

  #choice([condition, yes, no]: readonly [ASTNode, ASTNode, ASTNode]): Compiled<Input> {
    const holds = this.condition(condition)
    const [left, right] = [this.compile(yes), this.compile(no)]
    const kind = left.kind === right.kind || right.fixed === '' ? left.kind : left.fixed === '' ? right.kind : 'any'
    return { kind, run: (input) => (holds(input) ? left.run(input) : right.run(input)) }
  }

  /** An argument of a kind. */
  argument(kind: ValueKind, node: ASTNode): Compiled<Input> {
    if (kind === 'table') return this.#table(node)
    const compiled = this.compile(node)
    return kind === 'any' ? compiled : this.converted(kind, compiled, node)
  }

  #entries(pairs: readonly (readonly [ASTNode, ASTNode])[]): readonly Entry<Input>[] {
    return pairs.map(([key, value]) => ({ key: this.compile(key), value: this.compile(value), place: placeOf(key) }))
  }

  /** The table of `lookup`: by the keys that are compared if all of it is fixed. */
  #table(node: ASTNode): Compiled<Input> {
    if (node.op !== 'map') return this.converted('table', this.compile(node), node)
    const entries = this.#entries(node.args)
    const open = entries.find(({ key, value }) => key.fixed === undefined || value.fixed === undefined)
    if (open) return this.object(entries, open.place, true)
    return fixedOf(new Map(entries.map(({ key, value }) => [answerKey(String(key.fixed)), value.fixed])), 'table')
  }

  #call(name: string, args: readonly ASTNode[], node: ASTNode): Compiled<Input> {
    const definition = functions.get(name)
    const place = nameIn(node, name)
    if (!definition) {
      const known = [...functions.values()].filter(({ only }) => !only || only.in === this.language)
      throw new ExpressionError(
        `has no function ${name}`,
        place,
        meaning(
          name,
          known.map((one) => one.name),
          place,
        ),
      )
    }
    const { only, parameters } = definition
    if (only && only.in !== this.language) {
      throw new ExpressionError(`calls ${name}, which only ${only.in} have: ${only.because}`, place)
    }
    if (definition.subject === 'Lists') return this.#macro(name, args, node)
    if (name === 'hmac') this.needsKey ??= placeOf(node)
    const last = parameters.at(-1)
    const least = parameters.filter(({ isOptional }) => !isOptional).length
    this.checkCount(name, args.length, least, last?.isRepeated ? Number.POSITIVE_INFINITY : parameters.length, place)
    const given = args.flatMap((arg, i) => {
      const parameter = parameters[i] ?? (last?.isRepeated ? last : undefined)
      return parameter ? [this.argument(parameter.kind, arg)] : []
    })
    const missing = parameters.slice(given.length).filter(({ isOptional, isRepeated }) => !isOptional && !isRepeated)
    for (const { kind } of missing) given.push(fixedOf(kind === 'text' ? '' : kind === 'list' ? [] : null, kind))
    const wrong = definition.refuse?.(given.map(({ fixed }) => fixed))
    if (wrong !== undefined) throw new ExpressionError(`calls ${name}, which ${wrong}`, placeOf(node))
    const of = args[0] ?? node
    const fail = this.failing(placeOf(of), textOf(of))
    return this.#callOf(definition, given, { ...placeOf(node), values: this.values, fail })
  }

  #callOf(definition: Facts & ExpressionFunction, given: readonly Compiled<Input>[], site: CallSite): Compiled<Input> {
    const kind = definition.kindOf?.(given) ?? definition.gives
    const { nothing } = this
    const lazy = definition.runLazily?.(given, site)
    if (lazy) return { kind, run: (input) => lazy(input) ?? nothing }
    const older = this.language === 'definitions' ? definition.runInDefinitions : undefined
    const run = older ?? (definition.run as NonNullable<ExpressionFunction['run']>)
    const [first, second] = given
    if (given.length === 1 && first) {
      const one = first.run
      return { kind, run: (input) => run([one(input)], site) ?? nothing }
    }
    if (given.length === 2 && first && second) {
      const [one, two] = [first.run, second.run]
      return { kind, run: (input) => run([one(input), two(input)], site) ?? nothing }
    }
    return {
      kind,
      run: (input) =>
        run(
          given.map((each) => each.run(input)),
          site,
        ) ?? nothing,
    }
  }

  /** `list.exists(item, condition)`, `all`, `filter`, and `list.map(item, value)`. */
  #macro(name: string, [of, variable, body, ...rest]: readonly ASTNode[], node: ASTNode): Compiled<Input> {
    if (!of || variable?.op !== 'id' || !body || rest.length > 0) {
      throw new ExpressionError(`needs a list, a name and an expression: list.${name}(item, …)`, placeOf(node))
    }
    const list = this.argument('list', of)
    const slot = this.#items.push(variable.args) - 1
    const step: (input: Input) => Value = name === 'map' ? this.compile(body).run : this.condition(body)
    this.#items.pop()
    const [values, place, steps, { nothing }] = [this.#values, placeOf(node), this.isMetered ? 0 : 1, this]
    /** Runs the step for each item until `until` holds. */
    const each = (input: Input, until: (result: Value, item: Value) => boolean): boolean => {
      for (const item of list.run(input) as readonly Value[]) {
        spend(steps, place)
        values[slot] = item
        if (until(step(input), item)) return true
      }
      return false
    }
    if (name === 'exists') return { kind: 'condition', run: (input) => each(input, (result) => result as boolean) }
    if (name === 'all') return { kind: 'condition', run: (input) => !each(input, (result) => !result) }
    const collects = name === 'map'
    return {
      kind: 'list',
      run: (input) => {
        const found: Value[] = []
        each(input, (result, item) => {
          if (collects) found.push(result ?? nothing)
          else if (result) found.push(item)
          return false
        })
        return found
      },
    }
  }
}

/** A value that is always the same. */
export const fixedOf = (fixed: Value, kind: ValueKind): Compiled<unknown> => ({ kind, run: () => fixed, fixed })

function pathOf(node: ASTNode): NamePath | undefined {
  if (node.op === 'id') return [node.args]
  if (node.op !== '.') return undefined
  const below = pathOf(node.args[0])
  return below && [...below, node.args[1]]
}

/** The place of a part of an expression. */
export const placeOf = ({ start, end }: ASTNode): Place => ({ at: start, length: end - start })

/** The place of the name of a called function: at the beginning, or after the dot that follows its first argument. */
function nameIn(node: ASTNode, name: string): Place {
  const from = node.op === 'rcall' ? node.args[1].end : node.start
  return { at: Math.max(node.start, node.input.indexOf(name, from)), length: name.length }
}

/** The most similar name of one that does not exist: a sentence, and the fix if only one name is as similar. */
export function meaning(
  name: string,
  known: readonly string[],
  place: Place,
  write: (name: string) => string = (one) => one,
): { hint: string; fix?: Fix } {
  const [nearest, ...others] = nearestNames(name, known)
  const fix = nearest !== undefined && others.length === 0 ? { ...place, text: write(nearest) } : undefined
  return { hint: nearest === undefined ? '' : ` Did you mean ${nearest}?`, ...(fix && { fix }) }
}

/** The text of a part of an expression, at most 60 characters of it. */
export function textOf({ input, start, end }: ASTNode): string {
  const text = input.slice(start, end)
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}

/** The place of the sign of an operator, after its left side. */
function signBehind({ input, end }: ASTNode): number {
  return end + Math.max(0, input.slice(end).search(/[^\s)]/))
}
