import type { Rejection, Row } from '@penstock/connector'
import pg from 'pg'
import { type KeyOf, keyBy, removeRows } from '../databases/removals.ts'
import { isRowError, reasonOf } from './errors.ts'
import { keysOf, type LoadJob } from './load.ts'

type RemovalJob = Pick<LoadJob, 'session' | 'table' | 'writers' | 'rows'>

/** Names, within a transaction, the rows that the table has under some keys by their own keys, as the database writes them (`DestinationWriter.nameKeys`). */
export async function nameKeys(
  job: Pick<LoadJob, 'session' | 'table' | 'writers'>,
  keys: readonly Row[],
): Promise<readonly (string | null)[]> {
  const { session, table, writers } = job
  const { given, names, values } = givenKeys(table)
  const texts = table.keys.map((at, place) => keys.map((key) => writers[at]?.write(key[place] ?? null) ?? null))
  await session.execute(['savepoint names'])
  try {
    const found = await session.rows(
      `select given.number::int as number, json_build_array(${textsOf(table)})::text as name
         from unnest(${given}) with ordinality as given (${names.join(', ')}, number)
         join ${table.name} as kept on (${keysOf(table, 'kept')}) = (${values.join(', ')})`,
      { number: 'integer', name: 'text' },
      texts,
    )
    const nameOf = new Map(found.map(({ number, name }) => [number, name]))
    return keys.map((_, i) => nameOf.get(i + 1) ?? null)
  } catch (error) {
    if (!isRowError(error)) throw error
    await session.execute(['rollback to savepoint names'])
    // No row has a key that its column does not take.
    if (keys.length === 1) return [null]
    const middle = keys.length >> 1
    return [...(await nameKeys(job, keys.slice(0, middle))), ...(await nameKeys(job, keys.slice(middle)))]
  }
}

/** Lists of texts as parameters of a statement, and what makes keys of them. */
function givenKeys({ keys, columns }: Pick<LoadJob['table'], 'keys' | 'columns'>) {
  const names = keys.map((_, place) => `k${place}`)
  return {
    given: keys.map((_, place) => `$${place + 1}::text[]`).join(', '),
    names,
    values: names.map((name, place) => `given.${name}::${columns[keys[place] ?? 0]?.type}`),
  }
}

const textsOf = ({ keys, columns }: LoadJob['table']): string =>
  keys.map((at) => `kept.${pg.escapeIdentifier(columns[at]?.name ?? '')}::text`).join(', ')

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
  const { keys } = table
  const { given, names, values } = givenKeys(table)
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
