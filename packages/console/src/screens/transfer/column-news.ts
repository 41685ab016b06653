import type { ColumnChange, ConnectionEvent } from '@penstock/wire'
import { columnChanges as say } from '../../strings/column-changes.ts'

/** Columns that changed without stopping a transfer, in sentences. */

const order = ['added', 'renamed', 'removed', 'retyped'] as const

type News = {
  /** The table of the destination, or the name of its connector. */
  readonly table: string
  /** Whether the mapping names its columns, so that new ones are not sent unless they are added to it. */
  readonly mapped: boolean
}

/** A sentence for each kind of change. A new column that the destination got is one of the source, too: it is said once. */
export function columnNewsOf(changes: readonly ColumnChange[], { table, mapped }: News): readonly string[] {
  const isGot = ({ side, change, column }: ColumnChange) =>
    side === 'source' &&
    change === 'added' &&
    changes.some((one) => one.side === 'destination' && one.change === 'added' && same(one.column, column))
  const told = changes.filter((one) => !isGot(one))
  return (['destination', 'source'] as const).flatMap((side) =>
    order.flatMap((change) => {
      const columns = told.filter((one) => one.side === side && one.change === change)
      if (columns.length === 0) return []
      return [say.news[side][change](columns.length, columns.map(typed).join(', '), table, mapped)]
    }),
  )
}

const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

function typed({ change, column, from, to }: ColumnChange): string {
  if (change === 'renamed') return say.from(column, to ?? '')
  if (change === 'retyped') return `${column} ${say.from(from ?? '', to ?? '')}`
  const type = change === 'added' ? to : from
  return type === null || type === column ? column : `${column} (${type})`
}

/** The changes that events of the history have: those of one transfer have the same time. */
export function newestChanges(
  events: readonly ConnectionEvent[],
): { readonly time: number; readonly changes: readonly ColumnChange[] } | undefined {
  const newest = events.find(({ kind }) => kind === 'columns')
  if (!newest) return undefined
  const changes = events
    .filter(({ kind, time }) => kind === 'columns' && time === newest.time)
    .flatMap(({ to: side, changes: list }) =>
      (list ?? []).map(
        ({ key, from, to }): ColumnChange => ({
          side: side?.toLowerCase() === 'destination' ? 'destination' : 'source',
          // The history has no kinds: a name without a former one is new.
          change: from === null ? 'added' : to === null ? 'removed' : from === key ? 'renamed' : 'retyped',
          column: key,
          from,
          to,
        }),
      ),
    )
  return { time: newest.time, changes }
}
