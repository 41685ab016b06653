import { asConnectorError, ConnectorError, type DestinationContext, type DestinationWriter } from '@penstock/connector'
import { throwFirst } from '../databases/table-findings.ts'
import { mirrorErrors, nameKeysBy } from '../kit/warehouse/key-names.ts'
import type { JudgedRow } from '../kit/warehouse/rows.ts'
import { type BatchName, type Loaded, openLoadingWriter } from '../kit/warehouse/writer.ts'
import { accountOf, plainName } from './account.ts'
import { keyReaderFor } from './key-values.ts'
import { mergeRows, type StagedKeys, stagedKeys, windowStoreOf } from './merge.ts'
import { quoteAsIs } from './plan.ts'
import { refusalIn } from './refusals.ts'
import { flattened, jsonOf, valueAt } from './sent-rows.ts'
import { makeSqlApi, type SqlApi } from './sql-api.ts'
import { openTable, type SnowflakeTable, targetOf } from './table.ts'

export { inspect, tryRows } from './table.ts'

/** Older batches are not repeated. */
const keptDays = 30

/** Opens a writer: finds the tables, and creates the missing ones. Does not empty the table yet. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const target = targetOf(context.settings)
  const api = makeSqlApi(context, accountOf(context), true)
  const table = await openTable(api, target, context.columns)
  throwFirst(mirrorErrors(context.settings, table.columns))
  const { transferId, attempt } = context
  const isUpsert = table.keyIndexes.length > 0
  return openLoadingWriter<StagedKeys>(context, {
    name: 'Snowflake',
    columns: table.columns,
    replaces: target.mode === 'Replace',
    // A later attempt of the same transfer finds its batches noted.
    emptiesOnce: true,
    empty() {
      const unwritten = `not exists (select 1 from ${table.batches} where "TRANSFER_ID" = ?)`
      return api.run({ ...table.at, text: `delete from ${table.name} where ${unwritten}`, bindings: [transferId] })
    },
    async load(items, name) {
      const { batch } = name
      const taken = await (isUpsert ? merge(api, table, name, items) : insert(api, table, name, items))
      const isStaged = isUpsert && batch.window !== undefined && items.length === batch.rows.length
      if (taken.refused !== undefined || !isStaged) return taken
      return { ...taken, stage: stagedKeys(table, `${transferId}:${attempt}:${batch.key}`, items) }
    },
    nameKeys: nameKeysBy(
      table.columns.map((column) => ({ ...column, read: keyReaderFor(column) })),
      target.keys.map(plainName),
    ),
    async finish() {
      const old = `"DELIVERED_TIME" < dateadd(day, -${keptDays}, sysdate())`
      // For a role that is not allowed to delete, they stay.
      await api.run({ ...table.at, text: `delete from ${table.batches} where ${old}` }).catch((error: unknown) => {
        if (asConnectorError(error)?.code !== 'permission_denied') throw error
      })
    },
    windows: isUpsert ? windowStoreOf(api, table) : undefined,
  })
}

/** The key of some rows of a batch, which is the same in every attempt. */
function partKeyOf({ key, rows }: BatchName['batch'], items: readonly JudgedRow[]): string {
  return items.length === rows.length ? key : `${key}:${items[0]?.index ?? 0}-${items.at(-1)?.index ?? 0}`
}

/** Sends rows as JSON, and returns the reason if Snowflake refuses a value of a row. */
async function send(
  items: readonly JudgedRow[],
  work: (json: string) => Promise<unknown>,
): Promise<Loaded<StagedKeys>> {
  const json = jsonOf(items)
  const bytes = Buffer.byteLength(json)
  try {
    await work(json)
    return { bytes }
  } catch (error) {
    const refusal = refusalIn(error)
    if (refusal === undefined) throw error
    return { bytes, refused: refusal }
  }
}

const merge = (api: SqlApi, table: SnowflakeTable, { batch, transferId }: BatchName, items: readonly JudgedRow[]) =>
  send(items, (json) => {
    const removes = items.some(({ isRemoved }) => isRemoved)
    return mergeRows(api, table, [transferId, partKeyOf(batch, items)], json, { sent: items.length, removes })
  })

/** Inserts rows and notes that it did, in one statement, which is a transaction. Rows that were noted before are not inserted again. */
const insert = (api: SqlApi, table: SnowflakeTable, { batch, transferId }: BatchName, items: readonly JudgedRow[]) =>
  send(items, async (json) => {
    const name = [transferId, partKeyOf(batch, items)]
    const { rows: counts } = await api.run({
      ...table.at,
      text: insertStatement(table),
      bindings: [...name, json, ...name],
    })
    assertWritten(counts[0] ?? [], items.length)
  })

function insertStatement({ name, batches, columns }: SnowflakeTable): string {
  const names = columns.map((column) => quoteAsIs(column.name)).join(', ')
  const aliases = columns.map((_, at) => `c${at}`).join(', ')
  return `insert all
    when 1 = 1 then into ${name} (${names}) values (${aliases})
    when n = 0 then into ${batches} ("TRANSFER_ID", "BATCH_KEY", "DELIVERED_TIME") values (transfer, batch, noted)
    select f.index as n, ? as transfer, ? as batch, sysdate() as noted, ${columns.map(valueAt).join(', ')}
      from ${flattened}
     where not exists (select 1 from ${batches} where "TRANSFER_ID" = ? and "BATCH_KEY" = ?)`
}

/** By Snowflake's own count: all rows and the note of them, or nothing if they were noted before. */
function assertWritten(counts: readonly (string | null)[], sent: number): void {
  const [rows, notes] = counts.map((count) => (count !== null && /^\d{1,9}$/.test(count) ? Number(count) : undefined))
  if (counts.length === 2 && ((rows === sent && notes === 1) || (rows === 0 && notes === 0))) return
  throw new ConnectorError('unexpected_response', 'Snowflake did not insert as many rows as were sent.')
}
