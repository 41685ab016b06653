import type { ColumnChange, ConnectionDetails } from '@penstock/wire'

/** Changed columns of one side with the same kind of change: a person decides about them together. */
export type ColumnGroup = Pick<ColumnChange, 'side' | 'change'> & {
  readonly key: string
  readonly columns: readonly ColumnChange[]
  /** Whether the table of the destination can get new columns. */
  readonly adds: boolean
  /** Whether the mapping names its columns, so that a renamed column keeps its name at the destination. */
  readonly mapped: boolean
}

const order = ['added', 'renamed', 'removed', 'retyped'] as const

/** @param hasTable whether the columns of the destination are known, as those of a table are */
export function columnGroupsOf(
  changes: readonly ColumnChange[],
  { destConnectionConfig }: Pick<ConnectionDetails, 'destConnectionConfig'>,
  hasTable: boolean,
): readonly ColumnGroup[] {
  const mapped = namesColumns(destConnectionConfig.mapping)
  return (['source', 'destination'] as const).flatMap((side) =>
    order.flatMap((change) => {
      const columns = changes.filter((one) => one.side === side && one.change === change)
      const adds = side === 'source' && change === 'added' && hasTable
      return columns.length === 0 ? [] : [{ key: `${side} ${change}`, side, change, columns, adds, mapped }]
    }),
  )
}

/** Whether a mapping has entries: without any, all columns pass. */
export function namesColumns(mapping: unknown): boolean {
  try {
    const read: unknown = JSON.parse(String(mapping ?? ''))
    return typeof read === 'object' && read !== null && Object.keys(read).length > 0
  } catch {
    return false
  }
}
