import { createHash } from 'node:crypto'
import { isObject } from '../../platform-api/json.ts'
import { durationMs, formatMs, isoOf, timeMs } from './times.ts'
import { type Budget, FormulaError, formulaLimits, holds, isEmpty, textOf } from './values.ts'

type Args = readonly unknown[]
type Run = (args: Args, budget: Budget, nowMs: number) => unknown

const ofText =
  (run: (text: string) => unknown): Run =>
  ([of], budget) =>
    run(budget.made(textOf(of)))

const ofNumber =
  (run: (of: number) => number): Run =>
  ([of, digits]) => {
    const number = numberOf(of)
    if (number === undefined) return null
    const scale = 10 ** Math.min(12, Math.max(0, Math.trunc(numberOf(digits) ?? 0)))
    return run(number * scale) / scale
  }

const ofTime =
  (run: (ms: number, args: Args) => unknown): Run =>
  (args, budget) => {
    budget.spend(8)
    const ms = timeMs(args[0])
    return ms === undefined ? null : run(ms, args)
  }

/** A number, or the number that a text is. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

const extreme =
  (isBefore: (a: unknown, b: unknown) => boolean): Run =>
  (args, budget) => {
    const all: Args = args.length === 1 && Array.isArray(args[0]) ? args[0] : args
    budget.spend(all.length)
    const given = all.filter((one) => !isEmpty(one))
    return (
      given.reduce((best: unknown, one) => (best === undefined || isBefore(one, best) ? one : best), undefined) ?? null
    )
  }

/** The order of two numbers or texts; `NaN` if they have none. */
export function order(a: unknown, b: unknown): number {
  const [left, right] = [numberOf(a), numberOf(b)]
  if (left !== undefined && right !== undefined) return left - right
  return typeof a === 'string' && typeof b === 'string' ? (a < b ? -1 : a > b ? 1 : 0) : Number.NaN
}

function replace([of, from, to]: Args, budget: Budget): string {
  const [text, part, by] = [textOf(of), textOf(from), textOf(to)]
  if (part === '') return text
  const parts = text.split(part, formulaLimits.steps / 10)
  if (text.length + parts.length * by.length > formulaLimits.textLength)
    throw new FormulaError('makes a text that is too long')
  budget.spend(parts.length)
  return budget.made(parts.join(by))
}

function join([list, separator]: Args, budget: Budget): string {
  const items = Array.isArray(list) ? list : []
  let length = 0
  for (const one of items) {
    budget.spend(1)
    length += (typeof one === 'string' ? one.length : 100) + textOf(separator).length
    if (length > formulaLimits.textLength) throw new FormulaError('makes a text that is too long')
  }
  return budget.made(items.map(textOf).join(textOf(separator)))
}

const digest =
  (algorithm: string): Run =>
  ([of], budget) =>
    createHash(algorithm)
      .update(budget.made(textOf(of)))
      .digest('hex')

/** The functions of expressions, without `map`, `filter` and `exists`. A value that cannot be made is null. */
export const formulaFunctions: Readonly<Record<string, Run>> = {
  __proto__: null as never,
  lower: ofText((text) => text.toLowerCase()),
  upper: ofText((text) => text.toUpperCase()),
  trim: ofText((text) => text.trim()),
  contains: ([of, part], budget) => budget.made(textOf(of)).includes(textOf(part)),
  startsWith: ([of, part], budget) => budget.made(textOf(of)).startsWith(textOf(part)),
  endsWith: ([of, part], budget) => budget.made(textOf(of)).endsWith(textOf(part)),
  replace,
  substring: ([of, from, until], budget) => {
    const text = budget.made(textOf(of))
    return text.slice(numberOf(from) ?? 0, numberOf(until))
  },
  split: ([of, separator], budget) => {
    const parts = budget.made(textOf(of)).split(textOf(separator), formulaLimits.items)
    budget.spend(parts.length)
    return parts
  },
  join,
  size: ([of], budget) => {
    if (Array.isArray(of)) return of.length
    const count = isObject(of) ? Object.keys(of).length : [...textOf(of)].length
    budget.spend(count >> 4)
    return count
  },
  has: ([of]) => !isEmpty(of),
  coalesce: (args) => args.find((one) => !isEmpty(one)) ?? null,
  either: (args) => args.find(holds) ?? args.at(-1) ?? null,
  string: ofText((text) => text),
  bool: ([of]) => (typeof of === 'string' ? /^(true|t|yes|y|1|on)$/i.test(of.trim()) : holds(of)),
  number: ([of]) => (typeof of === 'boolean' ? Number(of) : (numberOf(of) ?? null)),
  round: ofNumber((of) => Math.sign(of) * Math.round(Math.abs(of))),
  floor: ofNumber(Math.floor),
  ceil: ofNumber(Math.ceil),
  abs: ofNumber(Math.abs),
  min: extreme((a, b) => order(a, b) < 0),
  max: extreme((a, b) => order(a, b) > 0),
  now: (_args, _budget, nowMs) => isoOf(Math.floor(nowMs / 1000) * 1000),
  time: ofTime(isoOf),
  addTime: ofTime((ms, [, duration]) => {
    const added = durationMs(textOf(duration))
    const sum = ms + (added ?? 0)
    return added === undefined || Math.abs(sum) > 8.64e15 ? null : isoOf(sum)
  }),
  formatTime: ofTime((ms, [, form]) => formatMs(ms, textOf(form).slice(0, 200))),
  seconds: ofTime((ms) => Math.floor(ms / 1000)),
  milliseconds: ofTime((ms) => ms),
  json: ([of], budget) => budget.made(JSON.stringify(of ?? null)),
  keys: ([of], budget) => {
    const keys = isObject(of) ? Object.keys(of) : []
    budget.spend(keys.length)
    return keys
  },
  base64: ofText((text) => Buffer.from(text).toString('base64')),
  sha256: digest('sha256'),
  md5: digest('md5'),
}
