import type { Rejection, Row, RowFault } from '@penstock/connector'
import pg from 'pg'
import { encodeRows } from '../databases/tab-separated.ts'
import { copyIn } from './copy.ts'
import type { PostgresSession } from './session.ts'
import type { PostgresTable } from './table.ts'
import { halfCharacter, type PostgresCellWriter } from './writers.ts'

const { escapeIdentifier } = pg

/** Rows that are to be written, and what with. */
export type LoadJob = {
  readonly session: PostgresSession
  readonly table: PostgresTable
  readonly writers: readonly PostgresCellWriter[]
  readonly rows: readonly Row[]
  /** Indexes of the rows to write; by default all. */
  readonly picked: readonly number[] | undefined
}

/**
 * Finds the rows that the database would take for something else than they are: a key without a value, by which an upsert
 * would not find the row again; what a writer finds; and half a character, if that is asked for.
 * @param halves whether every text is looked at for half a character; `load` throws if there is one
 */
export function unwritable(
  { columns, keys }: PostgresTable,
  writers: readonly PostgresCellWriter[],
  rows: readonly Row[],
  { halves }: { halves: boolean },
): { rejected: readonly Rejection[]; picked: readonly number[] | undefined } {
  const watched = writers.flatMap(({ problemOf }, at) => (problemOf || halves ? [{ at, problemOf }] : []))
  if (watched.length === 0 && keys.length === 0) return { rejected: [], picked: undefined }
  const problemsOf = (row: Row): readonly RowFault[] => {
    let faults = noFaults
    const add = (at: number, reason: string) => {
      faults = [...faults, { field: columns[at]?.name ?? '', reason }]
    }
    for (const { at, problemOf } of watched) {
      const cell = row[at] ?? null
      const reason = halves && typeof cell === 'string' && !cell.isWellFormed() ? halfCharacter : problemOf?.(cell)
      if (reason !== undefined) add(at, reason)
    }
    for (const at of keys) {
      if ((writers[at]?.write(row[at] ?? null) ?? '') !== '') continue
      add(at, `There is no value for ${columns[at]?.name ?? ''}, by which the row would be found again.`)
    }
    return faults
  }
  const rejected: Rejection[] = []
  for (let index = 0; index < rows.length; index += 1) {
    const [first, ...others] = problemsOf(rows[index] ?? [])
    if (first) rejected.push({ index, ...first, ...(others.length > 0 && { others }) })
  }
  if (rejected.length === 0) return { rejected, picked: undefined }
  const refused = new Set(rejected.map(({ index }) => index))
  return { rejected, picked: [...rows.keys()].filter((index) => !refused.has(index)) }
}

const noFaults: readonly RowFault[] = []

/**
 * Writes all rows in the fastest way: added rows straight into the table, all others by way of a temporary table.
 * Rejects with the driver's error if one of the rows is not taken, with a `HalfCharacter` if one has that. Resolves with the bytes that went, and how many rows
 * the table left out without an error, as a trigger or a rule can have it.
 */
export async function load(job: LoadJob): Promise<{ readonly bytes: number; readonly leftOut: number }> {
  const { session, table, rows, picked } = job
  const count = picked?.length ?? rows.length
  if (table.keys.length === 0 && table.copies) {
    const names = table.columns.map(({ name }) => escapeIdentifier(name)).join(', ')
    const { written, bytes } = await send(job, `${table.name} (${names})`, false)
    return { bytes, leftOut: count - written }
  }
  const parts = table.columns.map(({ fullType }, at) => `c${at} ${fullType}`)
  await session.execute([
    `create temp table penstock_stage (penstock_row int, ${parts.join(', ')}) on commit drop`,
    `select set_config('work_mem', '32MB', true) where pg_size_bytes(current_setting('work_mem')) < ${32 * 1024 * 1024}`,
  ])
  const { bytes, written: staged } = await send(job, 'pg_temp.penstock_stage', true)
  if (staged !== count) throw session.unexpected('another number of rows than a temporary table was given')
  const names = table.columns.map((_, at) => `c${at}`).join(', ')
  if (table.keys.length === 0) {
    const [written = 0] = await session.execute([
      `${insertInto(table)} select ${names} from pg_temp.penstock_stage order by penstock_row`,
    ])
    return { bytes, leftOut: count - written }
  }
  const keys = table.keys.map((at) => `c${at}`).join(', ')
  const latest = `select distinct on (${keys}) ${names} from pg_temp.penstock_stage order by ${keys}, penstock_row desc`
  const [written = 0] = await session.execute([
    `${insertInto(table)} select ${names} from (${latest}) as latest ${onConflict(table)}`,
  ])
  if (written === count) return { bytes, leftOut: 0 }
  // Earlier rows of the same key were written over by the last one.
  const there = isAllKey(table)
    ? `count(*) filter (where exists (select from ${table.name} as kept where (${keysOf(table, 'kept')}) = (${keys})))`
    : '0'
  const [found] = await session.rows(
    `select count(*)::int as keys, (${there})::int as there
       from (select distinct ${keys} from pg_temp.penstock_stage) as distinct_keys`,
    { keys: 'integer', there: 'integer' },
  )
  const missing = (found?.keys ?? 0) - written
  // An existing row is not written again if all its columns belong to the key.
  return { bytes, leftOut: Math.min(missing, (found?.keys ?? 0) - (found?.there ?? 0)) }
}

/** Copies rows to a table, and counts: the rows that the server took, and the bytes that went. */
export async function send(
  { session, writers, rows, picked }: LoadJob,
  to: string,
  numbered: boolean,
): Promise<{ written: number; bytes: number }> {
  let bytes = 0
  const writes = writers.map(({ write }) => write)
  function* counted() {
    for (const slice of encodeRows(rows, writes, { ...(picked ? { picked } : {}), numbered })) {
      bytes += slice.length
      yield slice
    }
  }
  const written = await copyIn(session, `copy ${to} from stdin`, counted(), picked?.length ?? rows.length)
  return { written, bytes }
}

export function insertInto({ name, columns }: PostgresTable): string {
  const names = columns.map((column) => escapeIdentifier(column.name)).join(', ')
  return `insert into ${name} (${names})${columns.some(({ identity }) => identity) ? ' overriding system value' : ''}`
}

export function onConflict({ columns, keys }: PostgresTable): string {
  if (keys.length === 0) return ''
  const name = (at: number) => escapeIdentifier(columns[at]?.name ?? '')
  const changed = columns.flatMap((_, at) => (keys.includes(at) ? [] : `${name(at)} = excluded.${name(at)}`))
  return `on conflict (${keys.map(name).join(', ')}) do ${changed.length > 0 ? `update set ${changed.join(', ')}` : 'nothing'}`
}

/** The key's columns of a table or alias. */
export const keysOf = ({ columns, keys }: PostgresTable, of: string): string =>
  keys.map((at) => `${of}.${escapeIdentifier(columns[at]?.name ?? '')}`).join(', ')

/** Whether all columns belong to the key. Existing rows of such a table are not written again, which loses nothing. */
export const isAllKey = ({ columns, keys }: PostgresTable): boolean => keys.length > 0 && keys.length === columns.length
