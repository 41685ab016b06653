import type { Cell, Row } from '@penstock/connector'
import { type Expression, problemOf } from '@penstock/expressions'
import type { Preview } from '@penstock/wire'
import { isPersonal, type Showing, shorten } from './shorten.ts'

export type TriedExpression = NonNullable<Preview['expressions']>[number]

/** Rows that are shown together, how many such groups there are, and columns of each row. */
const groupSize = 3
const groupsMax = 4
const inputsMax = 4

/** Rows with their numbers in the source, from 1, and the names of its columns. */
export type NumberedRows = { readonly columns: readonly string[]; readonly rows: ReadonlyMap<number, Row> }

/**
 * Evaluates an expression for rows. Returns the number of rows for which it fails, and some rows with the values of the columns
 * that it reads, in groups of three. Each group contains a failing row as long as there are failing rows.
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
      if (shown.length < groupSize * groupsMax) {
        shown.push({ row: number, inputs: inputsOf(row), value: shorten(value, personal, showing), problem: null })
      }
    } catch (error) {
      failed++
      if (failing.length < groupSize * groupsMax)
        failing.push({ row: number, inputs: inputsOf(row), value: null, problem: problemOf(error) })
    }
  }
  return {
    field,
    columns: [...expression.columns.slice(0, inputsMax)],
    records: rows.size,
    failed,
    met,
    rows: grouped(shown, failing),
  }
}

/** Rows in groups. Each group contains one failing row and rows that do not fail, as long as there are both. */
function grouped(shown: TriedExpression['rows'], failing: TriedExpression['rows']): TriedExpression['rows'] {
  const [good, bad] = [[...shown], [...failing]]
  return Array.from({ length: groupsMax }).flatMap(() => {
    const first = bad.splice(0, 1)
    const rest = good.splice(0, groupSize - first.length)
    const more = bad.splice(0, groupSize - first.length - rest.length)
    return [...first, ...rest, ...more].sort((a, b) => a.row - b.row)
  })
}
