import { setImmediate } from 'node:timers/promises'
import { evaluate, isTrue, type Scope } from '@penstock/expressions/json'
import { isObject, type JsonObject } from '../../platform-api/json.ts'
import type { RecordChange } from '../definition/definition.ts'
import type { TemplateValues } from '../definition/template.ts'

/** Other jobs of the runner, such as its heartbeat, wait no longer than this, in milliseconds. */
const sliceMs = 50

/**
 * The records after the changes of a stream, in their order. The given ones stay as they are.
 * @param values what expressions can name beside `record`
 * Throws `ExpressionError` for an expression that takes too much.
 */
export async function changeRecords(
  records: readonly JsonObject[],
  changes: readonly RecordChange[],
  { nowMs = Date.now(), ...values }: TemplateValues,
): Promise<readonly JsonObject[]> {
  if (changes.length === 0) return records
  const kept: JsonObject[] = []
  let untilMs = performance.now() + sliceMs
  for (const record of records) {
    const changed = changeRecord(record, changes, values, nowMs)
    if (changed) kept.push(changed)
    if (performance.now() < untilMs) continue
    await setImmediate()
    untilMs = performance.now() + sliceMs
  }
  return kept
}

function changeRecord(
  given: JsonObject,
  changes: readonly RecordChange[],
  values: Scope,
  nowMs: number,
): JsonObject | undefined {
  let record = given
  for (const change of changes) {
    const resultOf = (expression: string) => evaluate(expression, { ...values, record }, nowMs)
    if ('keep' in change) {
      if (!isTrue(resultOf(change.keep))) return undefined
    } else if ('set' in change) {
      if (change.if === undefined || isTrue(resultOf(change.if)))
        record = withValue(record, change.set, resultOf(change.to))
    } else if ('remove' in change) record = without(record, change.remove)
    else if ('lift' in change) record = lifted(record, change.lift)
    else record = renamed(record, change.names)
  }
  return record
}

// Keys of answers can be any text, such as __proto__; an object made of entries has them as its own.
const withKey = (record: JsonObject, key: string, value: unknown): JsonObject =>
  Object.fromEntries([...Object.entries(record).filter(([name]) => name !== key), [key, value]])

function withValue(record: JsonObject, [key = '', ...more]: readonly string[], value: unknown): JsonObject {
  if (more.length === 0) return withKey(record, key, value)
  const below = Object.hasOwn(record, key) ? record[key] : undefined
  return withKey(record, key, withValue(isObject(below) ? below : {}, more, value))
}

/** A record without the value at a path; `*` is any key, and in a key any text. */
function without(record: JsonObject, [key = '', ...more]: readonly string[]): JsonObject {
  const isNamed = key.includes('*') ? matcherOf(key) : (name: string) => name === key
  const entries = Object.entries(record).flatMap(([name, value]): [string, unknown][] => {
    if (!isNamed(name)) return [[name, value]]
    if (more.length === 0) return []
    if (isObject(value)) return [[name, without(value, more)]]
    if (!Array.isArray(value)) return [[name, value]]
    // The items of a list have no names; `*` may stand for them, and may be left out.
    const rest = more[0] === '*' ? more.slice(1) : more
    return [[name, rest.length === 0 ? [] : value.map((one) => (isObject(one) ? without(one, rest) : one))]]
  })
  return Object.fromEntries(entries)
}

function matcherOf(pattern: string): (name: string) => boolean {
  const [begin = '', ...rest] = pattern.split('*')
  return (name) => {
    if (!name.startsWith(begin)) return false
    let at = begin.length
    for (const [index, part] of rest.entries()) {
      const found = index === rest.length - 1 ? name.length - part.length : name.indexOf(part, at)
      if (found < at || !name.startsWith(part, found)) return false
      at = found + part.length
    }
    return true
  }
}

/** A record with the fields of the object at a path at its top, instead of that object. */
function lifted(record: JsonObject, path: readonly string[]): JsonObject {
  const value = path.reduce<unknown>(
    (at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
    record,
  )
  if (!isObject(value)) return record
  const rest = without(record, path)
  return Object.fromEntries([...Object.entries(rest), ...Object.entries(value)])
}

function renamed(record: JsonObject, names: 'lower' | 'snake'): JsonObject {
  const nameOf = (name: string) => (names === 'lower' ? name.toLowerCase() : snakeOf(name))
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [nameOf(name), value]))
}

const snakeOf = (name: string): string =>
  name
    .slice(0, 500)
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .toLowerCase()
