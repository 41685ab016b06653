import type { Cell, Row } from '../rows.ts'

/** Rows as CSV (RFC 4180): ends of lines are CRLF, null is nothing, empty text is `""`, what begins as a formula stays. */
export function csvOf(rows: readonly Row[]): string {
  return rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join('')
}

const special = /[",\r\n]/

function csvCell(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  if (cell === '') return '""'
  return special.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
