/** Statements that write a batch by its keys, and delete the rows that a window does not contain. */

/** The number of a row in its batch, in a table or a query that has the rows of a batch. */
export const rowNumber = 'penstock_row'
/** Whether a row must be removed, at the same index: true, or null if it must not. */
export const rowRemoved = 'penstock_removed'

/** A column of the table, and of a query that has rows for it. */
export type MergedColumn = {
  /** Quoted. */
  readonly name: string
  /** Its name in the query. By default the same name. */
  readonly from?: string
  readonly isKey?: boolean | undefined
}

/**
 * A query with the last row of each key: a MERGE with two rows for one would fail.
 * @param from what follows `from`: a table, or a query in brackets, with a column `penstock_row`
 */
export const latestSql = (from: string, columns: readonly MergedColumn[]): string =>
  `select * from ${from} where true
      qualify row_number() over (partition by ${keysOf(columns).map(fromOf).join(', ')} order by ${rowNumber} desc) = 1`

/**
 * A MERGE of rows by their key.
 * @param rows a query with one row for a key
 * @param removes whether the query has a column `penstock_removed`
 * @param within a condition of rows of the table, as `T`: if no row of the query has their key, they are deleted
 */
export function mergeSql({
  into,
  columns,
  rows,
  removes = false,
  within,
}: {
  readonly into: string
  readonly columns: readonly MergedColumn[]
  readonly rows: string
  readonly removes?: boolean
  readonly within?: string | undefined
}): string {
  const set = columns.filter(({ isKey }) => !isKey).map((column) => `${column.name} = S.${fromOf(column)}`)
  return [
    `merge into ${into} as T using (${rows}) as S on ${isSame(columns, 'T.')}`,
    removes ? `when matched and S.${rowRemoved} then delete` : '',
    set.length === 0 ? '' : `when matched then update set ${set.join(', ')}`,
    `when not matched ${removes ? `and not coalesce(S.${rowRemoved}, false) ` : ''}then insert (${columns.map(({ name }) => name).join(', ')}) values (${columns.map((column) => `S.${fromOf(column)}`).join(', ')})`,
    within === undefined ? '' : `when not matched by source and ${within} then delete`,
  ]
    .filter((clause) => clause !== '')
    .join('\n    ')
}

/**
 * Deletes the rows of a scope whose keys are not among others.
 * @param from the table, with its alias if the warehouse allows one here
 * @param prefix what qualifies a column of the table, such as `T.`
 * @param keys a table, or a query in brackets, with the keys of all rows that stay; `undefined` if no rows stay
 * @param keys a table, or a query in brackets, with the keys of all rows that stay; `undefined` if no rows stay
 */
export function deleteOthersSql({
  from,
  prefix,
  columns,
  within,
  keys,
}: {
  readonly from: string
  readonly prefix: string
  readonly columns: readonly MergedColumn[]
  readonly within: string
  readonly keys: string | undefined
}): string {
  const absent =
    keys === undefined ? '' : ` and not exists (select 1 from ${keys} as S where ${isSame(columns, prefix)})`
  return `delete from ${from} where ${within}${absent}`
}

/** The rows of some queries, in brackets. `undefined` without queries. */
export const unionOf = (queries: readonly string[]): string | undefined =>
  queries.length === 0 ? undefined : `(${queries.join(' union all ')})`

/** The same by a MERGE, for a warehouse whose DELETE cannot compare keys. */
export const deleteOthersByMerge = ({
  into,
  columns,
  within,
  keys,
}: {
  readonly into: string
  readonly columns: readonly MergedColumn[]
  readonly within: string
  readonly keys: string | undefined
}): string =>
  keys === undefined
    ? `delete from ${into} as T where ${within}`
    : `merge into ${into} as T using (select distinct * from ${keys}) as S on ${isSame(columns, 'T.')}
    when not matched by source and ${within} then delete`

const fromOf = ({ name, from = name }: MergedColumn): string => from

const keysOf = (columns: readonly MergedColumn[]): readonly MergedColumn[] => columns.filter(({ isKey }) => isKey)

const isSame = (columns: readonly MergedColumn[], prefix: string): string =>
  keysOf(columns)
    .map((column) => `${prefix}${column.name} = S.${fromOf(column)}`)
    .join(' and ')
