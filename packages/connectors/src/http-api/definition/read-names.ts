import { ExpressionError, type NamePath, namesIn, reasonOf } from '@penstock/expressions/json'
import { didYouMean } from '@penstock/wire/rules'
import { isObject } from '../../platform-api/json.ts'
import { answerNames, type Partitions, templateNames } from './definition.ts'
import type { Part, Path } from './read-part.ts'
import { expressionsIn, partsOf } from './template.ts'

/** The names that the expressions of a stream can have. */
export type KnownNames = {
  readonly cursor: boolean
  readonly partitions: readonly Partitions[] | undefined
  readonly pages: boolean
  /** Whether the expressions are about an answer, or a record. */
  readonly of?: 'answer' | 'record'
}

/** The names that the expressions of an operation can have, each with the keys that it has if these are known. */
export type OperationNames = ReadonlyMap<string, readonly string[] | undefined>

/** Notes what is wrong with the templates of a value: with its texts, and those of what it contains. */
export function checkTemplates(part: Part, at: Path, value: unknown, known: KnownNames | OperationNames): void {
  if (isObject(value)) {
    for (const [key, one] of Object.entries(value)) checkTemplates(part, [...at, key], one, known)
  } else if (Array.isArray(value)) {
    value.forEach((one, index) => {
      checkTemplates(part, [...at, index], one, known)
    })
  } else if (typeof value === 'string') {
    if (!partsOf(value)) part.wrong('Two braces begin or end a name, such as {{ cursor.start }}.', ...at)
    for (const expression of expressionsIn(value)) checkExpression(part, at, expression, known)
  }
}

/** Notes what is wrong with an expression: its form, a function, or a name. */
export function checkExpression(part: Part, at: Path, text: string, known: KnownNames | OperationNames): void {
  try {
    const wrong = namesIn(text)
      .map((name) => (known instanceof Map ? wrongOperationName(name, known) : wrongName(name, known as KnownNames)))
      .find((one) => one !== undefined)
    if (wrong !== undefined) part.wrong(wrong, ...at)
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    part.wrong(`The expression ${reasonOf(error)}${error.hint ? '' : '.'}`, ...at)
  }
}

function wrongName(name: NamePath, { cursor, partitions, pages, of }: KnownNames): string | undefined {
  const [root, key] = name
  const shown = name.slice(0, 2).join('.')
  const of2 = partitions?.flatMap((one) => one.name ?? []) ?? []
  switch (root) {
    case 'cursor':
      if (key !== 'start' && key !== 'end') return unknownName(shown, templateNames)
      return cursor ? undefined : `{{ ${shown} }} needs a stream with a cursor.`
    case 'partition':
    case 'parent':
      if (!partitions) return `{{ ${root} }} needs a stream with partitions.`
      if (of2.length === 0 || (key !== undefined && of2.includes(key))) return undefined
      return unknownName(
        shown,
        of2.map((one) => `${root}.${one}`),
      )
    case 'page':
      return pages ? undefined : '{{ page }} needs a stream with pages.'
    case 'record':
      return of === 'record' ? undefined : 'record is known in changes alone.'
    default:
      if (of === 'answer' && answerNames.some((one) => one === root)) return undefined
      return unknownName(shown, templateNames)
  }
}

function wrongOperationName([root, key]: NamePath, known: OperationNames): string | undefined {
  const keys = known.get(String(root))
  if (!known.has(String(root))) return unknownName(String(root), [...known.keys()])
  if (keys === undefined || key === undefined || keys.includes(String(key))) return undefined
  return unknownName(
    `${root}.${key}`,
    keys.slice(0, 50).map((one) => `${root}.${one}`),
  )
}

const unknownName = (name: string, known: readonly string[]): string =>
  `{{ ${name} }} is not known.${didYouMean(name, known) || ` Known are: ${known.join(', ')}.`}`
