import type { Batch, Finding, Rejection, Row } from '@penstock/connector'
import { columnsNotFound, type FatalTableProblem, findingsOf, valuesNotTaken } from './table-findings.ts'
import type { ReadCell } from './typed-values.ts'

/** A column of a table in a store, as rows are judged for it before they are sent. */
export type JudgedColumn = {
  readonly name: string
  readonly read: ReadCell
  /** Whether it takes no row without a value. */
  readonly needed: boolean
  /** Whether rows are found again by it. */
  readonly isKey?: boolean
}

/** A row that can be sent: its place in the batch, and a value for each column. */
export type JudgedRow = {
  readonly index: number
  readonly values: readonly unknown[]
  /** Whether it is to be removed: then it has the values of its key alone. */
  readonly isRemoved: boolean
}

/** Makes the function that gives the key of a row as a text: the values of its key columns. */
export function keyTextBy(columns: readonly JudgedColumn[]): (row: JudgedRow) => string {
  const keys = columns.flatMap(({ isKey }, at) => (isKey ? [at] : []))
  return ({ values }) => JSON.stringify(keys.map((at) => values[at]))
}

/** @param columns those of the table, in the order of the delivered ones */
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
      const value = isRemoved && !column.isKey ? { value: null } : readCell(column, row, at)
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

function readCell({ read, needed }: JudgedColumn, row: Row, at: number): ReturnType<ReadCell> {
  const value = read(row[at] ?? null)
  const isMissing = 'value' in value && value.value === null
  return needed && isMissing ? { reason: 'There is no value for a column that needs one.' } : value
}

/** The columns of a table for the delivered ones, by their exact names or else in any case, and what prevents writing to them. */
export function matchColumns<Column extends { readonly name: string }>(
  table: string,
  delivered: readonly string[],
  found: readonly Column[],
): { columns: Column[]; errors: FatalTableProblem[] } {
  const matches = delivered.map(
    (name) =>
      found.find((column) => column.name === name) ??
      found.find((column) => column.name.toLowerCase() === name.toLowerCase()),
  )
  const columns = matches.filter((column) => column !== undefined)
  const errors = columnsNotFound(
    table,
    delivered.filter((_, at) => matches[at] === undefined),
  )
  const twice = columns.find((column, at) => columns.indexOf(column) !== at)
  if (twice) {
    errors.push({
      code: 'columns_do_not_fit',
      columns: delivered.filter((_, at) => matches[at] === twice),
      describe: (names) =>
        `${names.join(' and ')} are mapped to the same column of the table; map one of them to another column.`,
    })
  }
  return { columns, errors }
}

/** The findings of an inspection: what prevents writing, and columns that do not take the values of some rows. */
export function inspectRows(
  errors: readonly FatalTableProblem[],
  columns: readonly JudgedColumn[],
  batch: Pick<Batch, 'rows' | 'columns'>,
): Finding[] {
  const findings = errors.flatMap(findingsOf)
  if (errors.length > 0) return findings
  for (const [at, column] of columns.entries()) {
    const reason = batch.rows
      .map((row) => readCell(column, row, at))
      .flatMap((value) => ('reason' in value ? [value.reason] : []))
      .at(0)
    if (reason !== undefined) findings.push(valuesNotTaken(batch.columns[at] ?? '', reason))
  }
  return findings
}
