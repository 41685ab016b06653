import { limits, type Reject } from '@penstock/wire'

/** Which rows a corrected value is set for: the row itself, rows with the same value, or all rows with the reason. */
export type Scope = 'one' | 'same' | 'all'

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
  if (scope === 'one' || column === undefined) return [reject]
  const open = rejects.filter(({ editable }) => editable)
  return scope === 'all' ? open : open.filter(({ record }) => record[column] === reject.record[column])
}

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
