/** A value of a column, and the values of a record in the order of the columns. */
export type Cell = string | number | boolean | null
export type Row = readonly Cell[]

/**
 * A value while an expression runs. In mappings: a text, a number, a condition or a list, and the empty text for no value. In
 * definitions: any JSON value, or the headers of a response, and null for no value.
 */
export type Value = string | number | boolean | null | undefined | object

/**
 * The kind of a value, if it is known without a row. `any` is a cell, or any JSON value. A number and a condition can be empty,
 * too. Arguments can also be a `time`, which is a text in mappings, or have an `order`, as numbers and texts have.
 */
export type ValueKind = 'text' | 'number' | 'condition' | 'list' | 'table' | 'time' | 'order' | 'any'

/** A part of the text of an expression: an index from 0, and a number of characters, both in UTF-16 code units. */
export type Place = { readonly at: number; readonly length: number }

/** A text to write at a place instead, which removes the error. */
export type Fix = Place & { readonly text: string }

type ErrorOptions = {
  /** A sentence that suggests another name, after a space. */
  readonly hint?: string
  readonly fix?: Fix | undefined
  /** Whether the message names its subject, such as a column. Otherwise, the subject is the expression. */
  readonly hasSubject?: boolean
}

/** An expression that is not valid, or that has no value. The message contains no value of a row. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError'
  readonly place: Place
  /** A sentence that suggests another name, after a space; empty if no name is similar. */
  readonly hint: string
  readonly fix: Fix | undefined
  readonly #hasSubject: boolean

  constructor(message: string, { at, length }: Place, { hint = '', fix, hasSubject = false }: ErrorOptions = {}) {
    super(message)
    this.place = { at, length }
    this.hint = hint
    this.fix = fix
    this.#hasSubject = hasSubject
  }

  /** The message as a sentence for people who see the place marked. */
  get sentence(): string {
    const { message, hint } = this
    return `${this.#hasSubject ? message : `The expression ${message}`}.${hint}`
  }
}

/** The place of an error in an expression, a sentence about it, and the corrected text if only one text corrects it. */
export type Problem = Place & { readonly message: string; readonly fix?: Fix }

/** The problem that an error is about. */
export function problemOf(error: unknown): Problem {
  const { place, sentence, fix } = asExpressionError(error)
  return { ...place, message: sentence, ...(fix && { fix }) }
}

/** Why an expression has no value, with the place, as a phrase that follows its name. */
export function reasonOf(error: unknown): string {
  const { message, place, hint } = asExpressionError(error)
  return `${message}, at character ${place.at + 1}${hint && `.${hint}`}`
}

/** The beginning of a text, for errors of the whole text. */
const beginning: Place = { at: 0, length: 1 }

/** JavaScript throws its own errors for a stack or a text that is too large. */
export function asExpressionError(error: unknown): ExpressionError {
  if (error instanceof ExpressionError) return error
  if (error instanceof RangeError) return new ExpressionError('needs too much memory', beginning)
  throw error
}

/** Bounds of an expression. */
export const expressionLimits = {
  /** Characters of its text. */
  length: 4_000,
  /** Operators, functions and values in its text. */
  nodes: 1_000,
  /** How deep they are nested. */
  depth: 100,
  /** Items of a list. */
  items: 1_000,
  /** Maximum characters of a text that it creates. */
  textLength: 100_000,
  /** Steps of one evaluation: a call, an item of a list, and 16 characters of a text are one each. */
  steps: 20_000,
} as const

/** Values that the caller passes: the key of keyed hashes, and the time of `now()` in milliseconds since 1970. */
export type Evaluation = { readonly hashKey?: string | undefined; readonly nowMs?: number }

// Evaluations are synchronous, so only one runs at a time.
let left = 0
let current: Evaluation = {}

/** Begins an evaluation. */
export const begin = (evaluation: Evaluation): void => {
  left = expressionLimits.steps
  current = evaluation
}

/** The values of the current evaluation. The compiler checked that there is a key if it is needed. */
export const evaluationNow = (): Evaluation => current

/** Uses up steps. Throws an `ExpressionError` if no steps are left. @param place for the error */
export function spend(steps: number, place: Place): void {
  left -= steps
  if (left < 0) throw new ExpressionError('takes too many steps: shorten it', place)
}

/** Uses up the steps of a created text, and refuses a text that is too long. */
export function made(text: string, place: Place): string {
  checkLength(text.length, place)
  spend(1 + (text.length >> 4), place)
  return text
}

/** Throws an `ExpressionError` for a text that would have too many characters. */
export function checkLength(length: number, place: Place): void {
  if (length <= expressionLimits.textLength) return
  throw new ExpressionError(`makes a text of more than ${expressionLimits.textLength} characters`, place)
}

const kindNames: Readonly<Record<ValueKind, string>> = {
  text: 'a text',
  number: 'a number',
  condition: 'a condition',
  list: 'a list',
  table: 'a table',
  time: 'a text',
  order: 'a number',
  any: 'a value',
}

/** A kind in a sentence. */
export const nameOfKind = (kind: ValueKind): string => kindNames[kind]

/** The kind of a value that is not empty. */
export function kindOfValue(value: Value): ValueKind {
  if (typeof value === 'string') return 'text'
  if (typeof value === 'number') return 'number'
  return typeof value === 'boolean' ? 'condition' : 'list'
}

/** How a value of any other kind is converted to this kind; empty if it cannot be converted. */
export const conversions: Readonly<Record<ValueKind, string>> = {
  text: ': write string(…)',
  number: ': write number(…)',
  condition: ': compare it, or write bool(…)',
  list: ': write split(…)',
  table: '',
  time: ': write string(…)',
  order: ': write number(…)',
  any: '',
}

/** Whether a value is nothing, or the empty text. */
export const isEmpty = (value: unknown): value is '' | null | undefined =>
  value === '' || value === null || value === undefined

/** Whether a value is an object of keys and values: no list, and no headers. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a value is true: not nothing, false, 0, or an empty text, list or object. */
export function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (!isObject(value)) return Boolean(value)
  for (const key in value) if (Object.hasOwn(value, key)) return true
  return false
}

/** A number with the 15 digits that are exact in any of them, as spreadsheets show it. */
export const shownNumber = (of: number): number => (Number.isSafeInteger(of) ? of : Number(of.toPrecision(15)))
