import {
  asConnectorError,
  type Batch,
  ConnectorError,
  type Delivery,
  type DestinationContext,
  type DestinationWriter,
  type Finding,
  type InspectionContext,
  type Rejection,
  type TriedRows,
} from '@penstock/connector'
import { inOrder } from '../databases/rejections.ts'
import { StagedWindows } from '../databases/staged-windows.ts'
import { findingsOf, valuesNotTaken } from '../databases/table-findings.ts'
import { sendInHalves, type Taken } from '../platform-api/rows/halving.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { accountOf } from './account.ts'
import type { SnowflakeColumn } from './cells.ts'
import { type ColumnWriter, writerFor } from './column-writers.ts'
import { mergeRows, type StagedKeys, stagedKeys, windowStoreOf } from './merge.ts'
import { quoteAsIs } from './plan.ts'
import { makeSqlApi, type SqlApi } from './sql-api.ts'
import { columnsOf, judge, openTable, type SnowflakeTable, targetOf } from './table.ts'

/** Batches of so long ago do not come again. */
const keptDays = 30

/** Opens a writer: finds the tables, and creates what is missing. Empties nothing yet. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const target = targetOf(context.settings)
  const api = makeSqlApi(context, accountOf(context), true)
  const table = await openTable(api, target, context.columns)
  const refusals = new Refusals('Snowflake')
  const windows = table.keys.length > 0 ? new StagedWindows(windowStoreOf(api, table)) : undefined
  const { transferId, attempt } = context
  const work: Work = { api, table, refusals, transferId, attempt, windows }
  let emptied = !target.replace
  /** Empties the table before the first rows of the transfer; a later attempt of the same transfer finds them noted. */
  const emptyOnce = async (): Promise<void> => {
    if (emptied) return
    const unwritten = `not exists (select 1 from ${table.batches} where "TRANSFER_ID" = ?)`
    await api.run({ ...table.at, text: `delete from ${table.name} where ${unwritten}`, bindings: [transferId] })
    emptied = true
  }
  return {
    async deliver(batch) {
      context.signal.throwIfAborted()
      await emptyOnce()
      return deliver(work, batch)
    },
    async finish() {
      await emptyOnce()
      const old = `"DELIVERED_TIME" < dateadd(day, -${keptDays}, sysdate())`
      // A role that may not delete keeps them.
      await api.run({ ...table.at, text: `delete from ${table.batches} where ${old}` }).catch((error: unknown) => {
        if (asConnectorError(error)?.code !== 'permission_denied') throw error
      })
    },
    async close() {
      await windows?.forget().catch(() => {})
    },
  }
}

type Work = {
  readonly api: SqlApi
  readonly table: SnowflakeTable
  readonly refusals: Refusals
  readonly transferId: string
  readonly attempt: number
  /** Set if rows are upserted. */
  readonly windows: StagedWindows<StagedKeys> | undefined
}
type Item = {
  readonly index: number
  readonly texts: readonly (string | null)[]
  /** Whether the row is to be removed: then it has the texts of its key alone. */
  readonly isRemoved: boolean
}

async function deliver(work: Work, batch: Batch): Promise<Delivery> {
  const writers = work.table.columns.map(writerFor)
  const { items, doubtful } = judgeRows(writers, batch, work.table.keys)
  const { bytes, rejected } = await sendInHalves(items, work.refusals, (part) => insert(work, writers, batch, part))
  const all = inOrder([...doubtful, ...rejected])
  if (work.windows) {
    const isWhole = batch.window !== undefined && items.length > 0 && all.length === 0
    const texts = items.map((item) => item.texts)
    const stage = isWhole ? stagedKeys(work.table, `${work.transferId}:${work.attempt}:${batch.key}`, texts) : undefined
    await work.windows.settle(batch, stage)
  }
  return { bytes, ...(all.length > 0 ? { rejected: all } : {}) }
}

