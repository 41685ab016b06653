import type { Batch, BatchWindow, WindowScope } from '@penstock/connector'
import { scopeCondition } from '../databases/staged-windows.ts'
import type { DatabricksTarget } from './target.ts'
import { type DatabricksColumn, quoteName, quoteText } from './target-columns.ts'

type Merged = { readonly target: DatabricksTarget; readonly columns: readonly DatabricksColumn[] }

/** A file in the volume that has all rows of a batch. */
export type UploadedFile = { readonly path: string }

/** The values of the columns, from the texts of a file. */
export const valuesOf = (columns: readonly DatabricksColumn[]): string =>
  columns.map((column, at) => `${column.value(`c${at}`)} as ${quoteName(column.name)}`).join(', ')

/**
 * Of several rows with the same key, the last one of the batch counts: a MERGE with two rows for one would fail.
 * @param window whose rows are all in the file; the same statement deletes the others of its scope
 * @param removes whether the file has rows that are to be removed
 */
export function mergeOf(
  { target, columns }: Merged,
  path: string,
  names: readonly string[],
  { window, removes }: { readonly window: BatchWindow | undefined; readonly removes: boolean },
): string {
  const { keys } = keysOf(target, columns)
  const within = window && scopeOf(columns, names, window.scope)
  const marked = removes ? ', removed is not null as penstock_removed' : ''
  return mergeSql(
    { target, columns },
    `select * from (select ${valuesOf(columns)}, cast(n as bigint) as penstock_row${marked}
        from ${fileOf(columns, path)})
      qualify row_number() over (partition by ${keys.map(({ name }) => quoteName(name)).join(', ')} order by penstock_row desc) = 1`,
    { removes, further: within === undefined ? '' : `when not matched by source and ${within} then delete` },
  )
}

/**
 * A MERGE of rows by their key.
 * @param rows a query, with one row for a key
 * @param removes whether the query has a column `penstock_removed`, which says whether a row is to be removed
 * @param further clauses
 */
export function mergeSql(
  { target, columns }: Merged,
  rows: string,
  { removes = false, further = '' }: { readonly removes?: boolean; readonly further?: string } = {},
): string {
  const { keys, others } = keysOf(target, columns)
  const all = columns.map(({ name }) => quoteName(name))
  const set = others.map(({ name }) => `${quoteName(name)} = S.${quoteName(name)}`).join(', ')
  return `merge into ${target.name} as T
    using (${rows}) as S
    on ${isSame(keys)}
    ${removes ? 'when matched and S.penstock_removed then delete' : ''}
    ${others.length === 0 ? '' : `when matched then update set ${set}`}
    when not matched ${removes ? 'and not S.penstock_removed ' : ''}then insert (${all.join(', ')}) values (${all.map((name) => `S.${name}`).join(', ')})
    ${further}`
}

/** Deletes the rows of a window whose keys are in none of some files; `undefined` if it can have no rows. */
export function deleteOthersOf(
  { target, columns }: Merged,
  { columns: names, window }: Batch,
  files: readonly UploadedFile[],
): string | undefined {
  const within = window && scopeOf(columns, names, window.scope)
  if (within === undefined) return undefined
  const { keys } = keysOf(target, columns)
  const values = keys.map((column) => `${column.value(`c${columns.indexOf(column)}`)} as ${quoteName(column.name)}`)
  const rows = files.map(({ path }) => `select ${values.join(', ')} from ${fileOf(columns, path)}`)
  if (rows.length === 0) return `delete from ${target.name} as T where ${within}`
  return `merge into ${target.name} as T
    using (select distinct * from (${rows.join(' union all ')})) as S
    on ${isSame(keys)}
    when not matched by source and ${within} then delete`
}

const isSame = (keys: readonly DatabricksColumn[]): string =>
  keys.map(({ name }) => `T.${quoteName(name)} = S.${quoteName(name)}`).join(' and ')

const fileOf = (columns: readonly DatabricksColumn[], path: string): string => {
  const schema = [...columns.map((_, at) => `c${at} string`), 'n string', 'removed string'].join(', ')
  return `read_files(${quoteText(path)}, format => 'json', schema => '${schema}', mode => 'FAILFAST')`
}

/** The columns of the key, and all others. */
export function keysOf({ keys }: DatabricksTarget, columns: readonly DatabricksColumn[]) {
  const isKey = ({ name }: DatabricksColumn) => keys.some((key) => key.toLowerCase() === name.toLowerCase())
  return { keys: columns.filter(isKey), others: columns.filter((column) => !isKey(column)) }
}

/** The condition of a scope, with typed values, so that files outside of it are not read. */
const scopeOf = (
  columns: readonly DatabricksColumn[],
  names: readonly string[],
  scope: WindowScope,
): string | undefined =>
  scopeCondition(
    scope,
    names,
    columns,
    ({ name }) => `T.${quoteName(name)}`,
    (column, text) => {
      const read = column.read(text)
      if ('reason' in read || read.value === null || notCompared.test(column.type)) return undefined
      return column.value(quoteText(String(read.value)))
    },
  )

const notCompared = /^(FLOAT|REAL|DOUBLE|BINARY|VARIANT|ARRAY|MAP|STRUCT)/
