import {
  type ConnectorContext,
  ConnectorError,
  type FileLoader,
  type LoadContext,
  type LoadGroup,
  type LoadPart,
  type LoadRejection,
  type LoadReport,
} from '@penstock/connector'
import { accountOf } from './account.ts'
import type { SnowflakeColumn } from './cells.ts'
import { loadedColumn, stagedName } from './load-columns.ts'
import { type Copied, copyFiles, countIn, runLong, unreadRows } from './load-copy.ts'
import { quoteAsIs } from './plan.ts'
import type { SnowflakeRow } from './result-rows.ts'
import { makeSqlApi, type SmallResult } from './sql-api.ts'
import { columnsOf, judge, openTable, targetOf } from './table.ts'

/** How long a statement may take that loads files, in seconds. */
const loadSeconds = 4 * 3600
/** Files of one COPY; Snowflake takes 1,000. */
const filesMax = 500
/** If all of so many rows are refused, the rows are not the cause. */
const refusedMax = 100
/** How long removing the staging table may take, in milliseconds. */
const cleanUpMs = 30_000

/**
 * Opens a loader: Snowflake copies the files into a staging table of texts, which only this transfer uses, and judges and writes them from there,
 * with the values that a worker would write. Rows of the files never get here, except rejected ones.
 */
export async function openLoader(context: LoadContext): Promise<FileLoader | { readonly whyNot: string }> {
  const { settings, secrets, columns: delivered, picked, transferId, attempt } = context
  const target = targetOf(settings)
  const api = makeSqlApi(context, accountOf(context), true)
  const table = await openTable(api, target, delivered)
  const other = otherType(table.columns)
  if (other !== undefined) return { whyNot: other }
  const loaded = table.columns.flatMap((column, at) => loadedColumn(column, stagedName(picked[at] ?? -1)) ?? [])
  const at = { ...table.at, timeoutSeconds: loadSeconds }
  const { signal } = context
  const run: Run = (text, bindings = []) => runLong(api, { ...at, text, bindings }, signal)
  const prefix = `PENSTOCK_LOAD_${transferId.toUpperCase()}_`
  const staging = `${target.schema}.${quoteAsIs(`${prefix}${attempt}`)}`
  await dropEarlier((text) => api.run({ ...at, text }), target.schema, prefix)
  const misfits: Misfit[] = loaded.flatMap(({ misfits }, index) =>
    misfits.map(([condition, reason]) => ({ condition, reason, field: delivered[index] ?? '' })),
  )
  const isGood = misfits.length === 0 ? 'true' : `${misfitSql(misfits)} is null`
  const names = table.columns.map(({ name }) => quoteAsIs(name)).join(', ')
  /** How many rows of the staging table will be written. */
  let accepted = 0

  const copy = (part: LoadPart): Promise<Copied> =>
    copyFiles({ api, at, staging, integration: String(secrets.storageIntegration ?? '') }, context, part)

  return {
    async stage({ parts }, rejectsMax): Promise<LoadReport> {
      const columns = context.sourceColumns.map((_, index) => `${stagedName(index)} varchar`)
      await run(`create or replace transient table ${staging} (${columns.join(', ')}) data_retention_time_in_days = 0`)
      const copied: Copied[] = []
      for (const part of parts) {
        for (let from = 0; from < part.files.length; from += filesMax) {
          copied.push(await copy({ form: part.form, files: part.files.slice(from, from + filesMax) }))
        }
      }
      const rows = copied.reduce((sum, { parsed }) => sum + parsed, 0)
      const loadedRows = copied.reduce((sum, each) => sum + each.loaded, 0)
      const unread: LoadRejection[] = []
      for (const { handle, parsed, loaded: taken } of copied) {
        if (parsed > taken) unread.push(...(await unreadRows(run, staging, handle, parsed - taken, rejectsMax)))
      }
      const found = await badRows(run, { staging, misfits, width: columns.length }, rejectsMax - unread.length)
      if (found.staged !== loadedRows) throw notAsMany()
      const rejected = [...unread, ...found.rejected]
      accepted = rows - rejected.reduce((sum, { count }) => sum + count, 0)
      if (rows >= refusedMax && accepted === 0) throw everythingRefused(rejected[0]?.reason ?? '')
      return { rows, rejected }
    },

    async commit({ key }: LoadGroup) {
      const values = loaded.map(({ value }, index) => `${value} as v${index}`).join(', ')
      const aliases = loaded.map((_, index) => `v${index}`).join(', ')
      const taken = `select ${values} from ${staging} where ${isGood}`
      if (target.replace) {
        // The same files give the same content, however often they are loaded.
        const { rows } = await run(`insert overwrite into ${table.name} (${names}) select ${aliases} from (${taken})`)
        return assertCounts(rows[0], [accepted])
      }
      if (accepted === 0) return
      const text = `insert all
    when k = 1 then into ${table.name} (${names}) values (${aliases})
    when k = 0 then into ${table.batches} ("TRANSFER_ID", "BATCH_KEY", "DELIVERED_TIME") values (transfer, batch, noted)
    select k, ? as transfer, ? as batch, sysdate() as noted, ${aliases}
      from (select 1 as k, ${values} from ${staging} where ${isGood}
            union all select 0, ${loaded.map(() => 'null').join(', ')})
     where not exists (select 1 from ${table.batches} where "TRANSFER_ID" = ? and "BATCH_KEY" = ?)`
      const { rows } = await run(text, [transferId, key, transferId, key])
      assertCounts(rows[0], [accepted, 1], [0, 0])
    },

    async close() {
      const api = makeSqlApi({ ...context, signal: AbortSignal.timeout(cleanUpMs) }, accountOf(context), true)
      await api
        .run({ ...at, timeoutSeconds: cleanUpMs / 1000, text: `drop table if exists ${staging}` })
        .catch(() => {})
    },
  }
}

