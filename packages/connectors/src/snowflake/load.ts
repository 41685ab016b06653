import type { LoadContext } from '@penstock/connector'
import { handoverOf, numbered, type StagingTable } from '../kit/warehouse/handover.ts'
import { notAsManyRows } from '../kit/warehouse/loaded-rows.ts'
import { accountOf } from './account.ts'
import { loadedColumn, stagedName } from './load-columns.ts'
import { copyFiles, countIn, runLong, unreadRows } from './load-copy.ts'
import { stagedType, stagingOf } from './load-types.ts'
import { quoteAsIs } from './plan.ts'
import type { SnowflakeRow } from './result-rows.ts'
import { makeSqlApi, type SmallResult } from './sql-api.ts'
import { existingColumns, openTable, type SnowflakeTable, targetOf } from './table.ts'
import type { SnowflakeTargetColumn } from './target-columns.ts'

const platform = 'Snowflake'
/** Time limit of a statement that loads files, in seconds. */
const loadSeconds = 4 * 3600
/** Time limit of removing the staging table, in milliseconds. */
const cleanUpMs = 30_000

/** Snowflake copies the files into a transient table, which only this attempt uses. Its rows never get here, except rejected ones. */
export const { openLoader, whyNotTable } = handoverOf<SnowflakeTargetColumn, SnowflakeTable>({
  platform,
  // Snowflake accepts 1,000.
  filesMax: 500,
  stagedName,
  loadedColumn,
  holdsOf: ({ type }) => (type === 'TEXT' ? 'texts' : 'others'),
  isUnread: (type) => stagedType(type) === undefined,
  open: (context) =>
    openTable(makeSqlApi(context, accountOf(context), true), targetOf(context.settings), context.columns),
  find: (context) =>
    existingColumns(makeSqlApi(context, accountOf(context), true), targetOf(context.settings), context.columns),
  begin,
})

async function begin(context: LoadContext, table: SnowflakeTable): Promise<StagingTable> {
  const { secrets, transferId, attempt, signal } = context
  const api = makeSqlApi(context, accountOf(context), true)
  const at = { ...table.at, timeoutSeconds: loadSeconds }
  const run = (text: string, bindings: readonly string[] = []) => runLong(api, { ...at, text, bindings }, signal)
  const prefix = `PENSTOCK_LOAD_${transferId.toUpperCase()}_`
  const staging = `${table.schema}.${quoteAsIs(`${prefix}${attempt}`)}`
  await dropEarlier((text) => api.run({ ...at, text }), table.schema, prefix)
  const { columns, texts } = stagingOf(staging, context)
  const names = table.columns.map(({ name }) => quoteAsIs(name)).join(', ')
  const aliases = table.columns.map((_, index) => `v${index}`).join(', ')
  const integration = String(secrets.storageIntegration ?? '')

  return {
    async reset() {
      await run(`create or replace transient table ${staging} (${columns}) data_retention_time_in_days = 0`)
    },
    async load(part, { rejectsMax }) {
      const { handle, parsed, loaded } = await copyFiles({ api, at, staging, integration }, context, part)
      const unread = parsed > loaded ? await unreadRows(run, staging, handle, parsed - loaded, rejectsMax) : []
      return { staged: loaded, unread }
    },
    texts: () => texts,
    ask: async (text) => (await run(text)).rows,
    async commit({ values, from, accepted }, key) {
      const taken = `select ${numbered(values)} ${from}`
      if (table.mode === 'Replace') {
        // The same files give the same content, however often they are loaded.
        const { rows } = await run(`insert overwrite into ${table.name} (${names}) select ${aliases} from (${taken})`)
        return assertCounts(rows[0], [accepted])
      }
      if (accepted === 0) return
      const text = `insert all
    when k = 1 then into ${table.name} (${names}) values (${aliases})
    when k = 0 then into ${table.batches} ("TRANSFER_ID", "BATCH_KEY", "DELIVERED_TIME") values (transfer, batch, noted)
    select k, ? as transfer, ? as batch, sysdate() as noted, ${aliases}
      from (select 1 as k, ${numbered(values)} ${from}
            union all select 0, ${values.map(() => 'null').join(', ')})
     where not exists (select 1 from ${table.batches} where "TRANSFER_ID" = ? and "BATCH_KEY" = ?)`
      const { rows } = await run(text, [transferId, key, transferId, key])
      assertCounts(rows[0], [accepted, 1], [0, 0])
    },
    async close() {
      const own = makeSqlApi({ ...context, signal: AbortSignal.timeout(cleanUpMs) }, accountOf(context), true)
      await own
        .run({ ...at, timeoutSeconds: cleanUpMs / 1000, text: `drop table if exists ${staging}` })
        .catch(() => {})
    },
  }
}

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
  if (!expected.some((counts) => counts.join() === found)) throw notAsManyRows(platform)
}
