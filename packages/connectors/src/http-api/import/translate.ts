import { isTrue } from '@penstock/expressions/json'
import type { JinjaNode } from './jinja.ts'
import {
  accessTo,
  constantOf,
  folded,
  foldedWithin,
  formatted,
  literal,
  type Naming,
  stripped,
  type Translated,
  wrong,
} from './translated.ts'

/** Translates an expression of Jinja. Throws {@link TranslationError} for what cannot be carried. */
export function translate(node: JinjaNode, naming: Naming): Translated {
  return new Translator(naming).of(node)
}

class Translator {
  readonly #naming: Naming

  constructor(naming: Naming) {
    this.#naming = naming
  }

  of(node: JinjaNode): Translated {
    switch (node.op) {
      case 'constant':
        return literal(node.value)
      case 'name':
        return this.#named(node)
      case 'get':
        return this.#get(node)
      case 'slice': {
        const [from, until] = [node.from, node.until].map((one) => (one ? this.of(one).text : undefined))
        const rest = until === undefined ? '' : `, ${until}`
        return { text: `substring(${this.of(node.of).text}, ${from ?? '0'}${rest})`, isText: true }
      }
      case 'call':
        return this.#call(node)
      case 'filter':
        return this.#filter(node)
      case 'test':
        return this.#test(node)
      case 'not':
        return { text: `!(${this.of(node.of).text})` }
      case 'minus':
        return folded({ text: `-(${this.of(node.of).text})` })
      case 'binary':
        return this.#binary(node)
      case 'choice':
        return this.#choice(node)
      case 'list':
        return { text: `[${node.items.map((one) => this.of(one).text).join(', ')}]` }
      case 'map': {
        const entries = node.entries.map(([key, value]) => `${this.of(key).text}: ${this.of(value).text}`)
        return { text: `{${entries.join(', ')}}` }
      }
      case 'join':
        return this.#join(node.parts)
    }
  }

