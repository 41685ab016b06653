import { asConnectorError, type Rejection, type Values } from '@penstock/connector'
import { writingOf } from '../databases/settings.ts'
import { noValue } from '../kit/names.ts'
import { inspectionsOf } from '../kit/warehouse/inspect.ts'
import type { JudgedRow } from '../kit/warehouse/rows.ts'
import { judgeTable, openTable as openFound, type Tables, type Target, writeModeOf } from '../kit/warehouse/table.ts'
import { sendInHalves } from '../platform-api/rows/halving.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { accountOf, plainName } from './account.ts'
import type { SnowflakeColumn } from './cells.ts'
import { describe, quoteAsIs, quoteName, type StatementPlace } from './plan.ts'
import { misfitOf, refusalIn } from './refusals.ts'
import { flattened, jsonOf, valueAt } from './sent-rows.ts'
import { makeSqlApi, type SqlApi } from './sql-api.ts'
import { type SnowflakeTargetColumn, targetColumn } from './target-columns.ts'

/** The table that rows go to, as the settings name it. */
export type SnowflakeTarget = Target & {
  /** With its database and schema, quoted. */
  readonly name: string
  /** Quoted. */
  readonly schema: string
  /** The table that notes which batches were written, in the same schema. */
  readonly batches: string
  readonly at: Omit<StatementPlace, 'timeoutSeconds'>
  /** Whether the table is a mirror of the source. */
  readonly mirrors: boolean
}

/** A table that rows are written to. */
export type SnowflakeTable = Omit<SnowflakeTarget, 'at'> & {
  /** In the order of the delivered columns. */
  readonly columns: readonly SnowflakeTargetColumn[]
  /** Indexes of the key columns. Empty unless rows are upserted. */
  readonly keyIndexes: readonly number[]
  readonly at: StatementPlace
}

/** Time limit of a statement that writes a batch, or that looks up a table for a person, in seconds. */
const [writeSeconds, lookSeconds] = [600, 60]

/** Reads the settings of the destination. Throws a `ConnectorError` if one is missing. */
export function targetOf(settings: Values): SnowflakeTarget {
  const { schema, table, keys } = writingOf(settings, '')
  const [database, warehouse] = ['database', 'warehouse'].map((key) => {
    const value = settings[key]
    if (typeof value === 'string' && value.trim() !== '') return value
    throw noValue(key)
  })
  const path = `${quoteName(database ?? '')}.${quoteName(schema)}`
  return {
    schema: path,
    name: `${path}.${quoteName(table)}`,
    batches: `${path}."PENSTOCK_BATCHES"`,
    table,
    where: `the schema ${schema}`,
    at: { warehouse, database, schema },
    mode: writeModeOf(settings),
    mirrors: settings.sendRows === 'Mirror',
    keys,
    create: true,
  }
}

type Session = { readonly api: SqlApi; readonly timeoutSeconds: number }
type Found = { readonly columns: readonly SnowflakeTargetColumn[] }

const tables: Tables<Session, SnowflakeTarget, Found> = {
  targetOf,
  use: (context, work) => work({ api: makeSqlApi(context, accountOf(context), true), timeoutSeconds: lookSeconds }),
  async find({ api, timeoutSeconds }, { name, at, keys, mirrors }) {
    const found = await columnsOf(api, name, { ...at, timeoutSeconds })
    const isKey = (column: string) => keys.some((key) => plainName(key).toLowerCase() === column.toLowerCase())
    return found && { columns: found.map((column) => targetColumn(column, mirrors && isKey(column.name))) }
  },
  create({ api, timeoutSeconds }, { name, at }, names) {
    const columns = names.map((column) => `${quoteAsIs(column)} varchar`)
    return api.run({ ...at, timeoutSeconds, text: `create table if not exists ${name} (${columns.join(', ')})` })
  },
  assertCreatable: ({ api, timeoutSeconds }, { schema, at }) =>
    api.run({ ...at, timeoutSeconds, text: `show tables like 'PENSTOCK_BATCHES' in schema ${schema}` }),
  nameOf: plainName,
  tryItems,
}

export const { inspect, tryRows } = inspectionsOf(tables)

/** Finds the table and the table that notes batches, and creates the missing ones. */
export async function openTable(
  api: SqlApi,
  target: SnowflakeTarget,
  delivered: readonly string[],
): Promise<SnowflakeTable> {
  const { columns, keys } = await openFound(tables, { api, timeoutSeconds: writeSeconds }, target, delivered)
  const at = { ...target.at, timeoutSeconds: writeSeconds }
  if (!(await columnsOf(api, target.batches, at))) {
    const parts = `"TRANSFER_ID" varchar not null, "BATCH_KEY" varchar not null, "DELIVERED_TIME" timestamp_ntz not null`
    await api.run({ ...at, text: `create table if not exists ${target.batches} (${parts})` })
  }
  return { ...target, at, columns, keyIndexes: keys }
}

/** The columns of a table. `undefined` if the table or its schema does not exist. */
async function columnsOf(
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

/** The columns of an existing table for the delivered columns. `undefined` if the table does not exist. */
export async function existingColumns(
  api: SqlApi,
  target: SnowflakeTarget,
  delivered: readonly string[],
): Promise<readonly SnowflakeTargetColumn[] | undefined> {
  const session = { api, timeoutSeconds: lookSeconds }
  const found = await tables.find(session, target)
  return found && (await judgeTable(tables, session, target, delivered, found)).columns
}

/**
 * Has Snowflake read the rows as a delivery does, by a SELECT instead of the INSERT, and compares the texts with the lengths of the
 * columns and missing values with NOT NULL. Snowflake enforces no other rule of a table.
 */
async function tryItems(
  { api, timeoutSeconds }: Session,
  { at }: SnowflakeTarget,
  columns: readonly SnowflakeTargetColumn[],
  items: readonly JudgedRow[],
): Promise<readonly Rejection[]> {
  const text = `select ${columns.map(valueAt).join(', ')} from ${flattened}`
  const misfits = items.flatMap(({ index, values }): Rejection[] => {
    const reason = misfitOf(columns, values)
    return reason === undefined ? [] : [{ index, reason }]
  })
  const others = items.filter(({ index }) => !misfits.some((misfit) => misfit.index === index))
  const { rejected } = await sendInHalves(others, new Refusals('Snowflake'), async (part) => {
    try {
      await api.run({ ...at, timeoutSeconds, text, bindings: [jsonOf(part)] })
      return { bytes: 0 }
    } catch (error) {
      const refusal = refusalIn(error)
      if (refusal === undefined) throw error
      return { bytes: 0, refused: refusal }
    }
  })
  return [...misfits, ...rejected]
}