/** The texts of the rows, and the rows that a column would not store exactly, or that have no key. */
function judgeRows(
  writers: readonly ColumnWriter[],
  { rows, columns, removed }: Pick<Batch, 'rows' | 'columns' | 'removed'>,
  keys: readonly number[],
): { items: Item[]; doubtful: Rejection[] } {
  const doubtful: Rejection[] = []
  const items: Item[] = []
  for (const [index, row] of rows.entries()) {
    const isRemoved = removed?.has(index) ?? false
    const texts = writers.map((writer, at) => (isRemoved && !keys.includes(at) ? null : writer.text(row[at] ?? null)))
    const doubts = texts.map((text, at) => {
      if (text !== null) return writers[at]?.doubt(text)
      // It would never be found again.
      return keys.includes(at) ? reasons['100072'] : undefined
    })
    const at = doubts.findIndex((doubt) => doubt !== undefined)
    if (at < 0) items.push({ index, texts, isRemoved })
    else doubtful.push({ index, reason: doubts[at] ?? '', field: columns[at] ?? '' })
  }
  return { items, doubtful }
}

/**
 * Has Snowflake read the rows as a delivery does, by a SELECT in place of the INSERT, and compares the texts with the lengths
 * of the columns and missing values with NOT NULL. Snowflake enforces no other rule of a table.
 */
export async function tryRows(context: InspectionContext): Promise<TriedRows> {
  const target = targetOf(context.settings)
  const api = makeSqlApi(context, accountOf(context), true)
  const at = { ...target.at, timeoutSeconds: 60 }
  const found = await columnsOf(api, target.name, at)
  const { columns, keys, errors } = judge(target, context.columns, found ?? [])
  if (!found || errors.length > 0) return { rejected: [] }
  const writers = columns.map(writerFor)
  const { items, doubtful } = judgeRows(writers, context, keys)
  const text = `select ${valuesOf(writers)} from ${flattened}`
  const misfits = items.flatMap(({ index, texts }): Rejection[] => {
    const reason = misfitOf(columns, texts)
    return reason === undefined ? [] : [{ index, reason }]
  })
  const others = items.filter(({ index }) => !misfits.some((misfit) => misfit.index === index))
  const { rejected } = await sendInHalves(others, new Refusals('Snowflake'), async (part) => {
    try {
      await api.run({ ...at, text, bindings: [JSON.stringify(part.map(({ texts }) => texts))] })
      return { bytes: 0 }
    } catch (error) {
      const refusal = refusalIn(error)
      if (refusal === undefined) throw error
      return { bytes: 0, refused: refusal }
    }
  })
  return { rejected: inOrder([...doubtful, ...misfits, ...rejected]) }
}

/** Why the INSERT of a row would fail although its values can be read. */
function misfitOf(columns: readonly SnowflakeColumn[], texts: readonly (string | null)[]): string | undefined {
  for (const [at, { type, needed, length, precision, scale }] of columns.entries()) {
    const text = texts[at] ?? null
    if (text === null) {
      if (needed) return reasons['100072']
    } else if (type === 'TEXT' && length !== undefined && [...text].length > length) {
      return reasons['100078']
    } else if (type === 'FIXED' && precision !== undefined && wholeDigits(text) > precision - scale) {
      return reasons['100039']
    }
  }
  return undefined
}

/** How many digits a number has before its point. */
function wholeDigits(text: string): number {
  const [, whole = '', fraction = '', exponent = '0'] = /^\s*[+-]?(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?\s*$/.exec(text) ?? []
  const digits = (whole + fraction).replace(/^0+/, '').length
  return digits === 0 ? 0 : digits - fraction.length + Number(exponent)
}

/**
 * Merges rows by their key, or inserts them and notes that it did, in one statement, which is a transaction; rows that were noted before are not
 * inserted again. A part of a batch has a key of its own, which is the same in every attempt.
 */
async function insert(
  { api, table, transferId }: Work,
  writers: readonly ColumnWriter[],
  { key, rows }: Batch,
  items: readonly Item[],
): Promise<Taken<Item>> {
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0]
  const part = items.length === rows.length ? key : `${key}:${first}-${last}`
  const json = JSON.stringify(items.map(({ texts, isRemoved }) => (isRemoved ? [...texts, 'removed'] : texts)))
  const bytes = Buffer.byteLength(json)
  const statement = {
    ...table.at,
    text: insertStatement(table, writers),
    bindings: [transferId, part, json, transferId, part],
  }
  try {
    if (table.keys.length > 0) {
      const removes = items.some(({ isRemoved }) => isRemoved)
      await mergeRows(api, table, [transferId, part], json, { sent: items.length, removes })
    } else {
      const { rows: counts } = await api.run(statement)
      assertWritten(counts[0] ?? [], items.length)
    }
    return { bytes }
  } catch (error) {
    const refusal = refusalIn(error)
    if (refusal === undefined) throw error
    return { bytes, refused: refusal }
  }
}

