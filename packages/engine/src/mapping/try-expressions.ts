import type { Cell, Row } from '@penstock/connector'
import { type Expression, problemOf } from '@penstock/expressions'
import type { Preview } from '@penstock/wire'
import { isPersonal, type Showing, shorten } from './shorten.ts'

export type TriedExpression = NonNullable<Preview['expressions']>[number]

/** Rows that are shown, and columns of each. */
const rowsMax = 3
const inputsMax = 4

/** Rows with their numbers in the source, from 1, and the names of its columns. */
export type NumberedRows = { readonly columns: readonly string[]; readonly rows: ReadonlyMap<number, Row> }

/**
 * Evaluates an expression for rows: how many have no value, and three of them with the values of the columns that it
 * reads. One of the three fails if any does.
 * @param field the path of the expression in the settings
 */
export function tryExpression(
  field: string,
  expression: Expression,
  { columns, rows }: NumberedRows,
  showing: Showing,
): TriedExpression {
  const indexes = expression.columns.slice(0, inputsMax).map((name) => columns.indexOf(name))
  const personal = isPersonal({ field: '', definition: undefined, expression })
  const inputsOf = (row: Row) =>
    indexes.map((index) => {
      const isOfPerson = isPersonal({ field: columns[index] ?? '', definition: undefined })
      return shorten(row[index] ?? null, isOfPerson, showing)
    })
  const shown: TriedExpression['rows'] = []
  const failing: TriedExpression['rows'] = []
  let failed = 0
  let met = 0
  for (const [number, row] of rows) {
    try {
      const value: Cell = expression.evaluate(row)
      if (value === true) met++
      if (shown.length < rowsMax) {
        shown.push({ row: number, inputs: inputsOf(row), value: shorten(value, personal, showing), problem: null })
      }
    } catch (error) {
      failed++
      if (failing.length === 0)
        failing.push({ row: number, inputs: inputsOf(row), value: null, problem: problemOf(error) })
    }
  }
  return {
    field,
    columns: [...expression.columns.slice(0, inputsMax)],
    records: rows.size,
    failed,
    met,
    rows: [...shown.slice(0, rowsMax - failing.length), ...failing].sort((a, b) => a.row - b.row),
  }
}
