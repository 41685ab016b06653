import type { Preview } from '@penstock/wire'
import type { Lines } from '../mapping/mapping.ts'

/** State of both mapping editors. */
export type Editor = {
  readonly lines: Lines
  readonly onChange: (lines: Lines) => void
  /** The columns of the source; undefined while they are not known, and names are typed. */
  readonly columns: readonly string[] | undefined
  /** Records under the columns of the source. */
  readonly samples: Preview | undefined
  /** Errors of the service, by the names of the fields. */
  readonly fieldErrors: Readonly<Record<string, string>>
  /** Invalid input, by the number of the line. */
  readonly wrong: ReadonlyMap<number, { field?: string; column?: string }>
}

/** A few values of a column as a preview shows them, to recognise it. */
export function sampleOf(samples: Preview | undefined, column: string): string {
  const index = samples?.columns.indexOf(column) ?? -1
  if (!samples || index < 0) return ''
  const values = samples.rows.map((row) => row[index]).filter((value): value is string => Boolean(value))
  return [...new Set(values)].slice(0, 3).join(', ')
}
