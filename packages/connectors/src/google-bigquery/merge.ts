import type { Batch, BatchWindow, WindowScope } from '@penstock/connector'
import { scopeCondition } from '../databases/staged-windows.ts'
import { parameterTypeOf } from './cells.ts'
import type { Parameter } from './jobs.ts'
import { quoteName } from './plan.ts'
import { type BigQueryTarget, nameOf } from './target.ts'
import type { TargetField } from './target-values.ts'

/** The number of a row in its batch, in the table that an upsert merges from. */
export const rowNumber = 'penstock_row'
/** Whether a row is to be removed, in that table; no value if it is not. */
export const rowRemoved = 'penstock_removed'

type Merged = { readonly target: BigQueryTarget; readonly table: { readonly columns: readonly TargetField[] } }

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
 * Of several rows with the same key, the last one of the batch counts: a MERGE with two rows for one would fail.
 * @param window whose rows are all in the staging table; the same statement deletes the others of its scope
 * @param removes whether the staging table has rows that are to be removed
 */
export function mergeOf(
  merged: Merged,
  staging: string,
  names: readonly string[],
  { window, removes }: { readonly window: BatchWindow | undefined; readonly removes: boolean },
): StatementJob {
  const { target, table } = merged
  const { keys, others } = keysOf(merged)
  const all = table.columns.map(({ name }) => quoteName(name))
  const set = others.map((name) => `${name} = S.${name}`).join(', ')
  const within = window && scopeOf(merged, names, window.scope)
  return jobOf(
    `merge into ${nameOf(target, target.table)} as T
    using (select * from ${nameOf(target, staging)} where true
      qualify row_number() over (partition by ${keys.join(', ')} order by ${rowNumber} desc) = 1) as S
    on ${isSame(keys)}
    ${removes ? `when matched and S.${rowRemoved} then delete` : ''}
    ${others.length === 0 ? '' : `when matched then update set ${set}`}
    when not matched ${removes ? `and S.${rowRemoved} is null ` : ''}then insert (${all.join(', ')}) values (${all.map((name) => `S.${name}`).join(', ')})
    ${within ? `when not matched by source and ${within.condition} then delete` : ''}`,
    within?.parameters,
  )
}

/** Deletes the rows of a window whose keys are in none of some staging tables; `undefined` if it can have no rows. */
export function deleteOthersOf(
  merged: Merged,
  { columns, window }: Batch,
  stagings: readonly string[],
): StatementJob | undefined {
  const within = window && scopeOf(merged, columns, window.scope)
  if (!within) return undefined
  const { keys } = keysOf(merged)
  const staged = stagings.map((staging) => `select ${keys.join(', ')} from ${nameOf(merged.target, staging)}`)
  const absent =
    staged.length === 0
      ? ''
      : ` and not exists (select 1 from (${staged.join(' union all ')}) as S where ${isSame(keys)})`
  return jobOf(
    `delete from ${nameOf(merged.target, merged.target.table)} as T where ${within.condition}${absent}`,
    within.parameters,
  )
}

const isSame = (keys: readonly string[]): string => keys.map((name) => `T.${name} = S.${name}`).join(' and ')

/** Quoted: the columns of the key, and all others. */
function keysOf({ target, table: { columns } }: Merged): { keys: string[]; others: string[] } {
  const isKey = ({ name }: TargetField) => target.keys.some((key) => key.toLowerCase() === name.toLowerCase())
  return {
    keys: columns.filter(isKey).map(({ name }) => quoteName(name)),
    others: columns.filter((column) => !isKey(column)).map(({ name }) => quoteName(name)),
  }
}

/** The condition of a scope, with typed parameters, so that partitions outside of it are not read. */
function scopeOf(
  { table: { columns } }: Merged,
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
      const read = column.read(text)
      if ('reason' in read || read.value === null || !isCompared(column)) return undefined
      const name = `penstock_${parameters.length}`
      const type = parameterTypeOf({ ...column, fields: [] })
      parameters.push({ name, type, value: String(read.value) })
      return `@${name}`
    },
  )
  return condition === undefined ? undefined : { condition, parameters }
}

const isCompared = ({ type, repeated }: TargetField): boolean =>
  !repeated && /^(INTEGER|NUMERIC|BIGNUMERIC|BOOLEAN|STRING|DATE|TIME|DATETIME|TIMESTAMP)$/.test(type)