  #join(parts: readonly JinjaNode[]): Translated {
    const texts = parts.map((part) => this.of(part))
    // The first two decide whether + joins or adds.
    const begins = texts[0]?.isText || texts[1]?.isText
    return folded({ text: `(${begins ? '' : '"" + '}${texts.map(({ text }) => text).join(' + ')})`, isText: true })
  }

  /** The root and the fixed keys of an access; `undefined` if it has others. */
  #path(node: JinjaNode): { readonly root: string; readonly keys: (string | number)[] } | undefined {
    if (node.op === 'name') return { root: node.name, keys: [] }
    let [of, key, other]: (JinjaNode | undefined)[] = []
    if (node.op === 'get') [of, key] = [node.of, node.key]
    else if (node.op === 'call' && isMethod(node.of, 'get')) [of, key, other] = [node.of.of, ...node.args]
    if (!of || !key || (other && !isNothing(other))) return undefined
    const below = this.#path(of)
    if (!below) return undefined
    const value = constantOf(this.of(key))?.value
    if (typeof value !== 'string' && typeof value !== 'number') return undefined
    return { root: below.root, keys: [...below.keys, value] }
  }

  #named(node: JinjaNode): Translated {
    const path = this.#path(node)
    const translated = path && this.#naming(path.root, path.keys)
    return translated ?? wrong(`The name ${[path?.root, ...(path?.keys ?? [])].join('.')} cannot be carried.`)
  }

  #get(node: Extract<JinjaNode, { op: 'get' }>): Translated {
    const path = this.#path(node)
    const known = path && this.#naming(path.root, path.keys)
    if (known) return known
    return accessTo(this.of(node.of), this.of(node.key))
  }

  #call(node: Extract<JinjaNode, { op: 'call' }>): Translated {
    if (node.of.op === 'name') return this.#function(node.of.name, node)
    if (node.of.op === 'get' && node.of.key.op === 'constant') {
      return this.#method(String(node.of.key.value), node.of.of, node)
    }
    return wrong('An expression calls what is no function.')
  }

  #function(name: string, { args, named }: Extract<JinjaNode, { op: 'call' }>): Translated {
    const given = args.map((arg) => this.of(arg))
    const [first, second] = given
    const format = named.format ? this.of(named.format) : undefined
    switch (name) {
      case 'now_utc':
        return { text: 'now()', kind: 'time' }
      case 'today_utc':
        return { text: 'formatTime(now(), "yyyy-MM-dd")', kind: 'time', isText: true }
      case 'today_with_timezone':
        return wrong('A day in another time zone cannot be carried.')
      case 'day_delta': {
        const days = first ? `string(${first.text})` : '"0"'
        const shifted = { text: `addTime(now(), replace("P" + ${days} + "D", "P-", "-P"))`, kind: 'time' as const }
        return formatted(foldedWithin(shifted), format ?? second ?? literal('%Y-%m-%dT%H:%M:%S.%f%z'))
      }
      case 'format_datetime':
        if (!first || !second) break
        return formatted(first, second)
      case 'str_to_datetime':
      case 'timestamp_to_datetime':
        return { text: `time(${first?.text})`, kind: 'time' }
      case 'timestamp':
        return { text: `seconds(${first?.text})` }
      case 'duration':
        return { text: first?.text ?? '""', kind: 'duration', isText: true }
      case 'timedelta': {
        const [days, hours] = [named.days ?? args[0], named.hours]
        if (Object.keys(named).some((one) => one !== 'days' && one !== 'hours')) break
        if (days) return { text: `("P" + string(${this.of(days).text}) + "D")`, kind: 'duration', isText: true }
        return hours
          ? { text: `("PT" + string(${this.of(hours).text}) + "H")`, kind: 'duration', isText: true }
          : literal('PT0S')
      }
      case 'max':
      case 'min': {
        const isTime = given.some(({ kind }) => kind === 'time')
        const texts = given.map(({ text, kind }) => (isTime && kind !== 'time' ? `time(${text})` : text))
        return folded({ text: `${name}(${texts.join(', ')})`, ...(isTime && { kind: 'time' }) })
      }
      case 'len':
        return { text: `size(${first?.text})` }
      case 'int':
      case 'float':
        return { text: `number(${first?.text})` }
      case 'str':
        return { text: `string(${first?.text})`, isText: true }
      default:
    }
    return wrong(`The function ${name} cannot be carried.`)
  }

  #method(name: string, of: JinjaNode, node: Extract<JinjaNode, { op: 'call' }>): Translated {
    const { args } = node
    if (name === 'get') {
      const path = this.#path(node)
      const known = path && this.#naming(path.root, path.keys)
      if (known) return known
      const [key, other] = args
      if (!key) return wrong('get needs a key.')
      const found = this.#get({ op: 'get', of, key })
      if (!other || isNothing(other)) return found
      return folded({ text: `coalesce(${found.text}, ${this.of(other).text})` })
    }
    const self = this.of(of)
    const [first, second] = args.map((arg) => this.of(arg))
    switch (name) {
      case 'strftime':
        return formatted(self, first ?? literal('%Y-%m-%d'))
      case 'isoformat':
        return { text: self.text, kind: 'time', isText: true }
      case 'timestamp':
        return { text: `seconds(${self.text})` }
      case 'date':
        return { text: `formatTime(${self.text}, "yyyy-MM-dd")`, kind: 'time', isText: true }
      case 'lower':
      case 'upper':
        return { text: `${name}(${self.text})`, isText: true }
      case 'strip':
        if (first) break
        return { text: `trim(${self.text})`, isText: true }
      case 'rstrip':
      case 'lstrip': {
        const constant = constantOf(self)?.value
        if (typeof constant !== 'string') break
        const strip = String((first && constantOf(first)?.value) ?? ' ')
        return literal(stripped(constant, strip, name === 'rstrip'))
      }
      case 'split':
        if (!first) break
        return { text: `split(${self.text}, ${first.text})` }
      case 'replace':
        if (!first || !second) break
        return folded({ text: `replace(${self.text}, ${first.text}, ${second.text})`, isText: true })
      case 'startswith':
        return { text: `startsWith(${self.text}, ${first?.text})` }
      case 'endswith':
        return { text: `endsWith(${self.text}, ${first?.text})` }
      case 'join':
        return { text: `join(${first?.text}, ${self.text})`, isText: true }
      case 'keys':
        return { text: `keys(${self.text})` }
      default:
    }
    return wrong(`The method ${name} cannot be carried.`)
  }

  #filter({ name, of, args, named }: Extract<JinjaNode, { op: 'filter' }>): Translated {
    const self = this.of(of)
    const [first, second] = args.map((arg) => this.of(arg))
    switch (name) {
      case 'string':
        return folded({ text: `string(${self.text})`, isText: true })
      case 'tojson':
        return folded({ text: `json(${self.text})`, isText: true })
      case 'int':
      case 'float':
        return folded({ text: name === 'int' ? `floor(number(${self.text}))` : `number(${self.text})` })
      case 'lower':
      case 'upper':
      case 'trim':
        return folded({ text: `${name}(${self.text})`, isText: true })
      case 'length':
      case 'count':
        return { text: `size(${self.text})` }
      case 'first':
        return { text: `${self.text}[0]` }
      case 'last':
        return { text: `${self.text}[-1]` }
      case 'list':
      case 'safe':
        return self
      case 'abs':
      case 'round':
        return { text: `${name}(${[self, first].flatMap((one) => one?.text ?? []).join(', ')})` }
      case 'replace':
        if (!first || !second) break
        return folded({ text: `replace(${self.text}, ${first.text}, ${second.text})`, isText: true })
      case 'join':
        return folded({ text: `join(${self.text}, ${first?.text ?? '""'})`, isText: true })
      case 'default':
      case 'd':
        return folded({ text: `${second ? 'either' : 'coalesce'}(${self.text}, ${first?.text ?? '""'})` })
      case 'base64encode':
        return { text: `base64(${self.text})`, isText: true }
      case 'hash': {
        const algorithm = first ? constantOf(first)?.value : 'md5'
        if (algorithm !== 'md5' && algorithm !== 'sha256') break
        return { text: `${algorithm}(${self.text})`, isText: true }
      }
      case 'map': {
        const attribute = named.attribute && constantOf(this.of(named.attribute))?.value
        if (typeof attribute !== 'string') break
        return { text: `${self.text}.map(item, ${accessTo({ text: 'item' }, literal(attribute)).text})` }
      }
      case 'max':
      case 'min':
        return { text: `${name}(${self.text})` }
      case 'selectattr': {
        const [attribute, test] = [first, second].map((one) => one && constantOf(one)?.value)
        const third = args[2]
        if (typeof attribute !== 'string' || !third || !/^(equalto|eq|==)$/.test(String(test))) break
        return {
          text: `${self.text}.filter(item, ${accessTo({ text: 'item' }, literal(attribute)).text} == ${this.of(third).text})`,
        }
      }
      case 'regex_search': {
        const pattern = first && constantOf(first)?.value
        // A value behind a text, which ends with the parameter of an address.
        const [, before] =
          /^(?:\[?[?&]+\]?)?((?:[\w=-]|\\[$?.&])+)\((?:\\d|\[[^\]&]*\]|\[\^&\]|\w)[+*]\)$/.exec(String(pattern)) ?? []
        if (before === undefined) break
        return {
          text: `split(split(${self.text}, ${JSON.stringify(before.replaceAll('\\', ''))})[1], "&")[0]`,
          isText: true,
        }
      }
      default:
    }
    return wrong(`The filter ${name} cannot be carried.`)
  }

  #test({ name, of, args }: Extract<JinjaNode, { op: 'test' }>): Translated {
    const self = this.of(of)
    switch (name) {
      case 'none':
      case 'None':
      case 'undefined':
        return folded({ text: `(${self.text} == null)` })
      case 'defined':
        return folded({ text: `(${self.text} != null)` })
      case 'true':
      case 'True':
        return folded({ text: `(${self.text} == true)` })
      case 'false':
      case 'False':
        return folded({ text: `(${self.text} == false)` })
      case 'sameas':
        if (!args[0]) break
        return folded({ text: `(${self.text} == ${this.of(args[0]).text})` })
      default:
    }
    return wrong(`The test ${name} cannot be carried.`)
  }

  #binary({ sign, left, right }: Extract<JinjaNode, { op: 'binary' }>): Translated {
    if (sign === 'or' || sign === 'and') return this.#logical(sign, left, right)
    const [a, b] = [this.of(left), this.of(right)]
    if (sign === '+' || sign === '-') {
      if (b.kind === 'duration' && a.kind !== 'duration') {
        const of = a.kind === 'time' ? a.text : `time(${a.text})`
        const by = sign === '+' ? b.text : `"-" + ${b.text}`
        return { text: `addTime(${of}, ${foldedWithin({ text: `(${by})` }).text})`, kind: 'time' }
      }
      if (a.kind === 'time' || b.kind === 'time') return wrong('A difference of times cannot be carried.')
    }
    if (sign === '~') return folded({ text: `(string(${a.text}) + string(${b.text}))`, isText: true })
    if (sign === '//') return folded({ text: `floor(${a.text} / ${b.text})` })
    const isText = sign === '+' && (a.isText || b.isText)
    return folded({ text: `(${a.text} ${sign} ${b.text})`, ...(isText && { isText }) })
  }

  #logical(sign: 'or' | 'and', left: JinjaNode, right: JinjaNode): Translated {
    const a = this.of(left)
    const constant = constantOf(a)
    if (constant) return isTrue(constant.value) === (sign === 'or') ? a : this.of(right)
    const b = this.of(right)
    if (sign === 'or')
      return { text: `either(${a.text}, ${b.text})`, ...(a.kind === b.kind && a.kind && { kind: a.kind }) }
    return { text: `(${a.text} && ${b.text})` }
  }

  #choice(node: Extract<JinjaNode, { op: 'choice' }>): Translated {
    const condition = this.of(node.if)
    const constant = constantOf(condition)
    if (constant) return this.of(isTrue(constant.value) ? node.yes : node.no)
    const [then, other] = [this.of(node.yes), this.of(node.no)]
    return {
      text: `(${condition.text} ? ${then.text} : ${other.text})`,
      ...(then.kind === other.kind && then.kind && { kind: then.kind }),
      ...(then.isText && other.isText && { isText: true }),
    }
  }
}

const isMethod = (node: JinjaNode, name: string): node is Extract<JinjaNode, { op: 'get' }> =>
  node.op === 'get' && node.key.op === 'constant' && node.key.value === name

/** Whether a default changes nothing: null, and empty values. */
const isNothing = (node: JinjaNode): boolean =>
  (node.op === 'constant' && (node.value === null || node.value === '')) ||
  (node.op === 'map' && node.entries.length === 0) ||
  (node.op === 'list' && node.items.length === 0)
