import { didYouMean } from '@penstock/wire'
import { Ajv, type ErrorObject } from 'ajv'
import { isMap, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml'
import type { SourceFile } from './find-files.ts'
import type { Position, Problem } from './problems.ts'
import { configurationSchema } from './schema.ts'

/** A file that matches the schema; `at` finds the position of a part of it. */
export type ReadDocument = {
  readonly content: FileContent
  readonly at: (path: readonly (string | number)[]) => Position
}

/** A file as the schema describes it. It and its sub-accounts also have a list of entries for each kind. */
export type FileContent = { readonly accounts?: readonly FileAccount[] }
export type FileAccount = { name: string; was?: string[]; id?: string; enabled?: boolean }

/** Maximum problems of a file that are located: locating a problem requires searching its surroundings. */
const problemsOfFileMax = 200

/** Maximum uses of anchors in a file; nested uses are multiplied. */
const aliasesMax = 100

const yamlOptions = {
  version: '1.2',
  schema: 'core',
  merge: false,
  // Compared below: with a list of all keys, each new one would be compared with all before it.
  uniqueKeys: false,
  strict: true,
  stringKeys: true,
  prettyErrors: false,
} as const

/** Reads a file: YAML 1.2 with its core types, no tags of other kinds, no repeated keys. */
export function readYaml({ path: file, text }: SourceFile): { document?: ReadDocument; problems: Problem[] } {
  const counter = new LineCounter()
  const position = (offset: number): Position => {
    const { line, col } = counter.linePos(offset)
    return { file, line: Math.max(1, line), column: Math.max(1, col) }
  }
  const options = { ...yamlOptions, lineCounter: counter }
  let content: unknown
  let document: ReturnType<typeof parseDocument>
  try {
    document = parseDocument(text, options)
    const wrong = [...document.errors, ...document.warnings].map((error) => ({
      message: sayError(error),
      start: error.pos[0],
    }))
    const tooDeepAt = wrong.find(({ message }) => message === tooDeep)
    const found = tooDeepAt ? [tooDeepAt] : wrong.length > 0 ? wrong : repeatedKeys(document)
    const problems = found.slice(0, problemsOfFileMax)
    if (problems.length > 0)
      return { problems: problems.map(({ message, start }) => ({ message, at: position(start) })) }
    content = document.toJS({ maxAliasCount: aliasesMax })
  } catch (error) {
    return { problems: [{ message: notRead(error), at: position(0) }] }
  }
  const at = (path: readonly (string | number)[]): Position => {
    for (let length = path.length; length > 0; length--) {
      const node = document.getIn(path.slice(0, length), true)
      if (isNode(node) && node.range) return position(node.range[0])
    }
    return position(document.contents?.range?.[0] ?? 0)
  }
  if (validate(content)) return { document: { content: content as FileContent, at }, problems: [] }
  return { problems: problemsOf((validate.errors ?? []).slice(0, problemsOfFileMax), content, at) }
}

function repeatedKeys(document: Parameters<typeof visit>[0]): { message: string; start: number }[] {
  const repeated: { message: string; start: number }[] = []
  visit(document, {
    Map: (_, map) => {
      const keys = new Set<unknown>()
      for (const { key } of isMap(map) ? map.items : []) {
        if (!isScalar(key)) continue
        if (keys.has(key.value)) repeated.push({ message: 'Map keys must be unique', start: key.range?.[0] ?? 0 })
        keys.add(key.value)
      }
    },
  })
  return repeated
}

/** Describes an error in the YAML for people who write files. */
function sayError({ code, message }: { code: string; message: string }): string {
  if (code === 'MULTIPLE_DOCS') return 'The file contains several documents. Write each document to a separate file.'
  if (code === 'RESOURCE_EXHAUSTION') return tooDeep
  return firstLine(message)
}
const tooDeep = 'The file is nested too deeply.'

const firstLine = (message: string) => message.split('\n')[0] ?? message

function notRead(error: unknown): string {
  if (error instanceof RangeError) return tooDeep
  if (error instanceof ReferenceError)
    return `The file uses its anchors more than ${aliasesMax} times. Write out the values.`
  throw error
}

const validate = new Ajv({ allErrors: true, allowUnionTypes: true, verbose: true }).compile(configurationSchema)

/** One problem for each place. If a value can match several schemas, the message names what they allow. */
function problemsOf(
  errors: readonly ErrorObject[],
  content: unknown,
  at: (path: readonly (string | number)[]) => Position,
): Problem[] {
  const seen = new Set<string>()
  return errors.flatMap((error) => {
    const path = pathOf(error.instancePath, content)
    const extra = error.keyword === 'additionalProperties' ? [String(error.params.additionalProperty)] : []
    const key = JSON.stringify([...path, ...extra, error.keyword === 'required' ? error.params.missingProperty : ''])
    if (seen.has(key)) return []
    seen.add(key)
    const name = [...path, ...extra].join('.') || 'The file'
    return [{ message: `${name} ${messageOf(error)}`, at: at([...path, ...extra]) }]
  })
}

/** The path of a JSON pointer. Indexes of arrays are numbers. */
function pathOf(pointer: string, content: unknown): (string | number)[] {
  let inside = content
  return pointer
    .split('/')
    .slice(1)
    .map((part) => {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
      const step = Array.isArray(inside) ? Number(key) : key
      inside = (inside as Record<string | number, unknown> | undefined)?.[step]
      return step
    })
}

function messageOf({ keyword, params, schemaPath, parentSchema, message }: ErrorObject): string {
  if (keyword === 'additionalProperties') {
    if (/(settings|secrets)/.test(schemaPath)) return 'is not a valid field key: use only letters, digits and _'
    const known = Object.keys((parentSchema as { properties?: object } | undefined)?.properties ?? {})
    return `is an unknown key: remove it, or correct its name.${didYouMean(params.additionalProperty, known)}`
  }
  if (keyword === 'required') return `needs ${params.missingProperty}: add it`
  if (schemaPath.includes('anyOf')) return 'must be text, a number, true, false, null or a list of texts'
  if (keyword === 'const') return 'must be 1: this is the version of the format that this version of Penstock reads'
  if (keyword === 'enum') return `must be one of: ${(params.allowedValues as string[]).join(', ')}`
  if (keyword === 'type') return `must be ${[params.type].flat().map(typeName).join(' or ')}`
  if (keyword === 'pattern') return 'does not have the form that the schema requires'
  return message ?? 'does not match the schema'
}

const typeName = (type: string) =>
  ({ string: 'text', object: 'a map', array: 'a list', boolean: 'true or false', number: 'a number', null: 'null' })[
    type
  ] ?? type
