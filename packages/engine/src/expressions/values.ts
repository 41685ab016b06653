/**
 * Values of an expression: the cells of a row, and lists. A cell that is null is the empty text, because both are missing values
 * for a mapping.
 */
export type Value = string | number | boolean | readonly Value[]

/** The kind of a value, as far as it is known without a row. `any` is a cell. A number and a condition can be empty, too. */
export type ValueKind = 'text' | 'number' | 'condition' | 'list' | 'any'

/** An expression that is not valid, or that has no value for a row. The message contains no value of a row. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError'
  /** Index in the text of the expression, from 0. */
  readonly at: number

  constructor(message: string, at: number) {
    super(message)
    this.at = at
  }
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
  /** Characters of a text that it makes. */
  textLength: 100_000,
  /** Steps of one evaluation for one row: a call, an item of a list, and 16 characters of a text are one each. */
  steps: 20_000,
} as const

/** Steps that are left of the evaluation that runs. Evaluations are synchronous, so there is one at a time. */
let left = 0
/** The key of keyed hashes of that evaluation. */
let hashKey: string | undefined

/** Begins an evaluation. @param key of keyed hashes */
export const begin = (key: string | undefined): void => {
  left = expressionLimits.steps
  hashKey = key
}

/** The key of keyed hashes. It was checked before that there is one. */
export const keyOfHashes = (): string => hashKey ?? ''

/** Takes steps. Throws an `ExpressionError` if none are left. @param at index in the text, for the error */
export function spend(steps: number, at: number): void {
  left -= steps
  if (left < 0) throw new ExpressionError('takes too many steps for one row: shorten it', at)
}

/** Takes the steps of a text that is made, and refuses one that is too long. */
export function made(text: string, at: number): string {
  if (text.length > expressionLimits.textLength) {
    throw new ExpressionError(`makes a text of more than ${expressionLimits.textLength} characters`, at)
  }
  spend(1 + (text.length >> 4), at)
  return text
}

const kindNames: Readonly<Record<ValueKind, string>> = {
  text: 'a text',
  number: 'a number',
  condition: 'a condition',
  list: 'a list',
  any: 'a value',
}

/** A kind in a sentence. */
export const nameOfKind = (kind: ValueKind): string => kindNames[kind]

/** The kind of a value that is not empty. */
export function kindOfValue(value: Value): Exclude<ValueKind, 'any'> {
  if (typeof value === 'string') return 'text'
  if (typeof value === 'number') return 'number'
  return typeof value === 'boolean' ? 'condition' : 'list'
}

/** How a value of any other kind becomes one of this kind; nothing if it does not. */
export const conversions: Readonly<Record<ValueKind, string>> = {
  text: ': write string(…)',
  number: ': write number(…)',
  condition: ': compare it, or write bool(…)',
  list: ': write split(…)',
  any: '',
}

/** A number with the 15 digits that are exact in any of them, as spreadsheets show it. */
export const shownNumber = (of: number): number => (Number.isSafeInteger(of) ? of : Number(of.toPrecision(15)))
