import type { Batch, Rejection, Row } from '@penstock/connector'
import pg from 'pg'
import { encodeRows, type Write } from '../databases/tab-separated.ts'
import { copyIn } from './copy.ts'
import type { Session } from './session.ts'
import type { Table } from './table.ts'

const { escapeIdentifier } = pg

/** Rows that are to be written, and what with. */
export type Job = {
  readonly session: Session
  readonly table: Table
  readonly writers: readonly Write[]
  readonly rows: readonly Row[]
  /** Indexes of the rows that are to be written; all of them where it is absent. */
  readonly picked: readonly number[] | undefined
}

export type Loaded = { readonly bytes: number; readonly rejected: readonly Rejection[] }

/** Rows that an upsert cannot find again are none that it may write. */
export function missingKeys(
  { columns, keys }: Table,
  writers: readonly Write[],
  { rows }: Batch,
): { rejected: readonly Rejection[]; picked: readonly number[] | undefined } {
  const rejected: Rejection[] = []
  const picked: number[] = []
  if (keys.length === 0) return { rejected, picked: undefined }
  for (const [index, row] of rows.entries()) {
    const key = keys.find((at) => (writers[at]?.(row[at] ?? null) ?? '') === '')
    const field = key === undefined ? undefined : columns[key]?.name
    if (field === undefined) picked.push(index)
    else
      rejected.push({ index, field, reason: `There is no value for ${field}, by which the row would be found again.` })
  }
  return { rejected, picked: rejected.length > 0 ? picked : undefined }
}

/**
 * Writes all rows in the fastest way: added rows straight into the table, upserted ones by way of a temporary table.
 * Rejects with the driver's error where one of the rows is not taken.
 */
export async function load(job: Job): Promise<Loaded> {
  const { session, table, rows, picked } = job
  const count = picked?.length ?? rows.length
  if (table.keys.length === 0) {
    const names = table.columns.map(({ name }) => escapeIdentifier(name)).join(', ')
    const { written, bytes } = await send(job, `${table.name} (${names})`, false)
    return { bytes, rejected: leftOut(count - written) }
  }
  const parts = table.columns.map(({ fullType }, at) => `c${at} ${fullType}`)
  await session.run(
    `create temp table penstock_stage (penstock_row int, ${parts.join(', ')}) on commit drop;
     select set_config('work_mem', '32MB', true) where pg_size_bytes(current_setting('work_mem')) < ${32 * 1024 * 1024}`,
  )
  const { bytes } = await send(job, 'pg_temp.penstock_stage', true)
  const names = table.columns.map((_, at) => `c${at}`).join(', ')
  const keys = table.keys.map((at) => `c${at}`).join(', ')
  const latest = `select distinct on (${keys}) ${names} from pg_temp.penstock_stage order by ${keys}, penstock_row desc`
  const written = await session.change(
    `${insertInto(table)} select ${names} from (${latest}) as latest ${onConflict(table)}`,
  )
  if (written === count || isAllKey(table)) return { bytes, rejected: [] }
  // Earlier rows of the same key were written over by the last one; what lacks beyond that, a trigger left out.
  const [row] = await session.run<{ keys: number }>(
    `select count(*)::int as keys from (select distinct ${keys} from pg_temp.penstock_stage) as distinct_keys`,
  )
  return { bytes, rejected: leftOut((row?.keys ?? written) - written) }
}

/** Copies rows to a table, and counts: the rows that the server took, and the bytes that went. */
export async function send(
  { session, writers, rows, picked }: Job,
  to: string,
  numbered: boolean,
): Promise<{ written: number; bytes: number }> {
  let bytes = 0
  function* counted() {
    for (const slice of encodeRows(rows, writers, { ...(picked ? { picked } : {}), numbered })) {
      bytes += slice.length
      yield slice
    }
  }
  const written = await copyIn(session, `copy ${to} from stdin`, counted())
  return { written, bytes }
}

export function insertInto({ name, columns }: Table): string {
  const names = columns.map((column) => escapeIdentifier(column.name)).join(', ')
  return `insert into ${name} (${names})${columns.some(({ identity }) => identity) ? ' overriding system value' : ''}`
}

export function onConflict({ columns, keys }: Table): string {
  if (keys.length === 0) return ''
  const name = (at: number) => escapeIdentifier(columns[at]?.name ?? '')
  const changed = columns.flatMap((_, at) => (keys.includes(at) ? [] : `${name(at)} = excluded.${name(at)}`))
  return `on conflict (${keys.map(name).join(', ')}) do ${changed.length > 0 ? `update set ${changed.join(', ')}` : 'nothing'}`
}

/** Rows of which every column is the key are there already, or are added; counts cannot tell. */
export const isAllKey = ({ columns, keys }: Table): boolean => keys.length === columns.length

export const leftOut = (count: number): Rejection[] =>
  count > 0 ? [{ count, reason: 'A trigger or a rule of the table left the row out.' }] : []
