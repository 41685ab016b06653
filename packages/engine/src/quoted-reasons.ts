import type { Cell, Rejection, Row, RowFault } from '@penstock/connector'

/**
 * Destinations describe why a row was rejected without its values, such as *A value is not a valid date*. The person who corrects
 * the row looks for the value, so the reason should include it: *"31.02.1989" is not a valid date*.
 */

/** A rejection in which each reason quotes its value. @param show how a value is shown; unchanged by default */
export function quoteValues(
  rejection: Rejection,
  columns: readonly string[],
  rows: readonly Row[],
  show?: (cell: Cell, at: number) => string | null,
): Rejection {
  const { index, others } = rejection
  const quote = (fault: RowFault) =>
    quoteValue({ ...fault, ...(index !== undefined && { index }) }, columns, rows, show)
  return {
    ...rejection,
    reason: quote(rejection),
    ...(others && { others: others.map((fault) => ({ ...fault, reason: quote(fault) })) }),
  }
}

/** The most characters of a value that are quoted. */
const quotedLengthMax = 60

const subject = /^A (?:value|number|text|time)(?= )/

/**
 * A reason with the value of the column that it blames, if it begins with *A value*, *A number*, *A text* or *A time*.
 * @param show how a value is shown; unchanged by default
 */
export function quoteValue(
  { index, field, reason }: Pick<Rejection, 'index' | 'field' | 'reason'>,
  columns: readonly string[],
  rows: readonly Row[],
  show: (cell: Cell, at: number) => string | null = (cell) => String(cell),
): string {
  const at = field === undefined ? -1 : columns.indexOf(field)
  const cell = index === undefined || at < 0 ? null : (rows[index]?.[at] ?? null)
  const shown = cell === null || cell === '' ? null : show(cell, at)
  if (shown === null || !subject.test(reason)) return reason
  const characters = [...shown.slice(0, quotedLengthMax * 2)]
  const isCut = shown.length > quotedLengthMax * 2 || characters.length > quotedLengthMax
  const text = isCut ? `${characters.slice(0, quotedLengthMax).join('')}…` : shown
  return reason.replace(subject, () => `"${text}"`)
}
