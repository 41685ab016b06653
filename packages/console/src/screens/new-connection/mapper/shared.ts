import type { Preview } from '@penstock/wire'
import type { MappingChoice } from '../mapping/mapping.ts'

/** Columns to pick from. */
export type Sources = {
  /** The columns of the source; undefined while they are not known, and their names are typed. */
  readonly columns: readonly string[] | undefined
  /** Records under the columns of the source. */
  readonly samples: Preview | undefined
}

/** Sets the source of a field. */
export type OnSet = (field: string, choice: MappingChoice) => void

/** A few values of a column as a preview shows them, to recognise it. */
export function sampleOf(samples: Preview | undefined, column: string): string {
  const index = samples?.columns.indexOf(column) ?? -1
  if (!samples || index < 0) return ''
  const values = samples.rows.map((row) => row[index]).filter((value): value is string => Boolean(value))
  return [...new Set(values)].slice(0, 3).join(', ')
}
