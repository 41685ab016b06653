import type { Batch, WindowScope } from '@penstock/connector'
import { deleteOthersByMerge, latestSql, mergeSql, rowNumber, rowRemoved, unionOf } from '../kit/warehouse/merge.ts'
import { scopeCondition } from '../kit/warehouse/windows.ts'
import type { DatabricksTarget } from './target.ts'
import { type DatabricksColumn, quoteName, quoteText } from './target-columns.ts'

type Merged = { readonly target: DatabricksTarget; readonly columns: readonly DatabricksColumn[] }

/** A file in the volume that has all rows of a batch. */
export type UploadedFile = { readonly path: string }

/** The values of the columns, from the texts of a file. */
export const valuesOf = (columns: readonly DatabricksColumn[]): string =>
  columns.map((column, at) => `${column.value(`c${at}`)} as ${quoteName(column.name)}`).join(', ')

/** The columns as statements name them. */
export const quoted = (columns: readonly DatabricksColumn[]) =>
  columns.map(({ name, isKey }) => ({ name: quoteName(name), isKey }))

/**
 * Merges the rows of a file.
 * @param isReplaced whether the file has all rows of the batch's window. The same statement then deletes the other rows of its
 * scope
 * @param removes whether the file has rows that must be removed
 */
export function mergeOf(
  { target, columns }: Merged,
  path: string,
  { columns: names, window }: Batch,
  { isReplaced, removes }: { readonly isReplaced: boolean; readonly removes: boolean },
): string {
  const marked = removes ? `, removed is not null as ${rowRemoved}` : ''
  const rows = `(select ${valuesOf(columns)}, cast(n as bigint) as ${rowNumber}${marked} from ${fileOf(columns, path)})`
  return mergeSql({
    into: target.name,
    columns: quoted(columns),
    rows: latestSql(rows, quoted(columns)),
    removes,
    within: isReplaced && window ? scopeOf(columns, names, window.scope) : undefined,
  })
}

/** Deletes the rows of a window whose keys are not in any of some files. `undefined` if the window cannot have rows. */
export function deleteOthersOf(
  { target, columns }: Merged,
  { columns: names, window }: Batch,
  files: readonly UploadedFile[],
): string | undefined {
  const within = window && scopeOf(columns, names, window.scope)
  if (within === undefined) return undefined
  const values = columns.flatMap((column, at) =>
    column.isKey ? [`${column.value(`c${at}`)} as ${quoteName(column.name)}`] : [],
  )
  const stages = files.map(({ path }) => `select ${values.join(', ')} from ${fileOf(columns, path)}`)
  return deleteOthersByMerge({ into: target.name, columns: quoted(columns), within, keys: unionOf(stages) })
}

const fileOf = (columns: readonly DatabricksColumn[], path: string): string => {
  const schema = [...columns.map((_, at) => `c${at} string`), 'n string', 'removed string'].join(', ')
  return `read_files(${quoteText(path)}, format => 'json', schema => '${schema}', mode => 'FAILFAST')`
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
    ({ type, value }, text) => (notCompared.test(type) ? undefined : value(quoteText(text))),
  )

const notCompared = /^(FLOAT|REAL|DOUBLE|BINARY|VARIANT|ARRAY|MAP|STRUCT)/
