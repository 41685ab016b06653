import type { Values } from '@penstock/connector'
import { matchColumns } from '../databases/judged-rows.ts'
import { type Writing, writingOf } from '../databases/settings.ts'
import {
  type FatalTableProblem,
  generatedColumns,
  keysNotDelivered,
  tableNotFound,
  throwFirst,
} from '../databases/table-findings.ts'
import type { PostgresSession } from '../postgresql/session.ts'
import { quoteName } from './cells.ts'
import { columnOf, type RedshiftColumn, textBytesMax } from './target-columns.ts'

/** Where rows go, as the settings name it. */
export type RedshiftTarget = Omit<Writing, 'upsert'> & { readonly mode: 'Append' | 'Replace' | 'Upsert' }

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
  /** Quoted, without its schema: what its columns are qualified by. */
  readonly alias: string
  /** Quoted, with its schema: the table that notes which batches were written. */
  readonly batches: string
  /** In the order of the delivered columns. */
  readonly columns: readonly RedshiftColumn[]
  /** Indexes of the columns of the key; empty unless rows are upserted. */
  readonly keys: readonly number[]
  /** All columns, for the scope of a window. */
  readonly all: readonly RedshiftColumn[]
  /** Whether the user may delete its rows. */
  readonly isDeletable: boolean
}

export const batchesTable = 'penstock_batches'

/** Reads the settings of the destination. Throws `invalid_setting` if one is missing. */
export function targetOf(settings: Values): RedshiftTarget {
  const { schema, table, keys, create } = writingOf(settings, 'public')
  const mode = settings.writeMode === 'Replace' || settings.writeMode === 'Upsert' ? settings.writeMode : 'Append'
  return { schema: schema.trim(), table: table.trim(), keys, create, mode }
}

/**
 * The table that the settings name: by its exact name, or else in lower case, which Redshift makes of names unless a setting of the
 * database keeps their case. `undefined` if there is none.
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

/** The table's columns for the delivered ones, and what prevents writing to them. */
export function judgeTable(
  { schema, table, keys }: RedshiftTarget,
  delivered: readonly string[],
  found: FoundRedshiftTable | undefined,
): { columns: readonly RedshiftColumn[]; errors: FatalTableProblem[] } {
  if (!found) return { columns: [], errors: [tableNotFound(table, `the schema ${schema}`)] }
  const { columns, errors } = matchColumns(table, delivered, found.columns)
  const isNamed = ({ name }: RedshiftColumn, key: string) => name.toLowerCase() === key.toLowerCase()
  const isKey = (column: RedshiftColumn) => keys.some((key) => isNamed(column, key))
  errors.push(...keysNotDelivered(keys.filter((key) => !columns.some((column) => isNamed(column, key)))))
  errors.push(...generatedColumns(columns.filter(({ isGenerated }) => isGenerated).map(({ name }) => name)))
  const unusable = columns.filter((column) => isKey(column) && !column.isComparable)
  if (unusable.length > 0) {
    errors.push({
      code: 'columns_do_not_fit',
      columns: unusable.map(({ name }) => name),
      describe: (names) => `The key column ${names.join(', ')} has a type that cannot be compared; choose another key.`,
    })
  }
  // A key without a value would never be found again.
  return {
    columns: columns.map((column) => (isKey(column) ? { ...column, needed: true, isKey: true } : column)),
    errors,
  }
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
  let found = await findTable(session, target)
  if (!found && target.create) {
    const columns = [...new Set(delivered)].map((name) => `${quoteName(name)} varchar(${textBytesMax})`)
    await createOnce(session, target, columns)
    found = await findTable(session, target)
  }
  const { columns, errors } = judgeTable(target, delivered, found)
  throwFirst(errors)
  const { schema, table } = found ?? target
  if (!(await findTable(session, { schema, table: batchesTable }))) {
    await createOnce(session, { schema, table: batchesTable }, batchColumns)
  }
  const name = nameOf({ schema, table })
  const isKey = (column: RedshiftColumn) => target.keys.some((key) => key.toLowerCase() === column.name.toLowerCase())
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
    keys: target.mode === 'Upsert' ? columns.flatMap((column, at) => (isKey(column) ? [at] : [])) : [],
    all: found?.columns ?? [],
    isDeletable: right?.deletable ?? false,
  }
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
    // Another worker may have created it at the same time.
    if (!session.alive || !(await findTable(session, at))) throw error
  }
}
