import { textOfJson } from '@penstock/expressions/json'
import { isObject } from '../../platform-api/json.ts'
import type { ImportConfig } from './config.ts'
import { JinjaError, type JinjaNode, parseTemplate } from './jinja.ts'
import { translate } from './translate.ts'
import { accessTo, constantOf, literal, type Naming, type Translated } from './translated.ts'
import { TranslationError } from './translation-error.ts'

/** A secret that a request has outside of its authenticator. */
export type SecretUse = {
  readonly in: 'query' | 'header'
  readonly name: string
  readonly prefix: string
  readonly key: string
}

/** A part of a manifest that is not carried: its path, and why. */
export type Finding = { readonly path: string; readonly message: string }

/** Facts that are known while a stream is imported. */
export type Notes = {
  readonly config: ImportConfig
  readonly problems: Finding[]
  /** Parts without which the stream is carried. */
  readonly gaps: Finding[]
  readonly path: string
  /** Expressions of ours by the names of partitions, and of fields of the records that they come from. */
  readonly partitions: Map<string, string>
  readonly parents: Map<string, string>
  /** The names of the times in templates. */
  cursor: { readonly start: string; readonly end: string } | undefined
  readonly secrets: SecretUse[]
}

/** Makes the notes of a part of a manifest. */
export const notesOf = (config: ImportConfig, path: string): Notes => ({
  config,
  problems: [],
  gaps: [],
  path,
  partitions: new Map(),
  parents: new Map(),
  cursor: undefined,
  secrets: [],
})

/** The subject of an expression, which decides the names that it can have. */
export type ExpressionPlace = 'request' | 'address' | 'answer' | 'record' | 'time'

/** Notes a part that cannot be carried, so that the stream is left out. */
export function note(notes: Notes, path: string, message: string): undefined {
  notes.problems.push(findingOf(notes, path, message))
}

/** Notes a part without which the stream is carried. */
export function noteGap(notes: Notes, path: string, message: string): undefined {
  notes.gaps.push(findingOf(notes, path, message))
}

const findingOf = (notes: Notes, path: string, message: string): Finding => ({
  path: [notes.path, path].filter((one) => one !== '').join('.'),
  message,
})

const roots: Readonly<Record<ExpressionPlace, Readonly<Record<string, string>>>> = {
  time: {},
  request: {},
  address: {},
  answer: { response: 'response', last_record: 'last', last_page_size: 'count' },
  record: { record: 'record' },
}

const namingOf =
  (notes: Notes, place: ExpressionPlace): Naming =>
  (root, keys) => {
    if (root === 'config') return configValue(notes, keys)
    // Whether there are times, in a condition.
    if (root === 'stream_interval' && keys.length === 0) return literal(notes.cursor !== undefined)
    if (/^stream_(slice|partition|interval)$/.test(root)) return slice(notes, keys, place)
    if (root === 'next_page_token' && place !== 'time') return keys.length < 2 ? { text: 'page' } : undefined
    if (root === 'headers' && place === 'answer') return headerOf(keys)
    // The state that a source keeps is in its cursor, and a source that was never read has none.
    const own = roots[place][root]
    return own === undefined ? undefined : below(own, keys)
  }

const below = (root: string, keys: readonly (string | number)[]): Translated =>
  keys.reduce<Translated>((of, key) => accessTo(of, literal(key)), { text: root })

function headerOf(keys: readonly (string | number)[]): Translated {
  const [name, relation, rest] = keys.map((key) => String(key).toLowerCase())
  if (name !== 'link') return below('headers', keys)
  if (relation === undefined) return { text: 'links' }
  return rest === undefined || rest === 'url' ? below('links', [relation]) : { text: 'null' }
}

function configValue({ config }: Notes, keys: readonly (string | number)[]): Translated {
  // A key behind a text or a list is an access to that.
  for (let length = keys.length; length > 0; length--) {
    const found = config.at(keys.slice(0, length))
    if ('secret' in found) {
      const name = keys.join('.')
      throw new TranslationError(
        `The secret ${name} is needed outside of the authentication. If it is none, give it: --value ${name}=…`,
      )
    }
    if ('missing' in found && length === keys.length) {
      throw new TranslationError(`It needs a value of the configuration: --value ${found.missing}=…`)
    }
    if ('value' in found && (length === keys.length || (found.value !== null && typeof found.value === 'object'))) {
      const value = keys.slice(length).reduce<unknown>((at, key) => {
        return at !== null && typeof at === 'object' && Object.hasOwn(at, key) ? Reflect.get(at, key) : null
      }, found.value)
      return literal(value)
    }
  }
  if (keys.length === 0) throw new TranslationError('The whole configuration cannot be carried.')
  return literal(null)
}

function slice(notes: Notes, given: readonly (string | number)[], place: ExpressionPlace): Translated | undefined {
  const keys = given.map(String)
  if (keys[0] === 'cursor_slice' || keys[0] === 'partition') keys.shift()
  const [first = '', second = ''] = keys
  if (first === '') return undefined
  if (first === 'extra_fields') {
    const field = notes.parents.get(second)
    return field === undefined ? undefined : below(field, keys.slice(2))
  }
  if (first === 'parent_slice') {
    const parent = notes.parents.get('')
    // Partitions of one kind have no name.
    return parent === undefined ? undefined : parentSlice(notes, parent, keys.slice(1))
  }
  const partition = notes.partitions.get(first)
  if (partition !== undefined) return { text: partition, ...(keys.length === 1 && { isText: true }) }
  if (first === notes.cursor?.start) return { text: 'cursor.start', isText: true }
  if (first === notes.cursor?.end) return { text: 'cursor.end', isText: true }
  // A slice has no other keys, which are then empty, and parameters without a value are left out.
  if (place !== 'address') return literal(null)
  throw new TranslationError(`The partition or the time ${first} is not known.`)
}

