import type { Batch, Rejection, Row } from '@penstock/connector'

/** Characters that Google Sheets accepts in a cell. */
const lengthMax = 50_000

/** Rows that can be written, and rows with a cell that is too long. */
export function readRows({ columns, rows }: Pick<Batch, 'columns' | 'rows'>): {
  good: readonly Row[]
  rejected: readonly Rejection[]
} {
  const rejected: Rejection[] = []
  const good = rows.filter((row, index) => {
    const at = row.findIndex((cell) => typeof cell === 'string' && cell.length > lengthMax)
    if (at >= 0) {
      const reason = `The value has more than the ${lengthMax} characters that Google Sheets takes in a cell.`
      rejected.push({ index, reason, field: columns[at] ?? '' })
    }
    return at < 0
  })
  return { good, rejected }
}

/** Whether rows of a sheet are these rows. A sheet omits empty cells at the end of a row. */
export const isSame = (found: readonly Row[], rows: readonly Row[]): boolean =>
  found.length <= rows.length &&
  rows.every((row, at) => row.every((cell, index) => (cell ?? '') === (found[at]?.[index] ?? '')))
