import { cellOf, ExactNumber, isContainer, isObject } from './answer-json.ts'

/** Columns that records of an answer can give, with the types that their values have. */

/** The type of a value, or the one that most values of a column have. */
export type ColumnKind = 'text' | 'number' | 'boolean' | 'time' | 'day' | 'json' | 'empty'

/** A column that can be picked. */
export type FoundColumn = {
  /** Its path in a record. */
  readonly path: string
  readonly kind: ColumnKind
  /** A value of it. */
  readonly sample: unknown
  /** Records that have no value for it. */
  readonly missing: number
}

/** Records that are looked at, how deep, and columns that are offered. */
const recordsMax = 200
const depthMax = 3
const columnsMax = 300

/** The columns of records, in the order in which they occur. An object gives a column for each of its values. */
export function columnsIn(records: readonly unknown[], chosen: readonly string[] = []): FoundColumn[] {
  const some = records.slice(0, recordsMax)
  const paths = new Set<string>()
  for (const record of some) addPaths(paths, record, '', 0)
  for (const path of chosen) paths.add(path)
  return [...paths].slice(0, columnsMax).map((path) => {
    const values = some.map((record) => cellOf(record, path))
    const there = values.filter((value) => value !== null && value !== undefined)
    return { path, kind: kindOfColumn(there), sample: there[0] ?? null, missing: values.length - there.length }
  })
}

function addPaths(paths: Set<string>, value: unknown, above: string, depth: number): void {
  if (!isObject(value)) {
    if (depth === 0) paths.add('value')
    return
  }
  for (const [key, one] of Object.entries(value)) {
    const path = above === '' ? key : `${above}.${key}`
    // A key with a point would be read as two, unless it is one of the record itself.
    if (depth > 0 && key.includes('.')) continue
    if (isObject(one) && depth < depthMax && Object.keys(one).length > 0) addPaths(paths, one, path, depth + 1)
    else paths.add(path)
  }
}

/** The type of one value. */
export function kindOf(value: unknown): ColumnKind {
  if (value === null || value === undefined || value === '') return 'empty'
  if (value instanceof ExactNumber) return 'number'
  if (typeof value === 'boolean') return 'boolean'
  if (isContainer(value)) return 'json'
  if (/^\d{4}-\d\d-\d\d$/.test(String(value))) return 'day'
  return /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(String(value)) ? 'time' : 'text'
}

/** The type that most values have. A text that is a number stays a text. */
export function kindOfColumn(values: readonly unknown[]): ColumnKind {
  const counts = new Map<ColumnKind, number>()
  for (const value of values) counts.set(kindOf(value), (counts.get(kindOf(value)) ?? 0) + 1)
  counts.delete('empty')
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 'empty'
}

/** Whether a value has another type than most values of its column. */
export const isOdd = (value: unknown, kind: ColumnKind): boolean =>
  kindOf(value) !== 'empty' && kind !== 'text' && kind !== 'json' && kind !== 'empty' && kindOf(value) !== kind