function parentSlice(notes: Notes, parent: string, keys: readonly string[]): Translated {
  const [name = ''] = keys
  if (name === 'parent_slice') return parentSlice(notes, `${parent}.parent`, keys.slice(1))
  const path = notes.parents.get(`parent_slice.${name}`)
  return { text: path ?? `${parent}.partition` }
}

function nodeOf(text: unknown): JinjaNode {
  return typeof text === 'string' ? parseTemplate(text) : { op: 'constant', value: (text ?? null) as number | null }
}

function attempt<Result>(notes: Notes, path: string, run: () => Result): Result | undefined {
  try {
    return run()
  } catch (error) {
    if (error instanceof TranslationError || error instanceof JinjaError) return note(notes, path, error.message)
    throw error
  }
}

/** A template of a manifest as an expression of ours; `undefined` after a note if it cannot be carried. */
export const expressionOf = (text: unknown, notes: Notes, path: string, place: ExpressionPlace): string | undefined =>
  attempt(notes, path, () => translate(nodeOf(text), namingOf(notes, place)).text)

/** The value of a template that is known while importing, which is a list, a number or a text; `undefined` after a note. */
export function resultOf(text: unknown, notes: Notes, path: string): unknown {
  if (typeof text !== 'string' || !/\{[{%]/.test(text)) return text
  return attempt(notes, path, () => {
    const constant = constantOf(translate(parseTemplate(text), namingOf(notes, 'time')))
    if (!constant) throw new TranslationError('Only a value that is known before the transfer can be carried.')
    return constant.value
  })
}

/** A template of a manifest as one of ours: values of the configuration are filled in. Notes what cannot be carried. */
export function templateOf(template: unknown, notes: Notes, path: string, place: ExpressionPlace = 'request'): string {
  if (typeof template !== 'string' || !/\{[{%]/.test(template)) return plain(shownOf(template))
  const text = attempt(notes, path, () => {
    const node = parseTemplate(template)
    const parts = node.op === 'join' ? node.parts : [node]
    return parts
      .map((part) => {
        const translated = translate(part, namingOf(notes, place))
        const constant = constantOf(translated)
        return constant ? plain(shownOf(constant.value)) : `{{ ${translated.text} }}`
      })
      .join('')
  })
  return text ?? ''
}

/** A value as Jinja writes it. */
function shownOf(value: unknown): string {
  if (value === true) return 'True'
  if (value === false) return 'False'
  return textOfJson(value)
}

/** A text that has no braces of ours. */
const plain = (text: string): string => (/\{\{|\}\}|\{$|^\}/.test(text) ? `{{ ${JSON.stringify(text)} }}` : text)

/** Texts by name, such as parameters. Empty ones are left out, as the CDK does. Secrets become keys of the connector. */
export function textsOf(
  value: unknown,
  notes: Notes,
  path: string,
  secretIn?: SecretUse['in'],
): Record<string, string> {
  if (value === undefined || value === null || value === '') return {}
  if (!isObject(value)) {
    note(notes, path, 'It is not an object of texts.')
    return {}
  }
  const entries = Object.entries(value).flatMap(([key, one]): [string, string][] => {
    if (typeof one === 'object' && one !== null) note(notes, `${path}.${key}`, 'It is not a text.')
    if (secretIn !== undefined) {
      // A header for the authentication has a secret, whatever the schema says.
      const secret = secretOf(one, notes, secretIn === 'header' && /^authorization$/i.test(key))
      if (secret) {
        notes.secrets.push({ in: secretIn, name: key, ...secret })
        return []
      }
    }
    return [[key, templateOf(one, notes, `${path}.${key}`)]]
  })
  return Object.fromEntries(entries.filter(([, text]) => text !== ''))
}

/** The secret of a template that is one secret, with a word before it. */
export function secretOf(
  template: unknown,
  { config }: Notes,
  isAnySecret = false,
): { readonly key: string; readonly prefix: string } | undefined {
  const [, prefix, inside] = /^([^{}]*)\{\{([^{}]*)\}\}$/.exec(String(template).trim()) ?? []
  if (prefix === undefined || inside === undefined) return undefined
  const keys = configKeys(inside)
  return keys && (isAnySecret || 'secret' in config.at(keys)) ? { key: keys.join('.'), prefix } : undefined
}

/** The keys of an expression that is one value of the configuration. */
function configKeys(expression: string): readonly string[] | undefined {
  const [, rest] = /^\s*config\s*((?:\.\w+(?:\([^()]*\))?|\[\s*['"][^'"]*['"]\s*\])+)\s*$/.exec(expression) ?? []
  if (rest === undefined) return undefined
  const found = rest.matchAll(/\.get\(\s*['"]([^'"]*)['"][^()]*\)|\.(\w+)|\[\s*['"]([^'"]*)['"]\s*\]/g)
  return [...found].map(([, got, dotted, quoted]) => got ?? dotted ?? quoted ?? '')
}

/** A template that becomes a value of the connector, which has no templates. Notes one that is not known while importing. */
export function constantConfig(template: unknown, notes: Notes, path: string): string {
  const text = templateOf(template, notes, path, 'time')
  return text.includes('{{') ? (note(notes, path, 'An address that is calculated cannot be carried.') ?? '') : text
}
