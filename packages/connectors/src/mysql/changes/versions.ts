import type { ConnectorError } from '@penstock/connector'
import type { TableChange } from '../../databases/row-changes.ts'
import { lost } from './dump.ts'
import type { LoggedRow } from './logged-row.ts'
import type { TableName } from './statements.ts'

/** The end of a version that is still valid, of MariaDB before 11.5 and since. */
const present: ReadonlySet<string> = new Set(['2038-01-19 03:14:07.999999', '2106-02-07 06:28:15.999999'])

/**
 * The change of the present rows of a table that a change in the log means. A system-versioned table of MariaDB keeps former
 * versions of its rows: an update also inserts the former version, and a removal is an update that ends the version.
 * @param row inserted, removed, or before an update
 * @param after an update
 * @param rowEnd the column with the end of a version; empty if the table has no versions
 * @returns `undefined` if only former versions were changed
 * Throws `changes_lost` if the log does not say which version a row is.
 */
export function versioned(
  kind: 'insert' | 'update' | 'delete',
  row: LoggedRow,
  after: LoggedRow | undefined,
  rowEnd: string,
): Pick<TableChange, 'kind' | 'values' | 'before'> | undefined {
  const isNow = ({ rowEnd: end }: LoggedRow): boolean => {
    if (rowEnd === '') return true
    if (end !== undefined) return present.has(end)
    throw lost(`Changes were logged without the column ${rowEnd}, when binlog_row_image was not FULL`)
  }
  if (!after) return isNow(row) ? { kind, values: row.values } : undefined
  if (isNow(row)) {
    return isNow(after)
      ? { kind: 'update', values: after.values, before: row.values }
      : { kind: 'delete', values: row.values }
  }
  return isNow(after) ? { kind: 'insert', values: after.values } : undefined
}

/** The error for a place in the log from which on the rows of the table mean something else. */
export const versioningChanged = ({ database, table }: TableName): ConnectorError =>
  lost(
    `System versioning was added to ${database}.${table} or removed from it, so its older changes mean something else`,
  )
