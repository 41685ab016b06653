import type {
  ConnectorContext,
  ConnectorError,
  FileLoader,
  LoadContext,
  LoadGroup,
  LoadPart,
  LoadRejection,
  LoadReport,
} from '@penstock/connector'
import { assertSomeAccepted, badRows, isGoodSql, misfitsOf, notAsManyRows } from '../databases/loaded-rows.ts'
import { accountOf } from './account.ts'
import type { SnowflakeColumn } from './cells.ts'
import { loadedColumn, stagedName } from './load-columns.ts'
import { type Copied, copyFiles, countIn, runLong, unreadRows } from './load-copy.ts'
import { otherTypes, stagingOf } from './load-types.ts'
import { quoteAsIs } from './plan.ts'
import type { SnowflakeRow } from './result-rows.ts'
import { makeSqlApi, type SmallResult } from './sql-api.ts'
import { columnsOf, judge, openTable, targetOf } from './table.ts'

/** How long a statement may take that loads files, in seconds. */
const loadSeconds = 4 * 3600
/** Files of one COPY; Snowflake takes 1,000. */
const filesMax = 500
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
  const other = otherType(table.columns, context)
  if (other !== undefined) return { whyNot: other }
  const loaded = table.columns.flatMap((column, at) => loadedColumn(column, stagedName(picked[at] ?? -1)) ?? [])
  const at = { ...table.at, timeoutSeconds: loadSeconds }
  const { signal } = context
  const run: Run = (text, bindings = []) => runLong(api, { ...at, text, bindings }, signal)
  const prefix = `PENSTOCK_LOAD_${transferId.toUpperCase()}_`
  const staging = `${target.schema}.${quoteAsIs(`${prefix}${attempt}`)}`
  await dropEarlier((text) => api.run({ ...at, text }), target.schema, prefix)
  const { columns, texts } = stagingOf(staging, context)
  const misfits = misfitsOf(loaded, delivered)
  const isGood = isGoodSql(misfits)
  const names = table.columns.map(({ name }) => quoteAsIs(name)).join(', ')
  /** How many rows of the staging table will be written. */
  let accepted = 0

  const copy = (part: LoadPart): Promise<Copied> =>
    copyFiles({ api, at, staging, integration: String(secrets.storageIntegration ?? '') }, context, part)

  return {
    async stage({ parts }, rejectsMax): Promise<LoadReport> {
      await run(`create or replace transient table ${staging} (${columns}) data_retention_time_in_days = 0`)
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
      const found = await badRows(
        async (text) => (await run(text)).rows,
        { platform, staging: texts, misfits, names: context.sourceColumns.map((_, index) => stagedName(index)) },
        rejectsMax - unread.length,
      )
      if (found.staged !== loadedRows) throw notAsMany()
      const rejected = [...unread, ...found.rejected]
      accepted = rows - rejected.reduce((sum, { count }) => sum + count, 0)
      assertSomeAccepted(platform, { rows, rejected })
      return { rows, rejected }
    },

    async commit({ key }: LoadGroup) {
      const values = loaded.map(({ value }, index) => `${value} as v${index}`).join(', ')
      const aliases = loaded.map((_, index) => `v${index}`).join(', ')
      const taken = `select ${values} from ${texts} where ${isGood}`
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
      from (select 1 as k, ${values} from ${texts} where ${isGood}
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
  context: ConnectorContext & Pick<LoadContext, 'columns' | 'picked' | 'sourceTypes'>,
): Promise<string | undefined> {
  const target = targetOf(context.settings)
  const api = makeSqlApi(context, accountOf(context), true)
  const found = await columnsOf(api, target.name, { ...target.at, timeoutSeconds: 60 })
  return found && otherType(judge(target, context.columns, found).columns, context)
}

function otherType(
  columns: readonly SnowflakeColumn[],
  context: Pick<LoadContext, 'picked' | 'sourceTypes'>,
): string | undefined {
  const other = columns.find((column) => loadedColumn(column, '') === undefined)
  return other ? `the column ${other.name} of the table has the type ${other.type}` : otherTypes(columns, context)
}

type Run = (text: string, bindings?: readonly string[]) => Promise<{ readonly rows: readonly SnowflakeRow[] }>

/** Removes what attempts that were killed left behind. */
async function dropEarlier(run: (text: string) => Promise<SmallResult>, schema: string, prefix: string): Promise<void> {
  const { columns, rows } = await run(`show tables like '${prefix}%' in schema ${schema}`)
  const at = columns.findIndex(({ name }) => name.toLowerCase() === 'name')
  for (const row of rows) {
    const name = row[at] ?? ''
    if (name.startsWith(prefix)) await run(`drop table if exists ${schema}.${quoteAsIs(name)}`)
  }
}

/** By Snowflake's own count: one of these. */
function assertCounts(row: SnowflakeRow | undefined, ...expected: readonly (readonly number[])[]): void {
  const found = (row ?? []).map((text) => countIn(text)).join()
  if (!expected.some((counts) => counts.join() === found)) throw notAsMany()
}

const platform = 'Snowflake'
const notAsMany = (): ConnectorError => notAsManyRows(platform)
