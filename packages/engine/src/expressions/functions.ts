import { createHmac } from 'node:crypto'
import { answerKey } from '../mapping/answers.ts'
import { dateForms, type LocalForm, numberForms } from '../mapping/local-forms.ts'
import { readLocalNumber } from '../mapping/local-numbers.ts'
import { readLocalTime } from '../mapping/local-times.ts'
import { isTimezone } from '../mapping/timezones.ts'
import { formatTime } from './format-time.ts'
import { expressionLimits, keyOfHashes, made, shownNumber, spend, type Value, type ValueKind } from './values.ts'

/** How a call fails: with the reason, to follow the text of its first argument. */
export type CallSite = { readonly at: number; readonly fail: (why: string) => never }

/** A function of expressions. */
export type ExpressionFunction = {
  /** The kinds of its arguments. */
  readonly takes: readonly ValueKind[]
  /** How many of them must be given; all unless said. */
  readonly least?: number
  /** Whether it needs the key of keyed hashes. */
  readonly keyed?: true
  /** Whether the last kind can be repeated. */
  readonly more?: true
  readonly gives: ValueKind
  /** @param args converted to the kinds. An argument of the kind number can be empty. */
  readonly run: (args: readonly Value[], site: CallSite) => Value
  /** Why fixed arguments are not valid: looked at once. @param fixed by index; `undefined` for others */
  readonly refuse?: (fixed: readonly (Value | undefined)[]) => string | undefined
}

type TextArgs = readonly string[]

/** A function of texts that makes a text. */
const ofTexts = (count: number, run: (args: TextArgs) => string): ExpressionFunction => ({
  takes: Array.from({ length: count }, () => 'text' as const),
  gives: 'text',
  run: (args, { at }) => made(run(args as TextArgs), at),
})

/** A function of texts that is a condition. */
const test = (run: (text: string, part: string) => boolean): ExpressionFunction => ({
  takes: ['text', 'text'],
  gives: 'condition',
  run: ([text, part], { at }) => {
    spend(1 + ((text as string).length >> 6), at)
    return run(text as string, part as string)
  },
})

/** A function of one number, which is empty if that is. */
const ofNumber = (run: (of: number, digits: number) => number): ExpressionFunction => ({
  takes: ['number', 'number'],
  least: 1,
  gives: 'number',
  run: ([of, digits = 0], { fail }) => {
    if (of === '') return ''
    const places = digits === '' ? 0 : (digits as number)
    if (!Number.isInteger(places) || places < 0 || places > 12)
      fail('cannot be rounded to so many decimals: take 0 to 12')
    return run(of as number, places)
  },
})

/** Rounds by the decimal digits that a number shows, so that 1.005 becomes 1.01. */
const toPlaces = (round: (of: number) => number) => (of: number, places: number) => {
  const moved = Number(`${shownNumber(of)}e${places}`)
  return Number.isNaN(moved) ? of : Number(`${round(moved)}e-${places}`)
}

/** The least or the greatest of the numbers that are not empty. */
const extreme = (choose: (...of: number[]) => number): ExpressionFunction => ({
  takes: ['number'],
  more: true,
  gives: 'number',
  run: (args) => {
    const given = args.filter((one) => one !== '') as number[]
    return given.length === 0 ? '' : choose(...given)
  },
})

const yes: ReadonlySet<string> = new Set(['true', 't', 'yes', 'y', '1', 'on'])
const no: ReadonlySet<string> = new Set(['false', 'f', 'no', 'n', '0', 'off'])

function numberOf([value, form]: readonly Value[], { fail }: CallSite): Value {
  if (typeof value === 'number' || value === '') return value
  const { text, wrong } = readLocalNumber(value as string, (form || undefined) as LocalForm['numbers'])
  if (wrong !== undefined) return fail(wrong)
  const trimmed = text.trim()
  if (trimmed === '') return ''
  // `Number` also reads 0x10.
  const read = /^[+-]?[\d.]+(?:[eE][+-]?\d+)?$/.test(trimmed) ? Number(trimmed) : Number.NaN
  if (!Number.isFinite(read)) return fail('is not a number')
  if (Number.isInteger(read) && !Number.isSafeInteger(read)) return fail('has more digits than a number keeps')
  return read
}

/** Steps of a time in a time zone, which takes that much longer than other functions. */
const zoneSteps = 200

function timeOf([value, order, zone]: readonly Value[], { at, fail }: CallSite): Value {
  spend(zone ? 2 * zoneSteps : 8, at)
  const form: LocalForm = { ...(order && { dates: order as 'DMY' }), ...(zone && { timezone: zone as string }) }
  const { text, wrong } = readLocalTime(value as string, form, false)
  return wrong === undefined ? text : fail(wrong)
}

const wrongOrder = (given: Value | undefined) =>
  given !== undefined && given !== '' && !dateForms.some((form) => form === given)
    ? `must name the order as one of ${dateForms.join(', ')}`
    : undefined

const wrongZone = (given: Value | undefined) =>
  given !== undefined && given !== '' && !isTimezone(String(given))
    ? 'must name a time zone, such as Europe/Berlin'
    : undefined

/** Parts of a text. Throws if there are more than a list can have. */
function split([text, separator]: readonly Value[], { at, fail }: CallSite): readonly string[] {
  if (text === '') return []
  const parts = (text as string).split(separator as string, expressionLimits.items + 1)
  if (parts.length > expressionLimits.items) fail(`has more than ${expressionLimits.items} parts`)
  spend(parts.length + ((text as string).length >> 4), at)
  return parts
}

