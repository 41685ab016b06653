import type { Values } from '@penstock/connector'

/** A change of a row in the log of a database, or of all rows of its table. */
export type TableChange = {
  readonly kind: 'insert' | 'update' | 'delete' | 'truncate'
  /** Texts by name of the column; a column that is not in it was not sent. */
  readonly values: ReadonlyMap<string, string | null>
  /** Of an update: the row as it was, as far as it was sent. */
  readonly before?: ReadonlyMap<string, string | null>
  /** Unix time in milliseconds, by the clock of the server. */
  readonly committedMs: number
  readonly bytes: number
}

/** How removed rows are dealt with: they are removed, a row says so, or nothing happens. */
export type Deletes = 'remove' | 'add' | 'skip'

/** A row that a change gives. */
export type ChangedRow<Change extends TableChange> = {
  readonly change: Change
  readonly operation: string
  readonly values: Map<string, string | null>
}

/** The rows that a change gives: an update that gives a row another key is a removal and an update. */
export function rowsOfChange<Change extends TableChange>(
  change: Change,
  { keys, deletes }: { readonly keys: readonly string[]; readonly deletes: Deletes },
): ChangedRow<Change>[] {
  const { kind, values, before } = change
  const gives = (operation: string, of: ReadonlyMap<string, string | null>): ChangedRow<Change> => ({
    change,
    operation,
    values: new Map(of),
  })
  if (kind === 'insert') return [gives(kind, values)]
  if (kind === 'update') {
    const isMoved = before && keys.some((key) => before.has(key) && before.get(key) !== values.get(key))
    return [...(isMoved && deletes !== 'skip' ? [gives('delete', before)] : []), gives(kind, values)]
  }
  return deletes === 'skip' ? [] : [gives(kind, values)]
}

/** Indexes of the rows that are removed at the destination. */
export const removalsIn = (rows: readonly { readonly operation: string }[], deletes: Deletes): ReadonlySet<number> =>
  new Set(deletes === 'remove' ? rows.flatMap(({ operation }, at) => (operation === 'delete' ? [at] : [])) : [])

/**
 * The place behind the first rows of some changes: behind the last change that has all of its rows among them.
 * @param changes of which each row is one, in the order of the rows
 * @param rows how many rows
 * @param places behind each change, before all of them, and behind all of them
 */
export function placeBehind<Change, Place>(
  changes: readonly Change[],
  rows: number,
  places: { readonly behind: ReadonlyMap<Change, Place>; readonly begin: Place; readonly end: Place },
): Place {
  if (rows >= changes.length) return places.end
  const last = changes.slice(0, rows).findLast((change) => change !== changes[rows])
  return (last && places.behind.get(last)) ?? places.begin
}

/** How a source of changes was set up: with the fields of `changeFields`. */
export type ChangeSettings = {
  readonly deletes: Deletes
  /** Whether rows also say what happened to them. */
  readonly withChange: boolean
  /** After about so many changes a transfer ends. */
  readonly changesMax: number
}

const changesMaxDefault = 1_000_000

/** Reads the settings of `changeFields`. */
export function changeSettingsOf({ deletes: removed, changeColumns, changesMax }: Values): ChangeSettings {
  const deletes = removed === 'Add' ? 'add' : removed === 'Skip' ? 'skip' : 'remove'
  return {
    deletes,
    withChange: changeColumns === true || deletes === 'add',
    changesMax: typeof changesMax === 'number' ? changesMax : changesMaxDefault,
  }
}
