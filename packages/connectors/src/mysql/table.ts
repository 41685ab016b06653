import type { CreatedColumn, DestinationContext } from '@penstock/connector'
import { createdTypes, impossibleNames, type NameRules } from '../databases/created-columns.ts'
import type { Writing } from '../databases/settings.ts'
import {
  columnsNotFound,
  type FatalTableProblem,
  generatedColumns,
  keyNotUnique,
  keysNotDelivered,
  namesNotPossible,
  tableError,
  tableNotFound,
  throwFirst,
} from '../databases/table-findings.ts'
import { quoteName } from './plan.ts'
import { countIn, type LookupRow, valueIn } from './raw-rows.ts'
import type { MysqlSession } from './session.ts'
import { typeOf } from './type-names.ts'

/** A table that rows go to, as far as the columns of the batches are concerned. */
export type MysqlTable = {
  /** Quoted. */
  readonly name: string
  /** In the order of the batches' columns. */
  readonly columns: readonly MysqlColumn[]
  /** Indexes of the key's columns; empty where every row is added. */
  readonly keys: readonly number[]
}

export type MysqlColumn = {
  /** As the table spells it. */
  readonly name: string
  /** In lower case, without length: `varchar`. */
  readonly type: string
  /** Decimal places, of a type that has a number of them. */
  readonly scale?: number
  /** Digits behind the seconds, of a type that has them. */
  readonly precision?: number
  /** Bytes of a type that has a number of them. */
  readonly octets?: number
  /** The values of an ENUM or SET. */
  readonly members?: readonly string[]
  /** Whether it is TINYINT(1), which the server makes of BOOLEAN. */
  readonly truth?: boolean
  /** NOT NULL. */
  readonly needed?: boolean
}

export type FoundColumn = MysqlColumn & {
  readonly generated: boolean
  /** A row needs a value for it: there is no default. */
  readonly required: boolean
}

/** Quoted: the table that notes which batches were written, in the same database. */
export const batchesTable = '`penstock_batches`'

/**
 * Finds the table. Creates a missing table if the settings ask for it. Creates the table that records batches.
 * Throws a `ConnectorError` if a column is missing, the key is no key of the table, or the table has no transactions.
 */
export async function openTable(
  session: MysqlSession,
  writing: Writing,
  context: Pick<DestinationContext, 'columns' | 'types' | 'rows' | 'settings'>,
): Promise<MysqlTable> {
  const { columns } = context
  let { found, errors } = await judgeTable(session, writing, columns)
  throwFirst(errors)
  if (found.length === 0) {
    await session.run(createStatement(quoteName(writing.table), writing, createdColumns(writing, context)))
    ;({ found, errors } = await judgeTable(session, { ...writing, create: false }, columns))
    throwFirst(errors)
  }
  await session.run(createBatches)
  return tableOf(writing, columns, found)
}

/** The table as it is to be written, of the columns that were found. */
export const tableOf = (
  { table, keys }: Writing,
  columns: readonly string[],
  found: readonly MysqlColumn[],
): MysqlTable => ({
  name: quoteName(table),
  columns: columns.flatMap((column) => found.filter(({ name }) => same(name, column))),
  keys: keys.map((key) => columns.findIndex((column) => same(column, key))),
})

/**
 * Looks up the table, and everything that prevents writing these columns to it. Changes nothing.
 * @returns `found`: its columns; none if it is missing, which is an error unless it may be created
 */
export async function judgeTable(
  session: MysqlSession,
  { table, upsert, keys, create }: Writing,
  columns: readonly string[],
): Promise<{ found: FoundColumn[]; errors: FatalTableProblem[] }> {
  const delivers = (name: string) => columns.some((column) => same(column, name))
  const found = await columnsOf(session, table)
  const errors = keysNotDelivered(keys.filter((key) => !delivers(key)))
  if (found.length === 0) {
    const impossible = namesNotPossible(impossibleNames(columns, nameRules))
    return { found, errors: [...errors, ...(create ? impossible : [tableNotFound(table, 'the database')])] }
  }
  const missing = columns.filter((column) => !found.some(({ name }) => same(name, column)))
  const generated = found.filter((column) => column.generated && delivers(column.name))
  errors.push(...columnsNotFound(table, missing), ...generatedColumns(generated.map(({ name }) => name)))
  if (upsert && !(await isUnique(session, table, keys))) errors.push(keyNotUnique(keys))
  errors.push(...(await noTransactions(session, table)))
  return { found, errors }
}

const nameRules: NameRules = {
  product: 'MySQL',
  lengthMax: 64,
  unit: 'characters',
  lengthOf: (name) => [...name].length,
  keyOf: (name) => name.trimEnd().toLowerCase(),
  reserved: new Set(),
}

/** Names of columns differ by more than their case. */
export const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** The columns of the table if it is created. Keys are short enough for an index, and differ where their bytes do. */
export function createdColumns(
  { keys }: Pick<Writing, 'keys'>,
  context: Parameters<typeof createdTypes>[0],
): readonly CreatedColumn[] {
  return createdTypes(context).map((created, at) => {
    const [name, type] = [context.columns[at] ?? '', typeOf(created)]
    if (!keys.some((key) => same(key, name))) return { name, type }
    return { name, type: `${type.startsWith('long') ? 'varchar(191)' : type} not null` }
  })
}

