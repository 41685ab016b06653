import type { Values } from '@penstock/connector'
import { inSession } from '../databases/sessions.ts'
import { placeOf, writingOf } from '../databases/settings.ts'
import { openTable as openFound, type Tables, type Target, writeModeOf } from '../kit/warehouse/table.ts'
import type { PostgresSession } from '../postgresql/session.ts'
import { quoteName } from './cells.ts'
import { defaultPort, openRedshift } from './session.ts'
import { columnOf, type RedshiftColumn, textBytesMax } from './target-columns.ts'

/** The table that rows go to, as the settings name it. */
export type RedshiftTarget = Target & { readonly schema: string }

/** A table with its columns. */
export type FoundRedshiftTable = {
  readonly schema: string
  readonly table: string
  readonly columns: readonly RedshiftColumn[]
}

/** A table that rows are written to. */
export type RedshiftTable = {
  /** Quoted, with its schema. */
  readonly name: string
  /** The quoted name without the schema. It qualifies the table's columns. */
  readonly alias: string
  /** Quoted, with its schema: the table that notes which batches were written. */
  readonly batches: string
  /** In the order of the delivered columns. */
  readonly columns: readonly RedshiftColumn[]
  /** Indexes of the key columns. Empty unless rows are upserted. */
  readonly keys: readonly number[]
  /** Whether the user is allowed to delete its rows. */
  readonly isDeletable: boolean
}

const boundMs = 60_000

export const batchesTable = 'penstock_batches'

/** Reads the settings of the destination. Throws `invalid_setting` if one is missing. */
export function targetOf(settings: Values): RedshiftTarget {
  const { schema, table, keys, create } = writingOf(settings, 'public')
  const where = `the schema ${schema.trim()}`
  return { schema: schema.trim(), table: table.trim(), where, keys, create, mode: writeModeOf(settings) }
}

/**
 * The table that the settings name: by its exact name, or else in lower case. Redshift converts names to lower case, unless a
 * setting of the database preserves their case. `undefined` if it does not exist.
 */
export async function findTable(
  session: PostgresSession,
  { schema, table }: Pick<RedshiftTarget, 'schema' | 'table'>,
): Promise<FoundRedshiftTable | undefined> {
  const found = await columnsOf(session, schema, table)
  if (found.length > 0) return { schema, table, columns: found }
  const lower = { schema: schema.toLowerCase(), table: table.toLowerCase() }
  const columns = await columnsOf(session, lower.schema, lower.table)
  return columns.length > 0 ? { ...lower, columns } : undefined
}

async function columnsOf(session: PostgresSession, schema: string, table: string): Promise<RedshiftColumn[]> {
  const rows = await session.rows(
    `select attname as name, format_type(atttypid, atttypmod) as type, attnotnull as required,
            pg_get_expr(adbin, adrelid) as fallback
       from pg_class join pg_namespace on pg_namespace.oid = relnamespace
       join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
       left join pg_attrdef on adrelid = pg_class.oid and adnum = attnum
      where nspname = $1 and relname = $2 and relkind <> 'v' order by attnum`,
    { name: 'text', type: 'text', required: 'boolean', fallback: 'text?' },
    [schema, table],
  )
  return rows.map(({ name, type, required, fallback }) => columnOf(name, type, required, fallback))
}

export const redshiftTables: Tables<PostgresSession, RedshiftTarget, FoundRedshiftTable> = {
  targetOf,
  use: async (context, work) =>
    inSession(await openRedshift(context, placeOf(context.secrets, defaultPort)), work, boundMs),
  find: findTable,
  create: (session, target, names) =>
    createOnce(
      session,
      target,
      names.map((name) => `${quoteName(name)} varchar(${textBytesMax})`),
    ),
  reportsRequired: true,
}

/**
 * Finds the table, and creates it with columns of text if it is missing and the settings allow it. Creates the table that notes
 * batches. Throws a `ConnectorError` if rows with these columns cannot be written.
 */
export async function openTable(
  session: PostgresSession,
  target: RedshiftTarget,
  delivered: readonly string[],
): Promise<RedshiftTable> {
  const { found, columns, keys } = await openFound(redshiftTables, session, target, delivered)
  const { schema, table } = found
  if (!(await findTable(session, { schema, table: batchesTable }))) {
    await createOnce(session, { schema, table: batchesTable }, batchColumns)
  }
  const name = nameOf({ schema, table })
  const [right] = await session.rows(
    `select has_table_privilege(cast($1 as varchar(400)), 'delete') as deletable`,
    { deletable: 'boolean' },
    [name],
  )
  return {
    name,
    alias: quoteName(table),
    batches: nameOf({ schema, table: batchesTable }),
    columns,
    keys,
    isDeletable: right?.deletable ?? false,
  }
}

/**
 * Whether the table treats key texts that differ only in case as equal. Redshift does not report the collation of a column, but
 * rows with a letter show it. Without such rows, it does not matter.
 */
export async function isCaseless(
  session: PostgresSession,
  { name, columns, keys }: Pick<RedshiftTable, 'name' | 'columns' | 'keys'>,
): Promise<boolean> {
  const texts = keys.flatMap((at) => (columns[at]?.isPadded ? [quoteName(columns[at].name)] : []))
  if (texts.length === 0) return false
  const shows = texts.map((text) => `(${text} ~ '[A-Za-z]' and upper(${text}) = lower(${text}))`)
  const [found] = await session.rows(
    `select count(*) as caseless from (select 1 from ${name} where ${shows.join(' or ')} limit 1) as shown`,
    { caseless: 'integer' },
  )
  return (found?.caseless ?? 0) > 0
}

/** Quoted, with its schema. */
export const nameOf = ({ schema, table }: Pick<RedshiftTarget, 'schema' | 'table'>): string =>
  `${quoteName(schema)}.${quoteName(table)}`

/** One row for each batch, written in the same transaction as its rows. Redshift enforces no key: writers lock the table. */
const batchColumns = [
  'transfer_id varchar(64) not null',
  'batch_key varchar(64) not null',
  'row_count bigint not null',
  'byte_count bigint not null',
  `rejected varchar(${textBytesMax})`,
  'delivered_time timestamp not null',
]

async function createOnce(
  session: PostgresSession,
  at: Pick<RedshiftTarget, 'schema' | 'table'>,
  columns: readonly string[],
): Promise<void> {
  try {
    await session.execute([`create table if not exists ${nameOf(at)} (${columns.join(', ')})`])
  } catch (error) {
    // Another worker may have created it concurrently.
    if (!session.alive || !(await findTable(session, at))) throw error
  }
}
