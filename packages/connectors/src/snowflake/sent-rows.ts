import type { JudgedRow } from '../kit/warehouse/rows.ts'
import type { SnowflakeTargetColumn } from './target-columns.ts'

/** Rows as they are sent to Snowflake: a binding with a JSON array, in which each row is an array of texts and nulls. */

/** The rows of a binding, to follow `from`. */
export const flattened = 'table(flatten(input => parse_json(?))) as f'

/** SQL of the value of a column. @param index of its text in a row */
export const sentValue = ({ value }: Pick<SnowflakeTargetColumn, 'value'>, index: number): string =>
  value(`as_varchar(get(f.value, ${index}))`)

/** The same, under the name `c0`, `c1` and so on. */
export const valueAt = (column: Pick<SnowflakeTargetColumn, 'value'>, index: number): string =>
  `${sentValue(column, index)} as c${index}`

/** Rows as a binding. A row that must be removed has one more text. */
export const jsonOf = (rows: readonly JudgedRow[]): string =>
  JSON.stringify(rows.map(({ values, isRemoved }) => (isRemoved ? [...values, 'removed'] : values)))
