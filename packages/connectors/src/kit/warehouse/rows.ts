import type { Batch, Cell, Rejection } from '@penstock/connector'
import type { ReadCell } from '../../databases/typed-values.ts'

/** A column of a table in a store, as rows are judged for it before they are sent. */
export type JudgedColumn = {
  readonly name: string
  readonly read: ReadCell
  /** Whether it requires a value in every row. */
  readonly needed: boolean
  /** Whether rows are found again by it. */
  readonly isKey?: boolean
  /** Whether spaces at the end of a text do not count. */
  readonly isPadded?: boolean
  /** Whether values can be equal although `read` returns different ones, as for texts with a collation. */
  readonly isAmbiguous?: boolean
}

/** A row that can be sent: its place in the batch, and a value for each column. */
export type JudgedRow = {
  readonly index: number
  readonly values: readonly unknown[]
  /** Whether the row must be removed. Then it only has the values of its key. */
  readonly isRemoved: boolean
}

/**
 * A name for some rows of a batch. A whole batch is recognised even if the source now has fewer rows of it, which happens after
 * a crash. A part is identified by the indexes of its rows.
 */
export const partOf = (rows: Batch['rows'], items: readonly JudgedRow[]): string =>
  items.length === rows.length ? 'all' : items.map(({ index }) => index).join()

/** Creates a function that returns the key of a row as a text: the values of its key columns. */
export function keyTextBy(columns: readonly JudgedColumn[]): (row: JudgedRow) => string {
  const keys = columns.flatMap(({ isKey }, at) => (isKey ? [at] : []))
  return ({ values }) => JSON.stringify(keys.map((at) => values[at]))
}

/** @param columns the columns of the table, in the order of the delivered columns */
export function judgeRows(
  columns: readonly JudgedColumn[],
  batch: Pick<Batch, 'rows' | 'columns' | 'removed'>,
): { items: JudgedRow[]; doubtful: Rejection[] } {
  const doubtful: Rejection[] = []
  const items: JudgedRow[] = []
  for (const [index, row] of batch.rows.entries()) {
    const values: unknown[] = []
    const isRemoved = batch.removed?.has(index) ?? false
    let rejection: Rejection | undefined
    for (const [at, column] of columns.entries()) {
      const value = isRemoved && !column.isKey ? { value: null } : readCell(column, row[at] ?? null)
      if ('reason' in value) {
        rejection ??= { index, reason: value.reason, field: batch.columns[at] ?? '' }
        break
      }
      values.push(value.value)
    }
    if (rejection) doubtful.push(rejection)
    else items.push({ index, values, isRemoved })
  }
  return { items, doubtful }
}

/** Reads a cell for a column, as a delivery does. */
export function readCell({ read, needed }: JudgedColumn, cell: Cell): ReturnType<ReadCell> {
  const value = read(cell)
  const isMissing = 'value' in value && value.value === null
  return needed && isMissing ? { reason: 'There is no value for a column that needs one.' } : value
}
