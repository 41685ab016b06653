import { limits, type Reject } from '@penstock/wire'
import type { ReasonGroup } from './groups.ts'

/**
 * Which rows are corrected: the row itself, rows with the same value or all rows with the reason, by one value; or each of
 * these rows by its own values, one after another.
 */
export type Scope = 'one' | 'same' | 'all' | 'each'

/** Corrected values by column; null: no value. */
export type Values = Readonly<Record<string, string | null>>
export type Edit = { readonly number: number; readonly record: Record<string, string | null> }

/** Whether a value is too long to be shown whole, and so to be corrected here. */
export const isShortened = (value: string | null | undefined): boolean =>
  (value?.length ?? 0) > limits.rejectValueLengthMax

/** Rows that a correction applies to. @param rejects the rows with the same reason */
export function rowsOf(
  scope: Scope,
  reject: Reject,
  rejects: readonly Reject[],
  column: string | undefined,
): readonly Reject[] {
  if (scope === 'one') return [reject]
  const open = rejects.filter(({ editable }) => editable)
  if (scope === 'each') return open
  if (column === undefined) return [reject]
  return scope === 'all' ? open : open.filter(({ record }) => record[column] === reject.record[column])
}

/**
 * Whether each row of a group needs its own value: the column identifies the row or a person, or most values differ, as wrong
 * dates do. One value for all of them would be wrong for most.
 * @param keys fields by which the destination finds a row
 */
export function needOwnValues({ rejects, column, field, fault }: ReasonGroup, keys: readonly string[]): boolean {
  const open = rejects.filter(({ editable }) => editable)
  if (column === undefined || open.some(({ structural, otherFaults }) => structural || otherFaults)) return true
  if (field !== null && keys.includes(field.toLowerCase())) return true
  if (fault.kind === 'email' || fault.kind === 'phone' || fault.kind === 'twice') return true
  return new Set(open.map(({ record }) => record[column])).size * 2 > open.length
}

/** How a correction of all rows of a group begins. */
export function groupScopeOf(group: ReasonGroup, keys: readonly string[]): Scope {
  if (group.rejects.filter(({ editable }) => editable).length < 2) return 'one'
  return needOwnValues(group, keys) ? 'each' : 'all'
}

/** The fields by which the destination of a connection finds a row, in lower case. */
export const keysOf = (settings: Readonly<Record<string, unknown>>): readonly string[] =>
  String(settings.keyColumns ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter(Boolean)

/** The corrections to store if each row has its own values. Rows without changes stay as they are. */
export const ownEditsOf = (rows: readonly Reject[], changedBy: ReadonlyMap<number, Values>): readonly Edit[] =>
  rows.flatMap((row) => {
    const changed = changedBy.get(row.number)
    return changed ? editsOf([row], row, undefined, changed) : []
  })

/**
 * The corrections to store. A correction replaces earlier corrections of its row, so columns that were corrected before are
 * repeated. A structural row is confirmed with all of its columns.
 * @param changed corrected values of the row that is shown; of the other rows, only the value of the column is set
 */
export function editsOf(
  rows: readonly Reject[],
  reject: Reject,
  column: string | undefined,
  changed: Values,
): readonly Edit[] {
  return rows.map((row) => {
    const own = row.number === reject.number ? changed : column === undefined ? {} : pick(changed, column)
    const now: Values = { ...row.record, ...row.edited, ...own }
    const entries = Object.entries(now).filter(
      ([name, value]) => value !== row.record[name] || (row.structural && !isShortened(value)),
    )
    return { number: row.number, record: Object.fromEntries(entries) }
  })
}

const pick = (values: Values, column: string): Values =>
  Object.hasOwn(values, column) ? { [column]: values[column] ?? null } : {}

/** Columns in the order in which a row is corrected: the faulty ones first. */
export function columnsOf(
  reject: Pick<Reject, 'record'>,
  columns: readonly string[],
  shape: { readonly has: number; readonly needs: number } | undefined,
): { readonly faulty: readonly string[]; readonly others: readonly string[] } {
  const all = Object.keys(reject.record)
  // A short row ends somewhere: the last value may be cut, and the ones behind it are missing.
  const faulty =
    columns.length > 0 ? columns : shape && shape.has < shape.needs ? all.slice(Math.max(0, shape.has - 1)) : []
  return { faulty, others: all.filter((name) => !faulty.includes(name)) }
}

/** Corrections in the groups of one request. */
export function inCalls(edits: readonly Edit[]): readonly (readonly Edit[])[] {
  const { rejectEditsMax: max } = limits
  return Array.from({ length: Math.ceil(edits.length / max) }, (_, at) => edits.slice(at * max, (at + 1) * max))
}
