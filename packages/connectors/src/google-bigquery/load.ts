import { createHash } from 'node:crypto'
import type { LoadContext, LoadGroup, TableForm } from '@penstock/connector'
import { type GoodRows, handoverOf, numbered, type StagingTable } from '../kit/warehouse/handover.ts'
import { countOf, notAsManyRows } from '../kit/warehouse/loaded-rows.ts'
import { judgeTable, type OpenedTable, openTable } from '../kit/warehouse/table.ts'
import { encodeValue } from '../object-stores/place.ts'
import { objectIn } from '../platform-api/json.ts'
import { valuesIn } from './cells.ts'
import { finishedJob, type Jobs } from './finished-job.ts'
import { makeBigQuery, type Query } from './jobs.ts'
import { loadedColumn, stagedName } from './load-columns.ts'
import { loadFiles } from './load-files.ts'
import { fieldOfType } from './load-limits.ts'
import { jobOf } from './merge.ts'
import { quoteName } from './plan.ts'
import {
  type BigQueryTable,
  type BigQueryTarget,
  bigQueryTables,
  createTable,
  idOf,
  nameOf,
  tablesOf,
  targetOf,
} from './target.ts'
import type { TargetField } from './target-values.ts'

const platform = 'BigQuery'
/** Time limit of a query that judges rows, in milliseconds. */
const queryMs = 4 * 3_600_000
/** How long BigQuery keeps the staging tables of a transfer that was interrupted, in milliseconds. */
const stagedMs = 7 * 86_400_000
/** Time limit of removing the staging tables, in milliseconds. */
const cleanUpMs = 30_000

/** Loads and the statement that writes are jobs whose IDs follow from the group, so that each runs once. */
export const { openLoader, whyNotTable } = handoverOf<TargetField, OpenedTable<BigQueryTable>>({
  platform,
  // BigQuery accepts 10,000.
  filesMax: 5_000,
  stagedName,
  loadedColumn,
  holdsOf: ({ type }) => holds[type] ?? 'others',
  open: (context) => openTable(bigQueryTables, makeBigQuery(context), targetOf(context.settings), context.columns),
  async find(context) {
    const [bigQuery, target] = [makeBigQuery(context), targetOf(context.settings)]
    const found = await bigQueryTables.find(bigQuery, target)
    return found && (await judgeTable(bigQueryTables, bigQuery, target, context.columns, found)).columns
  },
  begin,
})

const holds: Readonly<Record<string, 'texts' | 'floats' | 'times'>> = {
  STRING: 'texts',
  FLOAT: 'floats',
  DATETIME: 'times',
  TIMESTAMP: 'times',
}

async function begin(
  context: LoadContext,
  { found, columns: filled }: OpenedTable<BigQueryTable>,
): Promise<StagingTable> {
  const { settings, sourceColumns, transferId, signal, bucket } = context
  const target = targetOf(settings)
  const bigQuery = makeBigQuery(context)
  const { location } = found
  const jobs = { bigQuery, projectId: target.projectId, signal, location }
  const names = sourceColumns.map((_, index) => stagedName(index))
  /** Staging tables by the order of the columns in the files: a load of CSV fills columns by their places, one of Parquet by their names. */
  const stagings = new Map<string, { readonly name: string; readonly created: string; readonly texts: string }>()

  const stagingFor = async (group: LoadGroup, { columns, types }: TableForm) => {
    const order = columns.map((name) => stagedName(sourceColumns.indexOf(name)))
    const known = stagings.get(order.join())
    if (known) return known
    const digest = createHash('sha256').update(order.join()).digest('hex').slice(0, 12)
    const name = `penstock_load_${group.key}_${digest}`
    const fields = order.map((each, at) => ({
      name: types ? (columns[at] ?? '') : each,
      type: types ? fieldOfType(types[at] ?? null) : 'STRING',
      mode: 'NULLABLE',
    }))
    const { created } = await createTable(bigQuery, target, name, fields, new Date(Date.now() + stagedMs))
    const textOf = (staged: string) => `cast(${quoteName(columns[order.indexOf(staged)] ?? '')} as string) as ${staged}`
    const staging = { name, created, texts: (types ? names.map(textOf) : names).join(', ') }
    stagings.set(order.join(), staging)
    return staging
  }

  const dropAll = async (end: AbortSignal): Promise<void> => {
    const dropped = [...stagings.values()]
    stagings.clear()
    for (const { name } of dropped) {
      // A table that stays expires.
      await bigQuery
        .ask(`${tablesOf(target)}/${encodeValue(name)}`, { method: 'DELETE', signal: end })
        .catch(() => signal.throwIfAborted())
    }
  }

  return {
    reset: () => dropAll(signal),
    async load(part, { group, number }) {
      const { name, created } = await stagingFor(group, part.form)
      // Files that were loaded into an earlier table of this name are not in this one.
      const id = `penstock_${idOf(target, 'files', transferId, group.key, created, String(number))}`
      const done = await loadFiles(jobs, { id, bucket, table: { ...target.dataset, tableId: name } }, part)
      return { staged: done.loaded, unread: done.unread }
    },
    texts() {
      const tables = [...stagings.values()].map(({ name, texts }) => `select ${texts} from ${nameOf(target, name)}`)
      return `(${tables.join(' union all ')})`
    },
    ask: (text) => rowsOf(jobs, { projectId: target.projectId, text, timeoutMs: queryMs }),
    async commit(rows, key) {
      const { accepted } = rows
      if (accepted === 0 && target.mode !== 'Replace') return
      const id = `penstock_${idOf(target, 'rows', transferId, key, found.created)}`
      const configuration = jobOf(writingOf(target, filled, rows))
      const { job } = await finishedJob(jobs, { id, configuration, location })
      const { dmlStats } = objectIn(objectIn(job.statistics).query)
      const { insertedRowCount = '0' } = objectIn(dmlStats)
      if (countOf(platform, insertedRowCount) !== accepted) throw notAsManyRows(platform)
    },
    close: () => dropAll(AbortSignal.timeout(cleanUpMs)).catch(() => {}),
  }
}

/** The statement that adds rows, or replaces the content of the table. */
function writingOf(target: BigQueryTarget, filled: readonly TargetField[], { values, from }: GoodRows): string {
  const into = nameOf(target, target.table)
  const columns = filled.map(({ name }) => quoteName(name)).join(', ')
  const taken = `select ${numbered(values)} ${from}`
  if (target.mode !== 'Replace') return `insert into ${into} (${columns}) ${taken}`
  return `merge into ${into} as T using (${taken}) as S on false
    when not matched then insert (${columns}) values (${values.map((_, index) => `S.v${index}`).join(', ')})
    when not matched by source then delete`
}

/** All rows of a small result, as texts. */
async function rowsOf({ bigQuery, signal }: Jobs, query: Query): Promise<(string | null)[][]> {
  const job = await bigQuery.start(query)
  try {
    const rows: (string | null)[][] = []
    let page = await bigQuery.page(job, { startIndex: 0 })
    for (;;) {
      for (const row of page.rows) rows.push(valuesIn(row).map((value) => (value === null ? null : String(value))))
      if (page.pageToken === undefined) return rows
      page = await bigQuery.page(job, { pageToken: page.pageToken })
    }
  } catch (error) {
    if (signal.aborted) await bigQuery.cancel(job)
    throw error
  }
}
