import type { Cell, Chunk } from '@penstock/connector'
import { type ChangedRow, type ChangeSettings, removalsIn, rowsOfChange } from '../../databases/row-changes.ts'
import { cellOfText, type MysqlCellKind } from '../cells.ts'
import type { MysqlPlan } from '../plan.ts'
import { rowsOf } from '../read.ts'
import type { MysqlSession } from '../session.ts'
import { keyNotRead } from './charsets.ts'
import type { LoggedChange } from './stream.ts'

export type LoggedRows = ChangeSettings & {
  readonly plan: MysqlPlan
  /** Names of the columns that identify a row. */
  readonly keys: readonly string[]
  /** How long the server may send nothing, in milliseconds. */
  readonly waitMs: number
}

/** The columns that say what happened to a row. */
export const changeColumns = ['_operation', '_committed_time', '_position'] as const

/** The cells of `changeColumns` of a row that was copied. */
export const copiedCells: readonly Cell[] = ['copy', null, null]

/** How many rows are looked up at once: their columns may be large. */
const lookUpMax = 50

type Pending = ChangedRow<LoggedChange>
type FoundRow = { readonly cells: readonly Cell[]; readonly problem?: string }

/**
 * Makes rows of changes, in their order. A value that cannot be read from the log is the one that the row has now; if the row is not
 * there any more, the change is left out, since its removal follows.
 * @returns the rows, and the change of each
 * @param session beside the one that reads the changes
 */
export async function rowsOfChanges(
  changes: readonly LoggedChange[],
  table: LoggedRows,
  session: () => Promise<MysqlSession>,
): Promise<Pick<Chunk, 'rows' | 'removed' | 'errors' | 'bytes'> & { readonly changes: readonly LoggedChange[] }> {
  const { plan, deletes, withChange, keys } = table
  const pending = changes.flatMap((change) => rowsOfChange(change, { keys, deletes }))
  for (const { operation, values } of pending) {
    const unknown = operation === 'truncate' ? undefined : keys.find((key) => !values.has(key))
    if (unknown !== undefined) throw keyNotRead(unknown)
  }
  const lacks = ({ operation, values }: Pending) =>
    (operation === 'insert' || operation === 'update') && plan.columns.some((name) => !values.has(name))
  const found = await lookUp(pending.filter(lacks), table, session)
  const kept = pending.filter((one) => !lacks(one) || found.has(keyOf(one.values, keys)))
  const errors = new Map<number, string>()
  const rows = kept.map((one, index) => {
    const now = lacks(one) ? found.get(keyOf(one.values, keys)) : undefined
    if (now?.problem !== undefined) errors.set(index, now.problem)
    const cells = plan.columns.map((name, at) => {
      const text = one.values.get(name)
      if (text === undefined) return now?.cells[at] ?? null
      return text === null ? null : cellOfText(text, plan.kinds[at] ?? 'text')
    })
    if (!withChange) return cells
    return [...cells, one.operation, new Date(one.change.committedMs).toISOString(), one.change.place]
  })
  const removed = removalsIn(kept, deletes)
  return {
    rows,
    changes: kept.map(({ change }) => change),
    ...(removed.size > 0 && { removed }),
    ...(errors.size > 0 && { errors }),
    bytes: changes.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

const keyOf = (values: ReadonlyMap<string, string | null>, keys: readonly string[]): string =>
  JSON.stringify(keys.map((key) => values.get(key) ?? null))

/**
 * The rows as they are now, by their keys. The read takes a lock for its time, so that it waits for a transaction that is in the log
 * already and still being committed.
 */
async function lookUp(
  lacking: readonly Pending[],
  { plan, keys, waitMs }: LoggedRows,
  session: () => Promise<MysqlSession>,
): Promise<ReadonlyMap<string, FoundRow>> {
  const found = new Map<string, FoundRow>()
  const wanted = [...new Map(lacking.map(({ values }) => [keyOf(values, keys), values])).values()]
  const kinds = keys.map((key) => plan.kinds[plan.columns.indexOf(key)] ?? 'text')
  const terms = plan.order.map(({ expression }) => expression).join(', ')
  for (let at = 0; at < wanted.length; at += lookUpMax) {
    const tuples = wanted.slice(at, at + lookUpMax).map((values) => {
      const literals = plan.order.map(({ literal }, place) =>
        literal(orderText(values.get(keys[place] ?? '') ?? '', kinds[place])),
      )
      return `(${literals.join(', ')})`
    })
    const helper = await session()
    const statement = `${plan.select} where (${terms}) in (${tuples.join(', ')}) lock in share mode`
    for await (const rows of rowsOf(helper, plan, statement, waitMs)) {
      for (const { spot, cells, problem } of rows) {
        found.set(JSON.stringify(spot.map((text, place) => cellText(text, kinds[place]))), {
          cells,
          ...(problem !== undefined && { problem }),
        })
      }
    }
  }
  return found
}

/** Bytes are compared as hexadecimal digits alone. */
const orderText = (text: string, kind: MysqlCellKind | undefined): string => (kind === 'bytes' ? text.slice(2) : text)

const cellText = (text: string | null, kind: MysqlCellKind | undefined): string | null =>
  text !== null && kind === 'bytes' ? `\\x${text.toLowerCase()}` : text
