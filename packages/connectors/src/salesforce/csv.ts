import { ConnectorError } from '@penstock/connector'
import { parseCsv } from '@penstock/connector/files'

const dialect = { delimiter: ',', newline: '\n' } as const
const plain = /^[^",\r\n\s]+$/

/**
 * Rows in the form that Salesforce accepts: commas, LF, and quotes wherever they could matter. An empty cell has no text
 * between its commas.
 */
export const csvOf = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, ...rows].map((row) => `${row.map(cellOf).join(',')}\n`).join('')

const cellOf = (text: string): string => (text === '' || plain.test(text) ? text : `"${text.replaceAll('"', '""')}"`)

/** A table of Salesforce: cells are text, empty if there is nothing. */
export type TextTable = { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] }

/**
 * Parses a table of Salesforce. Without a header it is empty. Throws `malformed_response` if the number of cells of a row
 * differs from the header.
 */
export function tableOf(text: string): TextTable {
  const head = parseCsv(text, dialect, 0, true, 1)
  const columns = (head.rows[0] ?? []).map((cell) => String(cell ?? ''))
  if (columns.length === 0) return { columns, rows: [] }
  const { rows, errors } = parseCsv(text.slice(head.consumed), dialect, columns.length, true)
  if (head.errors.size > 0 || errors.size > 0) {
    throw new ConnectorError('malformed_response', 'Salesforce sent a table that breaks off or is no CSV.')
  }
  return { columns, rows: rows.map((row) => row.map((cell) => (cell === null ? '' : String(cell)))) }
}
