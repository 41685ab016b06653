import { asConnectorError, ConnectorError, type Values } from '@penstock/connector'
import { writingOf } from '../databases/settings.ts'
import { columnsNotFound, type FatalTableProblem, keysNotDelivered, throwFirst } from '../databases/table-findings.ts'
import { plainName } from './account.ts'
import type { SnowflakeColumn } from './cells.ts'
import { describe, quoteAsIs, quoteName, type StatementPlace } from './plan.ts'
import type { SqlApi } from './sql-api.ts'

/** A table that rows go to. */
export type SnowflakeTable = {
  /** With its database and schema, quoted. */
  readonly name: string
  /** The table that notes which batches were written, in the same schema. */
  readonly batches: string
  /** In the order of the delivered columns. */
  readonly columns: readonly SnowflakeColumn[]
  /** Indexes of the key's columns; empty unless rows are upserted. */
  readonly keys: readonly number[]
  readonly at: StatementPlace
}

/** Where rows go, as the settings name it. */
export type Target = Omit<SnowflakeTable, 'columns' | 'keys'> & {
  /** As the settings name them; empty unless rows are upserted. */
  readonly keyNames: readonly string[]
  /** As the settings name it. */
  readonly label: string
  /** Quoted. */
  readonly schema: string
  readonly replace: boolean
}

/** How long a statement may take that writes a batch, in seconds. */
const statementSeconds = 600

/** Reads the settings of the destination. Throws a `ConnectorError` if one is missing. */
export function targetOf(settings: Values): Target {
  const { schema, table, keys } = writingOf(settings, '')
  const [database, warehouse] = ['database', 'warehouse'].map((key) => {
    const value = settings[key]
    if (typeof value === 'string' && value.trim() !== '') return value
    throw new ConnectorError('invalid_setting', `The setting ${key} has no value; set it.`)
  })
  const path = `${quoteName(database ?? '')}.${quoteName(schema)}`
  return {
    schema: path,
    name: `${path}.${quoteName(table)}`,
    batches: `${path}."PENSTOCK_BATCHES"`,
    label: table,
    at: { warehouse, database, schema, timeoutSeconds: statementSeconds },
    replace: settings.writeMode === 'Replace',
    keyNames: keys,
  }
}

/** Finds the table, and creates it, and the one that notes batches, if they are missing. */
export async function openTable(api: SqlApi, target: Target, delivered: readonly string[]): Promise<SnowflakeTable> {
  let found = await columnsOf(api, target.name, target.at)
  if (!found) {
    const columns = distinct(delivered.map(plainName)).map((name) => `${quoteAsIs(name)} varchar`)
    await api.run({ ...target.at, text: `create table if not exists ${target.name} (${columns.join(', ')})` })
    found = await columnsOf(api, target.name, target.at)
  }
  const { columns, keys, errors } = judge(target, delivered, found ?? [])
  throwFirst(errors)
  if (!(await columnsOf(api, target.batches, target.at))) {
    const parts = `"TRANSFER_ID" varchar not null, "BATCH_KEY" varchar not null, "DELIVERED_TIME" timestamp_ntz not null`
    await api.run({ ...target.at, text: `create table if not exists ${target.batches} (${parts})` })
  }
  return { name: target.name, batches: target.batches, at: target.at, columns, keys }
}

/** The columns of a table; `undefined` if there is none, or its schema is missing. */
export async function columnsOf(
  api: SqlApi,
  name: string,
  at: StatementPlace,
): Promise<readonly SnowflakeColumn[] | undefined> {
  try {
    return await describe(api, name, at)
  } catch (error) {
    if (asConnectorError(error)?.code === 'table_not_found') return undefined
    throw error
  }
}

/** The table's columns for the delivered columns, and the problems that prevent writing to them. */
export function judge(
  { label, keyNames }: Target,
  delivered: readonly string[],
  found: readonly SnowflakeColumn[],
): { columns: SnowflakeColumn[]; keys: number[]; errors: FatalTableProblem[] } {
  const matches = delivered.map((name) => columnFor(name, found))
  const columns = matches.filter((column) => column !== undefined)
  const missing = delivered.filter((_, at) => matches[at] === undefined)
  const errors = columnsNotFound(label, missing)
  const twice = columns.find((column, at) => columns.indexOf(column) !== at)
  if (twice) {
    errors.push({
      code: 'columns_do_not_fit',
      columns: delivered.filter((_, at) => matches[at] === twice),
      describe: (names) =>
        `${names.join(' and ')} are mapped to the same column of the table; map one of them to another column.`,
    })
  }
  const keyed = keyNames.map((name) => columnFor(plainName(name), columns))
  errors.push(...keysNotDelivered(keyNames.filter((_, at) => keyed[at] === undefined)))
  const keys = [...new Set(keyed.filter((column) => column !== undefined))]
  const unusable = keys.filter(({ type }) => !isCompared(type))
  if (unusable.length > 0) {
    errors.push({
      code: 'columns_do_not_fit',
      columns: unusable.map(({ name }) => name),
      describe: (names) => `The key column ${names.join(', ')} has a type that cannot be compared; choose another key.`,
    })
  }
  return { columns, keys: keys.map((column) => columns.indexOf(column)), errors }
}

/** Whether values of a type are compared exactly. */
export const isCompared = (type: string): boolean => /^(FIXED|TEXT|BOOLEAN|DATE|TIME|TIMESTAMP_\w+)$/.test(type)

/** A column by its exact name, or else in any case. */
const columnFor = (name: string, found: readonly SnowflakeColumn[]): SnowflakeColumn | undefined =>
  found.find((column) => column.name === name) ??
  found.find((column) => column.name.toLowerCase() === name.toLowerCase())

const distinct = (names: readonly string[]): readonly string[] => [...new Set(names)]