function replace([text, from, to]: TextArgs, { at, fail }: CallSite): string {
  if (!text || !from) return text ?? ''
  const parts = text.split(from, expressionLimits.steps / 10)
  if (parts.length === expressionLimits.steps / 10) fail('has too many places to replace')
  const length = text.length + (parts.length - 1) * ((to ?? '').length - from.length)
  if (length > expressionLimits.textLength) fail('becomes too long')
  spend(parts.length, at)
  return made(parts.join(to), at)
}

/** The part of a text from one index to before another; what is beyond its end is left out. */
function substring([text, from, until]: readonly Value[], { at }: CallSite): string {
  const end = until === undefined || until === '' ? undefined : Math.max(0, until as number)
  return made((text as string).slice(Math.max(0, from === '' ? 0 : (from as number)), end), at)
}

function join([list, separator = '']: readonly Value[], { at, fail }: CallSite): string {
  let length = 0
  const texts = (list as readonly Value[]).map((item) => {
    if (typeof item === 'object') return fail('has a list in it')
    const text = String(item)
    length += text.length + (separator as string).length
    return text
  })
  if (length > expressionLimits.textLength) fail('becomes too long')
  return made(texts.join(separator as string), at)
}

/** A value inside JSON: `json(row.address, "city")`, `json(row.items, "0.price")`; empty if there is none. */
function json([text, path]: readonly Value[], { at, fail }: CallSite): Value {
  const given = text as string
  if (given.trim() === '') return ''
  if (given.length > expressionLimits.textLength) fail('is too long')
  spend(1 + (given.length >> 3), at)
  let found: unknown
  try {
    found = JSON.parse(given)
  } catch {
    fail('is not JSON')
  }
  for (const key of (path as string).split('.')) {
    found = typeof found === 'object' && found !== null && Object.hasOwn(found, key) ? Reflect.get(found, key) : null
  }
  if (found === null) return ''
  return typeof found === 'object' ? JSON.stringify(found) : (found as Value)
}

const functionsByName = {
  lower: ofTexts(1, ([text = '']) => text.toLowerCase()),
  upper: ofTexts(1, ([text = '']) => text.toUpperCase()),
  trim: ofTexts(1, ([text = '']) => text.trim()),
  contains: test((text, part) => text.includes(part)),
  startsWith: test((text, part) => text.startsWith(part)),
  endsWith: test((text, part) => text.endsWith(part)),
  replace: { takes: ['text', 'text', 'text'], gives: 'text', run: (args, site) => replace(args as TextArgs, site) },
  substring: { takes: ['text', 'number', 'number'], least: 2, gives: 'text', run: substring },
  split: { takes: ['text', 'text'], gives: 'list', run: split },
  join: { takes: ['list', 'text'], least: 1, gives: 'text', run: join },
  size: {
    takes: ['any'],
    gives: 'number',
    run: ([of], { at }) => {
      if (typeof of === 'object') return of.length
      const text = String(of)
      spend(1 + (text.length >> 4), at)
      let count = 0
      for (const _ of text) count++
      return count
    },
  },
  hmac: {
    takes: ['text'],
    keyed: true,
    gives: 'text',
    run: ([text], { at }) => {
      if (text === '') return ''
      spend(16 + ((text as string).length >> 4), at)
      return createHmac('sha256', keyOfHashes())
        .update(text as string)
        .digest('hex')
    },
  },
  has: { takes: ['any'], gives: 'condition', run: ([of]) => of !== '' },
  coalesce: { takes: ['any'], more: true, gives: 'any', run: (args) => args.find((one) => one !== '') ?? '' },
  string: { takes: ['text'], gives: 'text', run: ([of]) => of as string },
  bool: {
    takes: ['any'],
    gives: 'condition',
    run: ([of], { fail }) => {
      if (typeof of === 'boolean' || of === '' || of === undefined) return of ?? ''
      const key = answerKey(String(of))
      if (key === '') return ''
      return yes.has(key) || (no.has(key) ? false : fail('is neither yes nor no'))
    },
  },
  number: {
    takes: ['any', 'text'],
    least: 1,
    gives: 'number',
    run: (args, site) => {
      if (typeof args[0] === 'boolean' || typeof args[0] === 'object') return site.fail('is not a number')
      return numberOf(args, site)
    },
    refuse: ([, form]) =>
      form !== undefined && !numberForms.some((one) => one === form)
        ? `must name the sign before decimals as one of ${numberForms.join(', ')}`
        : undefined,
  },
  round: ofNumber(toPlaces((of) => Math.sign(of) * Math.round(Math.abs(of)))),
  floor: ofNumber(toPlaces(Math.floor)),
  ceil: ofNumber(toPlaces(Math.ceil)),
  abs: { takes: ['number'], gives: 'number', run: ([of]) => (of === '' ? '' : Math.abs(of as number)) },
  min: extreme(Math.min),
  max: extreme(Math.max),
  time: {
    takes: ['text', 'text', 'text'],
    least: 1,
    gives: 'text',
    run: timeOf,
    refuse: ([, order, zone]) => wrongOrder(order) ?? wrongZone(zone),
  },
  formatTime: {
    takes: ['text', 'text', 'text'],
    least: 2,
    gives: 'text',
    run: ([text, pattern, zone], { at, fail }) => {
      if (text === '') return ''
      spend(zone ? zoneSteps : 8, at)
      const { text: shown, wrong } = formatTime(text as string, pattern as string, (zone || undefined) as string)
      return wrong === undefined ? made(shown, at) : fail(wrong)
    },
    refuse: ([, , zone]) => wrongZone(zone),
  },
  json: { takes: ['text', 'text'], gives: 'any', run: json },
} satisfies Readonly<Record<string, ExpressionFunction>>

/** The functions of expressions by name, without `lookup` and the ones that name the items of a list. */
export const expressionFunctions: ReadonlyMap<string, ExpressionFunction> = new Map(
  Object.entries<ExpressionFunction>(functionsByName),
)
