import { answerKey } from '../local/answer-key.ts'
import { type LocalForm, numberForms } from '../local/local-forms.ts'
import { readLocalNumber } from '../local/local-numbers.ts'
import {
  checkLength,
  isEmpty,
  isObject,
  isTrue,
  kindOfValue,
  made,
  spend,
  type Value,
  type ValueKind,
} from '../values.ts'
import type { CallSite, Compiled, Functions, Run } from './function.ts'

const yes: ReadonlySet<string> = new Set(['true', 't', 'yes', 'y', '1', 'on'])
const no: ReadonlySet<string> = new Set(['false', 'f', 'no', 'n', '0', 'off'])

/** A number, or the number that a text is, as programs write it. */
export function plainNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

const refuseForm = (given: Value): string | undefined =>
  isEmpty(given) || numberForms.some((form) => form === given)
    ? undefined
    : `must name the sign before decimals as one of ${numberForms.join(', ')}`

function localNumber(value: string, given: Value, { fail }: CallSite): Value {
  if (value === '') return null
  const refused = refuseForm(given)
  if (refused !== undefined) return fail(refused)
  const { text, wrong } = readLocalNumber(value, (given || undefined) as LocalForm['numbers'])
  if (wrong !== undefined) return fail(wrong)
  const trimmed = text.trim()
  if (trimmed === '') return null
  // `Number` also reads 0x10.
  const read = /^[+-]?[\d.]+(?:[eE][+-]?\d+)?$/.test(trimmed) ? Number(trimmed) : Number.NaN
  if (!Number.isFinite(read)) return fail('is not a number')
  if (Number.isInteger(read) && !Number.isSafeInteger(read)) return fail('has more digits than a number keeps')
  return read
}

/** The first of some values that meets a condition; the last value if no value meets it and `orLast` is set. */
const first = (isFound: (value: Value) => boolean, orLast: boolean) =>
  function runLazily<Input>(args: readonly Compiled<Input>[]) {
    return (input: Input): Value => {
      let value: Value
      for (const arg of args) {
        value = arg.run(input)
        if (isFound(value)) return value
      }
      return orLast ? value : null
    }
  }

/** The kind that all of these have, or any. Empty values can be of each. */
const sharedKind = (args: readonly Pick<Compiled, 'kind' | 'fixed'>[]): ValueKind => {
  const [kind = 'any', ...others] = new Set(
    args.filter(({ fixed }) => !isEmpty(fixed) || fixed === undefined).map((one) => one.kind),
  )
  return others.length > 0 ? 'any' : kind
}

/** The values of a table, by the keys that are compared. */
const entriesOf = (table: Value): ReadonlyMap<string, Value> =>
  table instanceof Map
    ? table
    : new Map(Object.entries(isObject(table) ? table : {}).map(([key, value]) => [answerKey(key), value as Value]))

function inJson([of, path]: readonly Value[], site: CallSite): Value {
  if (path === undefined) return made(JSON.stringify(of ?? null), site)
  let found: unknown = of
  if (typeof of !== 'object') {
    const text = site.values.textOf(of, site)
    if (text.trim() === '') return null
    checkLength(text.length, site)
    spend(1 + (text.length >> 3), site)
    try {
      found = JSON.parse(text)
    } catch {
      return site.fail('is not JSON')
    }
  }
  for (const key of (path as string).split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return null
    found = Reflect.get(found, key)
  }
  return typeof found === 'object' && found !== null ? site.values.nested(found) : (found as Value)
}

const number: Run = ([of, form], site) => {
  if (typeof of === 'boolean' || (typeof of === 'object' && of !== null)) return site.fail('is not a number')
  return typeof of === 'string' ? localNumber(of, form, site) : of
}

/** The functions of values of any kind. */
export const valueFunctions: Functions = {
  has: ([of]) => !isEmpty(of),
  coalesce: { runLazily: first((value) => !isEmpty(value), false) },
  either: { runLazily: first(isTrue, true) },
  string: ([of]) => of,
  bool: {
    run: ([of], { fail }) => {
      if (typeof of === 'boolean' || isEmpty(of)) return of
      const key = answerKey(String(of))
      if (key === '') return null
      return yes.has(key) || (no.has(key) ? false : fail('is neither yes nor no'))
    },
    runInDefinitions: ([of]) => (typeof of === 'string' ? yes.has(answerKey(of)) : isTrue(of)),
  },
  number: {
    run: number,
    runInDefinitions: (args, site) => {
      if (!isEmpty(args[1])) return number(args, site)
      return typeof args[0] === 'boolean' ? Number(args[0]) : plainNumber(args[0])
    },
    refuse: ([, form]) => refuseForm(form),
  },
  json: { run: inJson, kindOf: ({ length }) => (length === 1 ? 'text' : 'any') },
  keys: ([of], site) => {
    const keys = isObject(of) ? Object.keys(of) : []
    spend(keys.length, site)
    return keys
  },
  lookup: {
    runLazily: ([of, table, other], site) => {
      const known = table?.fixed === undefined ? undefined : entriesOf(table.fixed)
      return (input) => {
        const entries = known ?? entriesOf(table?.run(input))
        if (!known) spend(entries.size, site)
        return entries.get(answerKey(of?.run(input) as string)) ?? other?.run(input)
      }
    },
    kindOf: ([, table, other]) =>
      sharedKind([
        ...[...entriesOf(table?.fixed).values()].map((fixed) => ({ kind: kindOfValue(fixed), fixed })),
        ...(other ? [other] : []),
      ]),
  },
}