/** The statement that creates a table. @param name quoted */
export function createStatement(
  name: string,
  { upsert, keys }: Writing,
  columns: readonly CreatedColumn[],
  kind: 'table' | 'temporary table' = 'table',
): string {
  const parts = columns.map((column) => `${quoteName(column.name)} ${column.type}`)
  if (upsert && keys.length > 0) parts.push(`primary key (${keys.map(quoteName).join(', ')})`)
  return `create ${kind} if not exists ${name} (${parts.join(', ')}) engine = InnoDB character set utf8mb4 collate utf8mb4_bin`
}

/** Types that the server lists by another name. */
const listedAs: Readonly<Record<string, string>> = { boolean: 'tinyint', integer: 'int' }

/** A column as it is once it is created, which the server does not list of a temporary table. */
export function columnOf({ name, type: full }: CreatedColumn): MysqlColumn {
  const [, stated = full, digits, places] = /^(\w+)(?:\((\d+)(?:, *(\d+))?\))?/.exec(full) ?? []
  const type = listedAs[stated] ?? stated
  return {
    name,
    type,
    ...(type === 'decimal' && { scale: Number(places ?? 0) }),
    ...(/^(?:datetime|timestamp|time)$/.test(type) && { precision: Number(digits ?? 0) }),
    ...((stated === 'boolean' || (type === 'tinyint' && digits === '1')) && { truth: true }),
    ...(full.endsWith(' not null') && { needed: true }),
  }
}

/** One row for each batch, written in the same transaction as its rows. */
const createBatches = `create table if not exists ${batchesTable} (
  transfer_id varchar(64) character set ascii not null,
  batch_key varchar(64) character set ascii not null,
  rows_accepted bigint not null,
  bytes bigint not null,
  rejected longtext,
  delivered_time timestamp not null default current_timestamp,
  primary key (transfer_id, batch_key)
) engine = InnoDB character set utf8mb4`

async function columnsOf(session: MysqlSession, table: string): Promise<FoundColumn[]> {
  const { host } = session.place
  const rows = await session.run(
    `select column_name as name, lower(data_type) as type, column_type as full_type, numeric_scale as scale,
            datetime_precision as \`precision\`, character_octet_length as octets, is_nullable as nullable,
            generation_expression as generation, column_default as fallback, extra
       from information_schema.columns where table_schema = database() and table_name = ? order by ordinal_position`,
    [table],
  )
  return rows.map((row): FoundColumn => {
    const type = valueIn(host, row, 'type')
    const fixed = type === 'decimal' || type === 'float' || type === 'double'
    const octets = type === 'binary' ? countIn(host, row, 'octets') : undefined
    const members = type === 'enum' || type === 'set' ? membersIn(valueIn(host, row, 'full_type')) : undefined
    return {
      name: valueIn(host, row, 'name'),
      type,
      ...(fixed && row.scale ? { scale: countIn(host, row, 'scale') } : {}),
      ...(row.precision ? { precision: countIn(host, row, 'precision') } : {}),
      ...(octets === undefined ? {} : { octets }),
      ...(members === undefined ? {} : { members }),
      ...(type === 'tinyint' && /^tinyint\(1\)/i.test(valueIn(host, row, 'full_type')) ? { truth: true } : {}),
      needed: row.nullable === 'NO',
      generated: (row.generation ?? '') !== '',
      required: row.nullable === 'NO' && row.fallback === null && !/auto_increment|generated/i.test(row.extra ?? ''),
    }
  })
}

/** The values in a definition such as `enum('a','it''s')`. */
function membersIn(definition: string): string[] {
  const inner = definition.slice(definition.indexOf('(') + 1, definition.lastIndexOf(')'))
  return [...inner.matchAll(/'((?:[^'\\]|''|\\.)*)'/gs)].map(([, text = '']) =>
    text.replace(/''|\\(.)/gs, (found, escaped?: string) =>
      found === "''" ? "'" : ({ n: '\n', r: '\r', t: '\t', 0: '\0' }[escaped ?? ''] ?? escaped ?? ''),
    ),
  )
}

/** The columns that a table lacks; none of a table that is not there. */
export async function missingColumns(
  session: MysqlSession,
  table: string,
  columns: readonly string[],
): Promise<string[]> {
  const found = await columnsOf(session, table)
  return found.length === 0 ? [] : columns.filter((column) => !found.some(({ name }) => same(name, column)))
}

/** Whether the table has an index by which an upsert on exactly these columns can find its rows. */
async function isUnique(session: MysqlSession, table: string, keys: readonly string[]): Promise<boolean> {
  const parts = await session.run(
    `select index_name as \`key\`, column_name as name, sub_part as part from information_schema.statistics
      where table_schema = database() and table_name = ? and non_unique = 0`,
    [table],
  )
  return [...Map.groupBy(parts, ({ key }) => key).values()].some(
    (index) =>
      index.length === keys.length &&
      index.every(
        (row) => row.part === null && keys.some((key) => same(key, valueIn(session.place.host, row, 'name'))),
      ),
  )
}

async function noTransactions(session: MysqlSession, table: string): Promise<FatalTableProblem[]> {
  const [engine] = await session.run(
    `select engines.engine as name, transactions from information_schema.tables
       join information_schema.engines on engines.engine = tables.engine
      where table_schema = database() and table_name = ?`,
    [table],
  )
  if (!engine || engine.transactions === 'YES') return []
  const message = `The table ${table} is of the engine ${engineName(engine)}, which knows no transactions; convert it to InnoDB.`
  return [tableError('not_supported', message)]
}

/** Names of engines are words; what is none is left out. */
const engineName = (row: LookupRow): string => /^\w{1,64}$/.exec(row.name ?? '')?.[0] ?? 'unknown'
