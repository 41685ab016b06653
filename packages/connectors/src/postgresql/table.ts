import { Outcome } from '@penstock/connector'
import pg from 'pg'
import type { Writing } from '../databases/settings.ts'
import { objectIn } from '../platform-api/json.ts'
import type { Session } from './session.ts'

const { escapeIdentifier } = pg

/** A table that rows go to, as far as the columns of the batches are concerned. */
export type Table = {
  /** Quoted, with its schema. */
  readonly name: string
  /** Quoted, with its schema: the table that notes which batches were written. */
  readonly batches: string
  /** In the order of the batches' columns. */
  readonly columns: readonly TableColumn[]
  /** Indexes of the key's columns; empty where every row is added. */
  readonly keys: readonly number[]
  /** Whether COPY can write to it as an INSERT would: it is no view, and has no rule for INSERT. */
  readonly copies: boolean
}

/** The type of a column, or of the elements of one. */
export type ColumnType = {
  readonly oid: number
  /** `typcategory`: S for texts, A for arrays. */
  readonly category: string
  /** Without its length or precision. */
  readonly type: string
  /** Whether an empty text is one of the labels of an enum. */
  readonly emptyLabel: boolean
}

export type TableColumn = ColumnType & {
  readonly name: string
  /** Of an array. */
  readonly element: ColumnType | undefined
  /** The type with them. */
  readonly fullType: string
  /** Values come from a sequence always, unless the statement insists. */
  readonly identity: boolean
}

type Found = TableColumn & { readonly generated: boolean }

/**
 * Finds the table, and creates it where it is missing and that is wanted; creates the table that notes batches.
 * Throws `refused` where a column is missing, or the key is none.
 */
export async function openTable(session: Session, writing: Writing, columns: readonly string[]): Promise<Table> {
  const { schema, table, upsert, keys, create } = writing
  const name = `${escapeIdentifier(schema)}.${escapeIdentifier(table)}`
  for (const key of keys) if (!columns.includes(key)) throw keyNotDelivered(key)
  let found = await columnsOf(session, name)
  if (found.length === 0 && create) {
    const key = upsert ? [`primary key (${keys.map(escapeIdentifier).join(', ')})`] : []
    await createOnce(session, name, [...columns.map((column) => `${escapeIdentifier(column)} text`), ...key])
    found = await columnsOf(session, name)
  }
  if (found.length === 0) throw tableNotFound(schema, table)
  const missing = columns.filter((column) => !found.some(({ name }) => name === column))
  if (missing.length > 0) throw columnsMissing(table, missing)
  const generated = found.find((column) => column.generated && columns.includes(column.name))
  if (generated) throw isGenerated(generated.name)
  if (upsert && !(await isUnique(session, name, keys))) throw keyNotUnique(keys)
  const batches = `${escapeIdentifier(schema)}.penstock_batches`
  if ((await columnsOf(session, batches)).length === 0) await createOnce(session, batches, batchColumns)
  return {
    name,
    batches,
    columns: columns.flatMap((column) => found.filter(({ name }) => name === column)),
    keys: keys.map((key) => columns.indexOf(key)),
    copies: await takesCopies(session, name),
  }
}

async function takesCopies(session: Session, name: string): Promise<boolean> {
  const [row] = await session.rows(
    `select relkind <> 'v' and not exists (select from pg_rewrite where ev_class = pg_class.oid and ev_type = '3') as copies
       from pg_class where oid = to_regclass($1)`,
    { copies: 'boolean' },
    [name],
  )
  return row?.copies ?? false
}

/** One row for each batch, written in the same transaction as its rows. */
const batchColumns = [
  'transfer_id text not null',
  'batch_key text not null',
  'rows bigint not null',
  'bytes bigint not null',
  'rejected jsonb',
  'delivered_time timestamptz not null default now()',
  'primary key (transfer_id, batch_key)',
]

async function createOnce(session: Session, name: string, parts: readonly string[]): Promise<void> {
  try {
    await session.execute([`create table if not exists ${name} (${parts.join(', ')})`])
  } catch (error) {
    // Where two create it at once, one of them hits the catalogue's own unique index.
    if ((await columnsOf(session, name)).length === 0) throw error
  }
}

