import type { Rejection, Row } from '@penstock/connector'
import { type KeyOf, keyBy, removeRows } from '../databases/removals.ts'
import { rowErrorOf } from './errors.ts'
import { type InsertJob, rollBack, savepoint } from './insert.ts'
import { quoteName } from './plan.ts'
import { countIn, valueIn } from './raw-rows.ts'
import type { MysqlTable } from './table.ts'
import type { MysqlCellWriter } from './writers.ts'

type RemovalJob = Pick<InsertJob, 'session' | 'table' | 'writers' | 'rows'>

const removedAtOnce = 500

/** How the key of a row of a batch is written. */
export const keyIn = (job: Pick<InsertJob, 'table' | 'writers'>): KeyOf => keyBy((row) => keyTexts(job, row))

/** Removes rows by their keys, within a transaction. Answers the rows that the database does not give up. */
export const removeFromTable = (job: RemovalJob, indexes: readonly number[]): Promise<readonly Rejection[]> =>
  removeRows({ rows: job.rows, indexes, keyOf: keyIn(job), atOnce: removedAtOnce }, (some) => tryRemoving(job, some))

/** Rows that are looked for by one statement. */
const namedAtOnce = 250

/** Names the rows that the table has under some keys by their own keys, as the database writes them (`DestinationWriter.nameKeys`). */
export async function nameKeys(
  { session, table, writers }: Pick<InsertJob, 'session' | 'table' | 'writers'>,
  keys: readonly Row[],
): Promise<readonly (string | null)[]> {
  const names: (string | null)[] = keys.map(() => null)
  const texts = table.keys.map((at) => `hex(cast(${quoteName(table.columns[at]?.name ?? '')} as binary))`)
  const condition = (key: Row): string | undefined => {
    const written = table.keys.map((at, place) => writers[at]?.text(key[place] ?? null) ?? '')
    // The database would take such a text for another value, or no row has it.
    const isTaken = table.keys.every((at, place) => written[place] !== '' && !writers[at]?.doubt(written[place] ?? ''))
    return isTaken ? isKey(table, writers, written) : undefined
  }
  const asked = keys.flatMap((key, number) => {
    const found = condition(key)
    return found === undefined ? [] : [{ number, found }]
  })
  for (let at = 0; at < asked.length; at += namedAtOnce) {
    const parts = asked
      .slice(at, at + namedAtOnce)
      .map(
        ({ number, found }) =>
          `(select ${number} as number, concat_ws(',', ${texts.join(', ')}) as name from ${table.name} where ${found})`,
      )
    for (const row of await session.run(parts.join(' union all '))) {
      names[countIn(session.place.host, row, 'number')] = valueIn(session.place.host, row, 'name')
    }
  }
  return names
}

/** The condition that a row has a key, as the table compares it. */
const isKey = (
  { keys, columns }: Pick<MysqlTable, 'keys' | 'columns'>,
  writers: readonly MysqlCellWriter[],
  texts: readonly string[],
): string =>
  `(${keys.map((at, place) => `${quoteName(columns[at]?.name ?? '')} = ${writers[at]?.literal(texts[place] ?? '')}`).join(' and ')})`

const keyTexts = ({ table, writers }: Pick<InsertJob, 'table' | 'writers'>, row: Row): readonly string[] =>
  table.keys.map((at) => writers[at]?.text(row[at] ?? null) ?? '')

async function tryRemoving(job: RemovalJob, indexes: readonly number[]): Promise<string | undefined> {
  const { session, table, writers, rows } = job
  const conditions = indexes.map((index) => isKey(table, writers, keyTexts(job, rows[index] ?? [])))
  await session.run(savepoint)
  try {
    const sql = `delete from ${table.name} where ${conditions.join(' or ')}`
    const { warnings } = await session.change({ sql })
    if (warnings === 0) return undefined
    // A text that is no number would be taken for 0, whose row stays.
    await session.run(rollBack)
    return 'A value of the key is not of the type of its column.'
  } catch (error) {
    const problem = rowErrorOf(error, table.columns)
    if (!problem) throw error
    await session.run(rollBack)
    return problem.reason
  }
}
