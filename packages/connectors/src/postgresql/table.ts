import type { CreatedColumn, DestinationContext } from '@penstock/connector'
import pg from 'pg'
import { createdTypes, impossibleNames, type NameRules } from '../databases/created-columns.ts'
import type { Writing } from '../databases/settings.ts'
import {
  columnsNotFound,
  type FatalTableProblem,
  generatedColumns,
  keyNotUnique,
  keysNotDelivered,
  namesNotPossible,
  tableNameTooLong,
  tableNotFound,
  throwFirst,
} from '../databases/table-findings.ts'
import { listIn, objectIn } from '../platform-api/json.ts'
import type { PostgresSession } from './session.ts'
import { isJsonType, typeOf } from './type-names.ts'

const { escapeIdentifier } = pg

/** A table that rows go to, as far as the columns of the batches are concerned. */
export type PostgresTable = {
  /** Quoted, with its schema. */
  readonly name: string
  /** Quoted, with its schema: the table that notes which batches were written. */
  readonly batches: string
  /** In the order of the batches' columns. */
  readonly columns: readonly PostgresColumn[]
  /** Indexes of the key's columns; empty where every row is added. */
  readonly keys: readonly number[]
  /** Whether keys are the same only if their texts are. Not if a type or collation takes several notations for the same. */
  readonly keysAreTexts: boolean
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

export type PostgresColumn = ColumnType & {
  readonly name: string
  /** Of an array. */
  readonly element: ColumnType | undefined
  /** The type with them. */
  readonly fullType: string
  /** The modifier of the type, such as its length; -1 if it has none. */
  readonly modifier: number
  /** Values come from a sequence always, unless the statement insists. */
  readonly identity: boolean
  /** Whether its values are equal only if their texts are. */
  readonly exact: boolean
}

export type ExistingColumn = PostgresColumn & {
  readonly generated: boolean
  /** A row needs a value for it: there is no default. */
  readonly required: boolean
}

/**
 * Finds the table. Creates a missing table if the settings ask for it. Creates the table that records batches.
 * Throws a `ConnectorError` if a column is missing, or the key is no key of the table.
 */
export async function openTable(
  session: PostgresSession,
  writing: Writing,
  context: Pick<DestinationContext, 'columns' | 'types' | 'rows' | 'settings'>,
): Promise<PostgresTable> {
  const { columns } = context
  const name = nameOf(writing)
  let { found, errors } = await judgeTable(session, writing, columns)
  throwFirst(errors)
  if (found.length === 0) {
    await createOnce(session, name, partsOf(writing, createdColumns(writing, context)))
    ;({ found, errors } = await judgeTable(session, { ...writing, create: false }, columns))
    throwFirst(errors)
  }
  const batches = batchesOf(writing)
  if ((await columnsOf(session, batches)).length === 0) await createOnce(session, batches, batchColumns)
  return tableOf(writing, columns, found, await takesCopies(session, name))
}

/** The statement that creates a temporary table, without an end. */
export const createStatement = (writing: Writing, created: readonly CreatedColumn[]): string =>
  `create temp table ${escapeIdentifier(writing.table)} (${partsOf(writing, created).join(', ')})`

function partsOf({ upsert, keys }: Writing, created: readonly CreatedColumn[]): string[] {
  const key = upsert ? [`primary key (${keys.map(escapeIdentifier).join(', ')})`] : []
  return [...created.map((column) => `${escapeIdentifier(column.name)} ${column.type}`), ...key]
}

/** The columns of the table if it is created. */
export function createdColumns(
  { keys }: Pick<Writing, 'keys'>,
  context: Parameters<typeof createdTypes>[0],
): readonly CreatedColumn[] {
  return createdTypes(context).map((type, at) => {
    const name = context.columns[at] ?? ''
    // JSON has no order, so that it cannot be a key.
    return { name, type: keys.includes(name) && isJsonType(type) ? 'text' : typeOf(type) }
  })
}

/** The table as it is to be written, of the columns that were found. */
export function tableOf(
  writing: Writing,
  columns: readonly string[],
  found: readonly ExistingColumn[],
  copies: boolean,
): PostgresTable {
  return {
    name: nameOf(writing),
    batches: batchesOf(writing),
    columns: columns.flatMap((column) => found.filter(({ name }) => name === column)),
    keys: writing.keys.map((key) => columns.indexOf(key)),
    keysAreTexts: writing.keys.every((key) => found.some(({ name, exact }) => name === key && exact)),
    copies,
  }
}

/** Longer names would be cut. */
export const nameBytesMax = 63

const nameRules: NameRules = {
  product: 'PostgreSQL',
  lengthMax: nameBytesMax,
  unit: 'bytes',
  lengthOf: Buffer.byteLength,
  keyOf: (name) => name,
  reserved: new Set(['ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid']),
}

/**
 * Looks up the table, and everything that prevents writing these columns to it. Changes nothing.
 * @returns `found`: its columns; none if it is missing, which is an error unless it may be created
 */
export async function judgeTable(
  session: PostgresSession,
  { schema, table, upsert, keys, create }: Writing,
  columns: readonly string[],
): Promise<{ found: ExistingColumn[]; errors: FatalTableProblem[] }> {
  const name = nameOf({ schema, table })
  if (Buffer.byteLength(table) > nameBytesMax) {
    return { found: [], errors: [tableNameTooLong(table, nameRules.product, nameBytesMax)] }
  }
  const found = await columnsOf(session, name)
  const errors = keysNotDelivered(keys.filter((key) => !columns.includes(key)))
  if (found.length === 0) {
    const impossible = namesNotPossible(impossibleNames(columns, nameRules))
    return {
      found,
      errors: create ? [...errors, ...impossible] : [...errors, tableNotFound(table, `the schema ${schema}`)],
    }
  }
  const has = (column: string) => found.some(({ name }) => name === column)
  const generated = found.filter((column) => column.generated && columns.includes(column.name))
  errors.push(
    ...columnsNotFound(
      table,
      columns.filter((column) => !has(column)),
    ),
  )
  errors.push(...generatedColumns(generated.map(({ name }) => name)))
  if (upsert && !(await isUnique(session, name, keys))) errors.push(keyNotUnique(keys))
  return { found, errors }
}

/** Whether there is such a table. @param name quoted, with its schema */
export const hasTable = async (session: PostgresSession, name: string): Promise<boolean> =>
  (await columnsOf(session, name)).length > 0

/** Quoted, with its schema. */
export const nameOf = ({ schema, table }: Pick<Writing, 'schema' | 'table'>): string =>
  `${escapeIdentifier(schema)}.${escapeIdentifier(table)}`

/** Quoted, with its schema: the table that notes which batches were written. */
const batchesOf = ({ schema }: Pick<Writing, 'schema'>): string => nameOf({ schema, table: batchesTable })

export const batchesTable = 'penstock_batches'

async function takesCopies(session: PostgresSession, name: string): Promise<boolean> {
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

async function createOnce(session: PostgresSession, name: string, parts: readonly string[]): Promise<void> {
  try {
    await session.execute([`create table if not exists ${name} (${parts.join(', ')})`])
  } catch (error) {
    // Where two create it at once, one of them hits the catalogue's own unique index.
    if ((await columnsOf(session, name)).length === 0) throw error
  }
}

/**
 * The columns of a table; none if it is not there. A column of a domain has the base type, because a cast to the domain
 * itself would cut a text that is too long.
 */
export async function columnsOf(session: PostgresSession, name: string): Promise<ExistingColumn[]> {
  const rows = await session.rows(
    `with recursive types as (
       select attnum, atttypid as id, atttypmod as modifier
         from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped
       union all
       select attnum, typbasetype, typtypmod from types join pg_type on pg_type.oid = id where typtype = 'd'
     )
     select attname as name, id as oid, whole.typcategory as category, format_type(id, -1) as type,
            format_type(id, modifier) as "fullType", modifier, attidentity = 'a' as identity, attgenerated <> '' as generated,
            attnotnull and not atthasdef and attidentity = '' as required,
            id in (25, 1043) and coalesce((select (to_jsonb(pg_collation) ->> 'collisdeterministic')::bool
              from pg_collation where oid = attcollation), true) as exact,
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
      modifier: 'integer',
      ...({ identity: 'boolean', generated: 'boolean', required: 'boolean', exact: 'boolean' } as const),
      emptyLabel: 'boolean',
    },
    [name],
  )
  if (new Set(rows.map(({ name: column }) => column)).size < rows.length) {
    throw session.unexpected('a column of a table twice')
  }
  return rows.map(({ element, ...column }) => ({ ...column, element: elementIn(element) }))
}

function elementIn(element: unknown): ColumnType | undefined {
  const { oid, category, type, emptyLabel } = objectIn(element)
  if (typeof oid !== 'number' || typeof category !== 'string' || typeof type !== 'string') return undefined
  return { oid, category, type, emptyLabel: emptyLabel === true }
}

/** Whether the table has an index by which an upsert on exactly these columns can find its rows. */
async function isUnique(session: PostgresSession, name: string, keys: readonly string[]): Promise<boolean> {
  const indexes = await uniqueIndexes(session, name)
  return indexes.some(
    ({ columns, immediate }) =>
      immediate && columns.length === keys.length && columns.every((column) => keys.some((key) => key === column)),
  )
}

/** The unique indexes of a table on columns alone, without a condition. @param name quoted, with its schema */
export async function uniqueIndexes(
  session: PostgresSession,
  name: string,
): Promise<{ readonly name: string; readonly columns: readonly unknown[]; readonly immediate: boolean }[]> {
  const indexes = await session.rows(
    `select relname as name, json_agg(attname order by attnum)::text as columns, indimmediate as immediate
       from pg_index join pg_class on pg_class.oid = indexrelid
       join pg_attribute on attrelid = indrelid and attnum = any((indkey::int2[])[0:indnkeyatts - 1])
      where indrelid = to_regclass($1) and indisunique and indisvalid and indpred is null and indexprs is null
      group by indexrelid, relname`,
    { name: 'text', columns: 'json', immediate: 'boolean' },
    [name],
  )
  return indexes.map(({ name: index, columns, immediate }) => ({ name: index, columns: listIn(columns), immediate }))
}
