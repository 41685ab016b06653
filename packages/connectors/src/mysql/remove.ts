import type { Rejection, Row } from '@penstock/connector'
import { type KeyOf, keyBy, removeRows } from '../databases/removals.ts'
import { rowErrorOf } from './errors.ts'
import { type InsertJob, rollBack, savepoint } from './insert.ts'
import { quoteName } from './plan.ts'

type RemovalJob = Pick<InsertJob, 'session' | 'table' | 'writers' | 'rows'>

const removedAtOnce = 500

/** How the key of a row of a batch is written. */
export const keyIn = (job: Pick<InsertJob, 'table' | 'writers'>): KeyOf => keyBy((row) => keyTexts(job, row))

/** Removes rows by their keys, within a transaction. Answers the rows that the database does not give up. */
export const removeFromTable = (job: RemovalJob, indexes: readonly number[]): Promise<readonly Rejection[]> =>
  removeRows({ rows: job.rows, indexes, keyOf: keyIn(job), atOnce: removedAtOnce }, (some) => tryRemoving(job, some))

const keyTexts = ({ table, writers }: Pick<InsertJob, 'table' | 'writers'>, row: Row): readonly string[] =>
  table.keys.map((at) => writers[at]?.text(row[at] ?? null) ?? '')

async function tryRemoving(job: RemovalJob, indexes: readonly number[]): Promise<string | undefined> {
  const { session, table, writers, rows } = job
  const names = table.keys.map((at) => quoteName(table.columns[at]?.name ?? ''))
  const tuples = indexes.map((index) => {
    const texts = keyTexts(job, rows[index] ?? [])
    return `(${table.keys.map((at, place) => writers[at]?.literal(texts[place] ?? '')).join(',')})`
  })
  await session.run(savepoint)
  try {
    const sql = `delete from ${table.name} where (${names.join(', ')}) in (${tuples.join(',')})`
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