/**
 * The columns of a table; none where it is not there. Of a domain it is told what it is made of, because a cast to the
 * domain itself would cut a text that is too long.
 */
async function columnsOf(session: Session, name: string): Promise<Found[]> {
  const rows = await session.rows(
    `with recursive types as (
       select attnum, atttypid as id, atttypmod as modifier
         from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped
       union all
       select attnum, typbasetype, typtypmod from types join pg_type on pg_type.oid = id where typtype = 'd'
     )
     select attname as name, id as oid, whole.typcategory as category, format_type(id, -1) as type,
            format_type(id, modifier) as "fullType", attidentity = 'a' as identity, attgenerated <> '' as generated,
            exists (select from pg_enum where enumtypid = id and enumlabel = '') as "emptyLabel",
            case when part.oid is null then 'null' else json_build_object(
              'oid', coalesce(nullif(part.typbasetype, 0), part.oid)::int8, 'category', part.typcategory,
              'type', format_type(part.oid, -1),
              'emptyLabel', exists (select from pg_enum where enumtypid = part.oid and enumlabel = '')) end::text as element
       from types join pg_type as whole on whole.oid = id join pg_attribute using (attnum)
       left join pg_type as part on part.oid = whole.typelem and whole.typcategory = 'A' and whole.oid not in (22, 30)
      where attrelid = to_regclass($1) and whole.typtype <> 'd'
      order by attnum`,
    {
      ...({ name: 'text', oid: 'integer', category: 'text', type: 'text', fullType: 'text', element: 'json' } as const),
      ...({ identity: 'boolean', generated: 'boolean', emptyLabel: 'boolean' } as const),
    },
    [name],
  )
  return rows.map(({ element, ...column }) => ({ ...column, element: elementIn(element) }))
}

function elementIn(element: unknown): ColumnType | undefined {
  const { oid, category, type, emptyLabel } = objectIn(element)
  if (typeof oid !== 'number' || typeof category !== 'string' || typeof type !== 'string') return undefined
  return { oid, category, type, emptyLabel: emptyLabel === true }
}

/** Whether the table has an index by which an upsert on exactly these columns can find its rows. */
async function isUnique(session: Session, name: string, keys: readonly string[]): Promise<boolean> {
  const indexes = await session.rows(
    `select json_agg(attname)::text as columns
       from pg_index join pg_attribute on attrelid = indrelid and attnum = any((indkey::int2[])[0:indnkeyatts - 1])
      where indrelid = to_regclass($1) and indisunique and indisvalid and indimmediate and indpred is null and indexprs is null
      group by indexrelid`,
    { columns: 'json' },
    [name],
  )
  return indexes.some(
    ({ columns }) =>
      Array.isArray(columns) && columns.length === keys.length && columns.every((column) => keys.includes(column)),
  )
}

const tableNotFound = (schema: string, table: string): Outcome =>
  new Outcome(
    'refused',
    'table_not_found',
    `There is no table ${table} in the schema ${schema}; check both, or let the connector create it.`,
  )

const columnsMissing = (table: string, missing: readonly string[]): Outcome =>
  new Outcome(
    'refused',
    'column_not_found',
    `The table ${table} has no column ${missing.slice(0, 50).join(', ')}; add what is missing, or map these columns to others.`,
  )

const keyNotDelivered = (key: string): Outcome =>
  new Outcome(
    'refused',
    'column_not_found',
    `The key column ${key} is not among the columns that are delivered; map one to it, or choose another key.`,
  )

const keyNotUnique = (keys: readonly string[]): Outcome =>
  new Outcome(
    'refused',
    'key_not_unique',
    `The table has no primary key or unique index on exactly ${keys.join(', ')}; create one, or choose another key.`,
  )

const isGenerated = (column: string): Outcome =>
  new Outcome(
    'refused',
    'column_is_generated',
    `The column ${column} is generated by the database; leave it out of what is delivered.`,
  )
