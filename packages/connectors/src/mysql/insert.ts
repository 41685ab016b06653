import type { Rejection, Row } from '@penstock/connector'
import { rowErrorOf } from './errors.ts'
import { quoteName } from './plan.ts'
import type { Changed, MysqlSession } from './session.ts'
import type { MysqlTable } from './table.ts'
import type { MysqlCellWriter } from './writers.ts'

/** Rows that are to be written, and what with. */
export type InsertJob = {
  readonly session: MysqlSession
  readonly table: MysqlTable
  readonly writers: readonly MysqlCellWriter[]
  readonly rows: readonly Row[]
  /** Indexes of the rows that are written. */
  readonly picked: readonly number[]
  /** The most bytes of a statement that the server accepts. */
  readonly packetBytes: number
}

export type InsertedRows = { readonly bytes: number; readonly rejected: readonly Rejection[] }

const statementRows = 2_000
const statementBytes = 1024 * 1024
/** So many rows are tried at once where a statement failed. */
const groupRows = 64
const fieldErrorsMax = 4

type Tuple = { readonly index: number; readonly text: string }

/**
 * Writes rows by statements of many rows, in their order, so that of equal keys the last one wins. A statement that
 * fails has done nothing; its rows are then tried in groups, and the groups that fail around the row that is to blame.
 */
export async function insertRows(job: InsertJob): Promise<InsertedRows> {
  const { picked, packetBytes } = job
  const rejected: Rejection[] = []
  const limit = Math.min(statementBytes, Math.floor(packetBytes / 4))
  let bytes = 0
  let tuples: Tuple[] = []
  let length = 0
  const flush = async () => {
    if (tuples.length > 0) bytes += await insertAll(job, tuples, rejected)
    tuples = []
    length = 0
  }
  for (const index of picked) {
    const text = tupleOf(job, index, rejected)
    if (text === undefined) continue
    if (length + text.length > limit) await flush()
    tuples.push({ index, text })
    length += text.length
    if (tuples.length >= statementRows) await flush()
  }
  await flush()
  return { bytes, rejected }
}

/** A row as text of a statement; `undefined` if it is rejected without asking the server. */
function tupleOf(
  { table, writers, rows, packetBytes }: InsertJob,
  index: number,
  rejected: Rejection[],
): string | undefined {
  const row = rows[index] ?? []
  let text = '('
  for (let at = 0; at < writers.length; at += 1) {
    const writer = writers[at]
    const value = writer?.text(row[at] ?? null) ?? null
    if (table.keys.length > 0 && (value ?? '') === '' && table.keys.includes(at)) {
      const field = table.columns[at]?.name ?? ''
      rejected.push({ index, field, reason: `There is no value for ${field}, by which the row would be found again.` })
      return undefined
    }
    text += `${at > 0 ? ',' : ''}${value === null ? 'null' : writer?.literal(value)}`
  }
  // A statement that is too large would end the connection. A character has at most three bytes here.
  if (text.length * 3 > packetBytes - 10_000) {
    rejected.push({ index, reason: 'The row is too large for one statement of the server.' })
    return undefined
  }
  return `${text})`
}

/** Inserts the rows of one statement, except rows that the server rejects. Resolves with the number of bytes sent. */
async function insertAll(job: InsertJob, tuples: readonly Tuple[], rejected: Rejection[]): Promise<number> {
  if ((await attempt(job, tuples)) === undefined) return bytesOf(tuples)
  for (let at = 0; at < tuples.length; at += groupRows) {
    await place(job, tuples.slice(at, at + groupRows), rejected, rejected.length + fieldErrorsMax)
  }
  return bytesOf(tuples)
}

/**
 * Inserts rows, except rows that the server rejects.
 * @param alone number of rejections from which rows are tried one by one, because most seem to be bad
 */
async function place(job: InsertJob, tuples: readonly Tuple[], rejected: Rejection[], alone: number): Promise<void> {
  const [first] = tuples
  if (!first) return
  if (tuples.length > 1 && rejected.length >= alone) {
    for (const tuple of tuples) await place(job, [tuple], rejected, alone)
    return
  }
  const problem = await attempt(job, tuples)
  if (problem === undefined) return
  if (tuples.length === 1) {
    const { reason, field } = problem
    rejected.push({ index: first.index, reason, ...(field === undefined ? {} : { field }) })
    return
  }
  // Some errors say at which row; that one is tried alone, so that it is not rejected for another's error.
  const named = problem.at !== undefined && problem.at >= 0 && problem.at < tuples.length
  const at = named ? (problem.at ?? 0) : Math.floor(tuples.length / 2)
  await place(job, tuples.slice(0, at), rejected, alone)
  await place(job, tuples.slice(at, named ? at + 1 : undefined), rejected, alone)
  if (named) await place(job, tuples.slice(at + 1), rejected, alone)
}

export const savepoint = 'savepoint penstock_rows'
export const rollBack = 'rollback to savepoint penstock_rows'

/** Runs one statement for these rows; answers why the server did not accept one of them, and none thereby. */
async function attempt(
  { session, table }: InsertJob,
  tuples: readonly Tuple[],
): Promise<ReturnType<typeof rowErrorOf>> {
  const values = tuples.map(({ text }) => text).join(',')
  await session.run(savepoint)
  let changed: Changed
  try {
    changed = await session.change({
      sql: insertStatement(table, values),
    })
  } catch (error) {
    const problem = rowErrorOf(error, table.columns)
    if (!problem) throw error
    return problem
  }
  const problem = (await warned(session, table, changed)) ?? lostIn(table, changed, tuples.length)
  if (problem) await session.run(rollBack)
  return problem
}

/** The warning about a value that the server has changed. Ignores others, such as warnings of deprecation. */
async function warned(
  { run }: MysqlSession,
  { columns }: MysqlTable,
  { warnings }: Changed,
): Promise<ReturnType<typeof rowErrorOf>> {
  if (warnings === 0) return undefined
  const found = await run('show warnings')
  for (const { Code, Message } of found) {
    const problem = rowErrorOf({ errno: Number(Code), sqlState: '', message: Message ?? '' }, columns)
    if (problem) return problem
  }
  return undefined
}

/** By the server's own count: an upsert counts a row that it changes twice. */
function lostIn({ keys }: MysqlTable, { rows }: Changed, sent: number): ReturnType<typeof rowErrorOf> {
  if (rows >= sent && rows <= (keys.length > 0 ? 2 * sent : sent)) return undefined
  return { reason: 'The server did not write the row, and does not say why.' }
}

/** @param values the rows as text of a statement */
export const insertStatement = (table: MysqlTable, values: string): string =>
  `insert into ${table.name} (${namesOf(table)}) values ${values}${onDuplicate(table)}`

export const namesOf = ({ columns }: MysqlTable): string => columns.map(({ name }) => quoteName(name)).join(', ')

function onDuplicate({ columns, keys }: MysqlTable): string {
  if (keys.length === 0) return ''
  const names = columns.map(({ name }) => quoteName(name))
  const changed = names.filter((_, at) => !keys.includes(at))
  // Where every column is the key, the row stays as it is.
  const set = changed.length > 0 ? changed : names.slice(0, 1)
  return ` on duplicate key update ${set.map((name) => `${name} = values(${name})`).join(', ')}`
}

const bytesOf = (tuples: readonly Tuple[]): number =>
  tuples.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0)