/** Why the table is filled by a worker. */
export async function whyNotTable(
  context: ConnectorContext & Pick<LoadContext, 'columns'>,
): Promise<string | undefined> {
  const target = targetOf(context.settings)
  const api = makeSqlApi(context, accountOf(context), true)
  const found = await columnsOf(api, target.name, { ...target.at, timeoutSeconds: 60 })
  return found && otherType(judge(target, context.columns, found).columns)
}

function otherType(columns: readonly SnowflakeColumn[]): string | undefined {
  const other = columns.find((column) => loadedColumn(column, '') === undefined)
  return other && `the column ${other.name} of the table has the type ${other.type}`
}

type Run = (text: string, bindings?: readonly string[]) => Promise<{ readonly rows: readonly SnowflakeRow[] }>

/** An error of a row, and the delivered column to blame. */
type Misfit = { readonly condition: string; readonly reason: string; readonly field: string }

/** SQL of the index of the first misfit of a row; NULL if it has none. */
const misfitSql = (misfits: readonly Misfit[]): string =>
  `case ${misfits.map(({ condition }, index) => `when ${condition} then ${index}`).join(' ')} end`

/** Removes what attempts that were killed left behind. */
async function dropEarlier(run: (text: string) => Promise<SmallResult>, schema: string, prefix: string): Promise<void> {
  const { columns, rows } = await run(`show tables like '${prefix}%' in schema ${schema}`)
  const at = columns.findIndex(({ name }) => name.toLowerCase() === 'name')
  for (const row of rows) {
    const name = row[at] ?? ''
    if (name.startsWith(prefix)) await run(`drop table if exists ${schema}.${quoteAsIs(name)}`)
  }
}

/** Counts the rows of the staging table by their errors, and reads some of the bad ones. */
async function badRows(
  run: Run,
  { staging, misfits, width }: { staging: string; misfits: readonly Misfit[]; width: number },
  rejectsMax: number,
): Promise<{ staged: number; rejected: LoadRejection[] }> {
  const misfit = misfits.length === 0 ? 'null' : misfitSql(misfits)
  const { rows: groups } = await run(
    `select misfit, count(*) from (select ${misfit} as misfit from ${staging}) group by misfit`,
  )
  let staged = 0
  const left = new Map<number, number>()
  for (const [index, text] of groups) {
    const count = countIn(text)
    staged += count
    if (index !== null && index !== undefined) left.set(countIn(index), count)
  }
  const rejected: LoadRejection[] = []
  if (left.size > 0 && rejectsMax > 0) {
    const names = Array.from({ length: width }, (_, index) => stagedName(index)).join(', ')
    const bad = `select ${names}, ${misfit} as misfit from ${staging}`
    const { rows } = await run(`select misfit, ${names} from (${bad}) where misfit is not null limit ${rejectsMax}`)
    for (const [index, ...record] of rows) {
      const at = countIn(index)
      const known = misfits[at]
      if (!known) throw notAsMany()
      left.set(at, (left.get(at) ?? 0) - 1)
      rejected.push({ count: 1, reason: known.reason, field: known.field, record })
    }
  }
  for (const [at, count] of left) {
    const known = misfits[at]
    if (!known || count < 0) throw notAsMany()
    if (count > 0) rejected.push({ count, reason: known.reason, field: known.field })
  }
  return { staged, rejected }
}

/** By Snowflake's own count: one of these. */
function assertCounts(row: SnowflakeRow | undefined, ...expected: readonly (readonly number[])[]): void {
  const found = (row ?? []).map((text) => countIn(text)).join()
  if (!expected.some((counts) => counts.join() === found)) throw notAsMany()
}

const notAsMany = (): ConnectorError =>
  new ConnectorError('unexpected_response', 'Snowflake did not write as many rows as it loaded.')

const everythingRefused = (why: string): ConnectorError =>
  new ConnectorError(
    'everything_refused',
    `Snowflake accepted none of the rows that it loaded, so that single rows cannot be the cause: ${why} Check the mapping and the settings of the connection, then start the transfer again.`,
  )
