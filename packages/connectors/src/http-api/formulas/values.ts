import { isObject } from '../../platform-api/json.ts'

/** An expression that is not valid, or needs too much. The message is a phrase that follows `The expression`, without values. */
export class FormulaError extends Error {
  override readonly name = 'FormulaError'
}

/** Bounds of an expression, as of those in mappings. */
export const formulaLimits = {
  /** Characters of its text. */
  length: 4_000,
  /** Operators, functions and values in its text, and how deep they are nested. */
  nodes: 1_000,
  depth: 100,
  /** Items of a list. */
  items: 1_000,
  /** Characters of a text that it makes. */
  textLength: 100_000,
  /** Steps of one evaluation: a call, an item of a list, and 16 characters of a text are one each. */
  steps: 20_000,
} as const

/** The steps that are left of one evaluation. */
export class Budget {
  #left: number = formulaLimits.steps

  /** Throws `FormulaError` if none are left. */
  spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new FormulaError('takes too many steps')
  }

  /** Takes the steps of a text. Throws `FormulaError` if it is too long. */
  made(text: string): string {
    if (text.length > formulaLimits.textLength) throw new FormulaError('makes a text that is too long')
    this.spend(1 + (text.length >> 4))
    return text
  }
}

/** Functions that an expression can call; the evaluator has their code. */
export const callable: ReadonlySet<string> = new Set([
  ...['lower', 'upper', 'trim', 'contains', 'startsWith', 'endsWith', 'replace', 'substring', 'split', 'join'],
  ...['size', 'has', 'coalesce', 'either', 'string', 'bool', 'number', 'round', 'floor', 'ceil', 'abs', 'min', 'max'],
  ...['now', 'time', 'addTime', 'formatTime', 'seconds', 'milliseconds', 'json', 'keys', 'base64', 'sha256', 'md5'],
  ...['map', 'filter', 'exists'],
])

/** Whether a value is null or the empty text. */
export const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === ''

/** Whether a value holds as a condition: not null, false, 0, or an empty text, list or object. */
export function holds(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (!isObject(value)) return Boolean(value)
  for (const key in value) if (Object.hasOwn(value, key)) return true
  return false
}

/** A value as text: an object as JSON, null as the empty text. Throws `FormulaError` if it is too long. */
export function textOf(value: unknown): string {
  if (isEmpty(value)) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  if (text.length > formulaLimits.textLength) throw new FormulaError('makes a text that is too long')
  return text
}