/** The binding is a JSON array of rows, each an array of texts and nulls. */
function insertStatement({ name, batches, columns }: SnowflakeTable, writers: readonly ColumnWriter[]): string {
  const names = columns.map((column) => quoteAsIs(column.name)).join(', ')
  const aliases = writers.map((_, at) => `c${at}`).join(', ')
  return `insert all
    when 1 = 1 then into ${name} (${names}) values (${aliases})
    when n = 0 then into ${batches} ("TRANSFER_ID", "BATCH_KEY", "DELIVERED_TIME") values (transfer, batch, noted)
    select f.index as n, ? as transfer, ? as batch, sysdate() as noted, ${valuesOf(writers)}
      from ${flattened}
     where not exists (select 1 from ${batches} where "TRANSFER_ID" = ? and "BATCH_KEY" = ?)`
}

const flattened = 'table(flatten(input => parse_json(?))) as f'

const valuesOf = (writers: readonly ColumnWriter[]): string =>
  writers.map((writer, at) => `${writer.value(`as_varchar(get(f.value, ${at}))`)} as c${at}`).join(', ')

/** By Snowflake's own count: all rows and the note of them, or nothing if they were noted before. */
function assertWritten(counts: readonly (string | null)[], sent: number): void {
  const [rows, notes] = counts.map((count) => (count !== null && /^\d{1,9}$/.test(count) ? Number(count) : undefined))
  if (counts.length === 2 && ((rows === sent && notes === 1) || (rows === 0 && notes === 0))) return
  throw new ConnectorError('unexpected_response', 'Snowflake did not insert as many rows as were sent.')
}

/** Why a statement failed because of a row; `undefined` if that was not the reason. */
function refusalIn(error: unknown): string | undefined {
  const connectorError = asConnectorError(error)
  if (connectorError?.code !== 'statement_failed') return undefined
  const [, codes = 'without a code', code = ''] =
    /\(((?:code (\d{3,8}))?[^()]{0,60})\)/.exec(connectorError.message) ?? []
  return `${reasons[code] ?? 'Snowflake cannot write a value of the row.'} (${codes})`.replace(/\. \((.*)\)$/, ' ($1).')
}

const reasons: Readonly<Record<string, string>> = {
  '100035': 'A value is not a time, which the column requires.',
  '100037': 'A value is neither true nor false, which the column requires.',
  '100038': 'A value is not a number, which the column requires.',
  '100039': 'A number is too large for the column.',
  '100040': 'A value is not a date, which the column requires.',
  '100069': 'A value is not JSON, which the column requires.',
  '100072': 'There is no value for a column that needs one.',
  '100078': 'A text is too long for the column.',
}

/** Looks up the table and holds columns and values against it; creates nothing. */
export async function inspect(context: InspectionContext): Promise<readonly Finding[]> {
  const target = targetOf(context.settings)
  const api = makeSqlApi(context, accountOf(context), true)
  const at = { ...target.at, timeoutSeconds: 60 }
  const found = await columnsOf(api, target.name, at)
  if (!found) {
    // The transfer creates the table; a schema or database that is missing fails this.
    await api.run({ ...at, text: `show tables like 'PENSTOCK_BATCHES' in schema ${target.schema}` })
    return []
  }
  const { errors } = judge(target, context.columns, found)
  const findings = errors.flatMap(findingsOf)
  for (const [index, name] of context.columns.entries()) {
    const [column] = judge({ ...target, keyNames: [] }, [name], found).columns
    const writer = column && writerFor(column)
    const texts = context.rows.map((row) => writer?.text(row[index] ?? null) ?? null)
    const reason = texts
      .flatMap((text) => (text === null ? [] : [writer?.doubt(text)]))
      .find((each) => each !== undefined)
    if (reason !== undefined) findings.push(valuesNotTaken(name, reason))
  }
  return findings
}
