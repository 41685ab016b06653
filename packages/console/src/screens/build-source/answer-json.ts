/** Reading the JSON of an answer for its tree: values, paths, the records in it, and their columns. */

/** A number as it was written, with all its digits. */
export class ExactNumber {
  readonly source: string
  constructor(source: string) {
    this.source = source
  }
}

type JsonObject = Readonly<Record<string, unknown>>
type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown
const parseWith = JSON.parse as (text: string, reviver: Reviver) => unknown

/** Parses JSON; `undefined` if the text is none. Browsers that do not give the source of numbers show them as they read them. */
export function parseAnswer(text: string): unknown {
  try {
    return parseWith(text, (_key, value, context) =>
      typeof value === 'number' ? new ExactNumber(context?.source ?? String(value)) : value,
    )
  } catch {
    return undefined
  }
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)

/** Lists and objects, which have values in them. */
export const isContainer = (value: unknown): value is JsonObject | readonly unknown[] =>
  Array.isArray(value) || isObject(value)

/** The entries of a list or an object. */
export const entriesOf = (value: unknown): [string, unknown][] =>
  Array.isArray(value) ? value.map((one, at) => [String(at), one]) : isObject(value) ? Object.entries(value) : []

/** The value at a path; `undefined` if there is none. */
export const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (at, key) => (Array.isArray(at) ? at[Number(key)] : isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
    value,
  )

/** Keys of a path as a definition has them: a text with points, or a list of keys. */
export function keysOf(path: unknown): string[] {
  if (typeof path === 'string') return path.split('.').filter((key) => key !== '')
  return Array.isArray(path) ? path.filter((key) => typeof key === 'string') : []
}

/** Keys as a definition has them: with points unless a key has one itself. */
export const pathText = (keys: readonly string[]): string | string[] =>
  keys.some((key) => key.includes('.')) ? [...keys] : keys.join('.')

/** Whether a place in the answer is one that a path with `*` for every element leads to. */
export const matches = (place: readonly string[], keys: readonly string[]): boolean =>
  place.length === keys.length && keys.every((key, at) => key === '*' || key === place[at])

/** The records at a path, as a transfer reads them: a list gives its elements, anything else is one record. */
export function recordsAt(answer: unknown, keys: readonly string[]): unknown[] {
  let found = [answer]
  for (const key of keys) {
    found = found.flatMap((value) =>
      key === '*'
        ? entriesOf(value).map(([, one]) => one)
        : isObject(value) && Object.hasOwn(value, key)
          ? [value[key]]
          : [],
    )
  }
  return found
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .filter((value) => value !== null && value !== undefined)
}

/**
 * The path of a column, if a place in the answer is in a record: the keys in the record with points.
 * @param keys the path to the records
 */
export function columnAt(answer: unknown, place: readonly string[], keys: readonly string[]): string | undefined {
  const above = place.slice(0, keys.length)
  if (!matches(above, keys)) return undefined
  const isList = Array.isArray(valueAt(answer, above))
  const inside = place.slice(keys.length + (isList ? 1 : 0))
  // A definition names a value in a list by nothing; the list itself is JSON text.
  const isInList = inside.some((_, at) =>
    Array.isArray(valueAt(answer, place.slice(0, place.length - inside.length + at))),
  )
  return inside.length === 0 || isInList ? undefined : inside.join('.')
}

/** The value of a column in a record. */
export const cellOf = (record: unknown, column: string): unknown =>
  isObject(record) && Object.hasOwn(record, column)
    ? record[column]
    : !isObject(record) && column === 'value'
      ? record
      : valueAt(record, column.split('.'))

/** A value as text, in one line. */
export function shown(value: unknown): string {
  if (value instanceof ExactNumber) return value.source
  if (typeof value === 'string') return JSON.stringify(value)
  if (isContainer(value)) return JSON.stringify(plain(value))
  return String(value)
}

const plain = (value: unknown): unknown => {
  if (value instanceof ExactNumber) return Number(value.source)
  if (Array.isArray(value)) return value.map(plain)
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)])) : value
}
