import { ConnectorError } from '@penstock/connector'

/** Throws `invalid_query` where two columns of a query have one name, so that their cells could not be distinguished. */
export function assertDistinct(columns: readonly string[]): void {
  const twice = columns.find((name, at) => columns.indexOf(name) !== at)
  if (twice === undefined) return
  throw new ConnectorError(
    'invalid_query',
    `The query gives two columns the name ${twice}; give each a name of its own with AS.`,
  )
}

export const columnNotFound = (name: string, columns: readonly string[]): ConnectorError =>
  new ConnectorError(
    'column_not_found',
    `There is no column ${name}; there are: ${columns.slice(0, 50).join(', ') || 'none'}.`,
  )

/** The index of a column by its name: the exact name, or else in any case. Throws if there is none. */
export function columnAt(name: string, columns: readonly string[]): number {
  const exact = columns.indexOf(name)
  if (exact >= 0) return exact
  const alike = columns.findIndex((column) => column.toLowerCase() === name.toLowerCase())
  if (alike < 0) throw columnNotFound(name, columns)
  return alike
}
