import { randomUUID } from 'node:crypto'
import type { Batch, BatchWindow } from '@penstock/connector'
import pg from 'pg'
import { keysOf } from './load.ts'
import type { PostgresSession } from './session.ts'
import type { PostgresTable } from './table.ts'

const { escapeIdentifier, escapeLiteral } = pg

/**
 * Refused for lack of a permission, because other tables refer to a row, or because no row can have the values; or the temporary
 * table is that of another session, to which a pool led. The rows then stay.
 */
const tolerated = /^(42501|42P01|22|23|0A)/

/** The keys of a window that were written so far, in a temporary table of the session. */
type Known = { readonly scope: string; readonly id: string; readonly session: PostgresSession; readonly keys: number }

/**
 * Deletes rows that are not in a window any more, in the transaction of the window's last batch. The keys of a window of one batch
 * are in the table from which that was written. Those of several are collected in a temporary table, which is lost with the
 * session: then nothing is deleted.
 */
export class PostgresWindows {
  #known: Known | undefined

  /**
   * Called in the transaction of a batch, after its rows.
   * @param isWhole whether all rows of the batch were written together, so that the staging table has them
   * @returns settles what is known, once the transaction is committed
   */
  async replace(
    session: PostgresSession,
    table: PostgresTable,
    { window, rows }: Batch,
    isWhole: boolean,
  ): Promise<() => void> {
    const forget = () => {
      this.#known = undefined
    }
    if (!window || window.spoiled || !isWhole) return forget
    if (window.begins && window.ends) {
      const absent = rows.length === 0 ? 'true' : notIn(table, 'pg_temp.penstock_stage', 'c')
      await deleteRows(session, table, window, absent)
      return forget
    }
    const known = window.begins ? await this.#begin(session, table, window) : this.#known
    if (known?.session !== session || known.scope !== scopeOf(window)) return forget
    const columns = table.keys.map((at) => `c${at}`).join(', ')
    const insert = `insert into pg_temp.penstock_window select ${escapeLiteral(known.id)}, ${columns} from pg_temp.penstock_stage`
    const added = rows.length === 0 ? 0 : await attempt(session, insert)
    if (added === undefined) return forget
    const keys = known.keys + added
    if (!window.ends) {
      return () => {
        this.#known = { ...known, keys }
      }
    }
    // A pool between here and the server may lead to a session whose table is another one.
    const isAll = `(select count(*) from pg_temp.penstock_window where penstock_id = ${escapeLiteral(known.id)}) = ${keys}`
    await deleteRows(session, table, window, `${isAll} and ${notIn(table, 'pg_temp.penstock_window', 'c')}`)
    await session.execute(['drop table if exists pg_temp.penstock_window'])
    return forget
  }

  async #begin(session: PostgresSession, table: PostgresTable, window: BatchWindow): Promise<Known> {
    const columns = table.keys.map((at) => `c${at} ${table.columns[at]?.fullType}`)
    await session.execute([
      'drop table if exists pg_temp.penstock_window',
      `create temp table penstock_window (penstock_id text, ${columns.join(', ')})`,
    ])
    return { scope: scopeOf(window), id: randomUUID(), session, keys: 0 }
  }
}

const scopeOf = ({ scope }: BatchWindow): string => JSON.stringify(scope)

/** That a row's key is not in a temporary table. */
const notIn = (table: PostgresTable, keys: string, prefix: string): string =>
  `not exists (select from ${keys} as known where (${table.keys.map((at) => `known.${prefix}${at}`).join(', ')}) = (${keysOf(table, 'kept')}))`

/** Deletes the rows of a scope for which a condition holds. */
async function deleteRows(
  session: PostgresSession,
  table: PostgresTable,
  { scope }: BatchWindow,
  condition: string,
): Promise<void> {
  const within = Object.entries(scope).map(
    ([column, values]) => `kept.${escapeIdentifier(column)} in (${values.map(escapeLiteral).join(', ')})`,
  )
  await attempt(session, `delete from ${table.name} as kept where ${[...within, condition].join(' and ')}`)
}

/** Runs a statement, and resolves with the number of its rows; with `undefined` if it was refused, and undone. */
async function attempt(session: PostgresSession, statement: string): Promise<number | undefined> {
  await session.execute(['savepoint penstock_window'])
  try {
    const [rows = 0] = await session.execute([statement])
    return rows
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || !tolerated.test(error.code ?? '')) throw error
    await session.execute(['rollback to savepoint penstock_window'])
    return undefined
  }
}
