import type { Batch, WindowScope } from '@penstock/connector'
import { deleteOthersSql, latestSql, mergeSql, unionOf } from '../kit/warehouse/merge.ts'
import { scopeCondition } from '../kit/warehouse/windows.ts'
import { parameterTypeOf } from './cells.ts'
import type { Parameter } from './jobs.ts'
import { quoteName } from './plan.ts'
import { type BigQueryTarget, nameOf } from './target.ts'
import type { TargetField } from './target-values.ts'

type Merged = { readonly target: BigQueryTarget; readonly columns: readonly TargetField[] }

/** A statement as the configuration of a job. */
type StatementJob = { readonly query: object; readonly labels: object }

const labels = { tool: 'penstock' }

/** A job that runs a statement of GoogleSQL. */
export const jobOf = (query: string, parameters: readonly Parameter[] = []): StatementJob => ({
  query: {
    query,
    useLegacySql: false,
    ...(parameters.length > 0 && {
      parameterMode: 'NAMED',
      queryParameters: parameters.map(({ name, type, value }) => ({
        name,
        parameterType: { type },
        parameterValue: { value },
      })),
    }),
  },
  labels,
})

/**
 * Merges the rows of a staging table.
 * @param isReplaced whether the table has all rows of the batch's window. The same statement then deletes the other rows of its
 * scope
 * @param removes whether the table has rows that must be removed
 */
export function mergeOf(
  { target, columns }: Merged,
  staging: string,
  { columns: names, window }: Batch,
  { isReplaced, removes }: { readonly isReplaced: boolean; readonly removes: boolean },
): StatementJob {
  const within = isReplaced && window ? scopeOf(columns, names, window.scope) : undefined
  const text = mergeSql({
    into: nameOf(target, target.table),
    columns: quoted(columns),
    rows: latestSql(nameOf(target, staging), quoted(columns)),
    removes,
    within: within?.condition,
  })
  return jobOf(text, within?.parameters)
}

/**
 * Deletes the rows of a window whose keys are not in any of some staging tables. `undefined` if the window cannot have rows.
 */
export function deleteOthersOf(
  { target, columns }: Merged,
  { columns: names, window }: Batch,
  stagings: readonly string[],
): StatementJob | undefined {
  const within = window && scopeOf(columns, names, window.scope)
  if (!within) return undefined
  const keys = columns.filter(({ isKey }) => isKey).map(({ name }) => quoteName(name))
  const text = deleteOthersSql({
    from: `${nameOf(target, target.table)} as T`,
    prefix: 'T.',
    columns: quoted(columns),
    within: within.condition,
    keys: unionOf(stagings.map((staging) => `select ${keys.join(', ')} from ${nameOf(target, staging)}`)),
  })
  return jobOf(text, within.parameters)
}

const quoted = (columns: readonly TargetField[]) => columns.map(({ name, isKey }) => ({ name: quoteName(name), isKey }))

/** The condition of a scope, with typed parameters, so that partitions outside of it are not read. */
function scopeOf(
  columns: readonly TargetField[],
  names: readonly string[],
  scope: WindowScope,
): { readonly condition: string; readonly parameters: readonly Parameter[] } | undefined {
  const parameters: Parameter[] = []
  const condition = scopeCondition(
    scope,
    names,
    columns,
    ({ name }) => `T.${quoteName(name)}`,
    (column, text) => {
      if (!isCompared(column)) return undefined
      const name = `penstock_${parameters.length}`
      const type = parameterTypeOf({ ...column, fields: [] })
      parameters.push({ name, type, value: text })
      return `@${name}`
    },
  )
  return condition === undefined ? undefined : { condition, parameters }
}

const isCompared = ({ type, repeated }: TargetField): boolean =>
  !repeated && /^(INTEGER|NUMERIC|BIGNUMERIC|BOOLEAN|STRING|DATE|TIME|DATETIME|TIMESTAMP)$/.test(type)
