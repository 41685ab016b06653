import type { ColumnChange } from '@penstock/wire'

/** A column of a side, as far as it is known. */
export type ShapeColumn = {
  readonly name: string
  /** In the words of the platform; `null` if it is unknown. */
  readonly type: string | null
  readonly required: boolean
  readonly key: boolean
}

/** The columns of a side. `columns` is limited; `count` and `digest` cover all columns. */
export type SideShape = { readonly columns: readonly ShapeColumn[]; readonly count: number; readonly digest: string }

/** The columns of both sides; `null` for a side that cannot be asked. */
export type Shape = {
  readonly source: SideShape | null
  readonly destination: SideShape | null
  /** Changes that a person accepted and that no transfer has followed yet. */
  readonly accepted?: readonly ColumnChange[]
  /** The accepted new columns of the source that are also added to the mapping and the table, as with `drift: add`. */
  readonly adds?: readonly string[]
}
