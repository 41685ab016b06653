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
