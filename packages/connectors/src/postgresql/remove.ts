import type { Rejection } from '@penstock/connector'
import type pg from 'pg'
import { type KeyOf, keyBy, removeRows } from '../databases/removals.ts'
import { isRowError, reasonOf } from './errors.ts'
import { keysOf, type LoadJob } from './load.ts'

type RemovalJob = Pick<LoadJob, 'session' | 'table' | 'writers' | 'rows'>

const removedAtOnce = 1_000

/** How the key of a row of a batch is written. */
export const keyIn = ({ table, writers }: Pick<LoadJob, 'table' | 'writers'>): KeyOf =>
  keyBy((row) => table.keys.map((at) => writers[at]?.write(row[at] ?? null) ?? ''))

/** Removes rows by their keys, within a transaction. Answers the rows that the database does not give up. */
export const removeFromTable = (job: RemovalJob, indexes: readonly number[]): Promise<readonly Rejection[]> =>
  removeRows({ rows: job.rows, indexes, keyOf: keyIn(job), atOnce: removedAtOnce }, (some) => tryRemoving(job, some))

async function tryRemoving(
  { session, table, writers, rows }: RemovalJob,
  indexes: readonly number[],
): Promise<string | undefined> {
  const { keys, columns } = table
  const given = keys.map((_, place) => `$${place + 1}::text[]`).join(', ')
  const names = keys.map((_, place) => `k${place}`)
  const values = names.map((name, place) => `given.${name}::${columns[keys[place] ?? 0]?.type}`)
  await session.execute(['savepoint removal'])
  try {
    const texts = keys.map((key) => indexes.map((index) => writers[key]?.write(rows[index]?.[key] ?? null) ?? null))
    await session.rows(
      `delete from ${table.name} as kept using unnest(${given}) as given (${names.join(', ')})
        where (${keysOf(table, 'kept')}) = (${values.join(', ')})`,
      {},
      texts,
    )
    await session.execute(['release savepoint removal'])
    return undefined
  } catch (error) {
    if (!isRowError(error)) throw error
    await session.execute(['rollback to savepoint removal'])
    const { code = '', constraint } = error as pg.DatabaseError
    if (code !== '23503') return reasonOf(session.redact(code, 5))
    const by = constraint === undefined ? 'a foreign key' : `the foreign key ${session.redact(constraint, 200)}`
    return `Another row refers to this one, by ${by}.`
  }
}
