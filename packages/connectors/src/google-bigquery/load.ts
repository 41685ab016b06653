import { createHash } from 'node:crypto'
import type {
  ConnectorContext,
  FileLoader,
  LoadContext,
  LoadGroup,
  LoadPart,
  LoadRejection,
  LoadReport,
  TableForm,
} from '@penstock/connector'
import { assertSomeAccepted, badRows, countOf, isGoodSql, misfitsOf, notAsManyRows } from '../databases/loaded-rows.ts'
import { whyNotTypes } from '../databases/loaded-types.ts'
import { encodeValue } from '../object-stores/place.ts'
import { objectIn } from '../platform-api/json.ts'
import { valuesIn } from './cells.ts'
import { finishedJob, type Jobs } from './finished-job.ts'
import { type BigQuery, makeBigQuery, type Query } from './jobs.ts'
import { loadedColumn, stagedName } from './load-columns.ts'
import { loadFiles } from './load-files.ts'
import { fieldOfType } from './load-limits.ts'
import { jobOf } from './merge.ts'
import { quoteName } from './plan.ts'
import { createTable, findTable, idOf, judgeTable, nameOf, openTable, tablesOf, targetOf } from './target.ts'
import type { TargetField } from './target-values.ts'

const platform = 'BigQuery'
/** Files of one job; BigQuery takes 10,000. */
const filesMax = 5_000
/** How long a query may take that judges rows, in milliseconds. */
const queryMs = 4 * 3_600_000
/** How long BigQuery keeps the staging tables of a transfer that was interrupted, in milliseconds. */
const stagedMs = 7 * 86_400_000
/** How long removing the staging tables may take, in milliseconds. */
const cleanUpMs = 30_000

/**
 * Opens a loader: BigQuery loads the files into staging tables of texts, and judges and writes them from there, with the values that a
 * worker would write. Loads and the statement that writes are jobs whose IDs follow from the group, so that each runs once.
 */
export async function openLoader(context: LoadContext): Promise<FileLoader | { readonly whyNot: string }> {
  const { settings, columns: delivered, picked, sourceColumns, transferId, signal, bucket } = context
  const target = targetOf(settings)
  const bigQuery = makeBigQuery(context)
  const table = await openTable(bigQuery, target, delivered)
  const other = otherType(table.columns, context)
  if (other !== undefined) return { whyNot: other }
  const { projectId } = target
  const { location } = table
  const jobs = { bigQuery, projectId, signal, location }
  const loaded = table.columns.flatMap((column, at) => loadedColumn(column, stagedName(picked[at] ?? -1)) ?? [])
  const misfits = misfitsOf(loaded, delivered)
  const names = sourceColumns.map((_, index) => stagedName(index))
  /** Staging tables by the order of the columns in the files: a load of CSV fills columns by their places, one of Parquet by their names. */
  const stagings = new Map<string, { readonly name: string; readonly created: string; readonly texts: string }>()
  /** How many rows of the staging tables will be written. */
  let accepted = 0

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

  const stagedSql = (): string => {
    const tables = [...stagings.values()].map(({ name, texts }) => `select ${texts} from ${nameOf(target, name)}`)
    return `(${tables.join(' union all ')})`
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
    async stage(group, rejectsMax): Promise<LoadReport> {
      await dropAll(signal)
      const unread: LoadRejection[] = []
      let staged = 0
      for (const [number, part] of partsOf(group).entries()) {
        const { name, created } = await stagingFor(group, part.form)
        // Files that were loaded into an earlier table of this name are not in this one.
        const id = `penstock_${idOf(target, 'files', transferId, group.key, created, String(number))}`
        const done = await loadFiles(jobs, { id, bucket, table: { ...target.dataset, tableId: name } }, part)
        staged += done.loaded
        unread.push(...done.unread)
      }
      const bounded = boundedRejections(unread, rejectsMax)
      const single = bounded.reduce((sum, { count }) => sum + (count === 1 ? 1 : 0), 0)
      const run = async (text: string) => rowsOf(jobs, { projectId, text, timeoutMs: queryMs })
      const found = await badRows(run, { platform, staging: stagedSql(), misfits, names }, rejectsMax - single)
      if (found.staged !== staged) throw notAsManyRows(platform)
      const rejected = [...bounded, ...found.rejected]
      const rows = staged + unread.reduce((sum, { count }) => sum + count, 0)
      accepted = rows - rejected.reduce((sum, { count }) => sum + count, 0)
      assertSomeAccepted(platform, { rows, rejected })
      return { rows, rejected }
    },

    async commit({ key }: LoadGroup) {
      if (accepted === 0 && target.mode !== 'Replace') return
      const into = nameOf(target, target.table)
      const columns = table.columns.map(({ name }) => quoteName(name)).join(', ')
      const values = loaded.map(({ value }, index) => `${value} as v${index}`).join(', ')
      const taken = `select ${values} from ${stagedSql()} where ${isGoodSql(misfits)}`
      const aliases = loaded.map((_, index) => `v${index}`)
      const text =
        target.mode === 'Replace'
          ? `merge into ${into} as T using (${taken}) as S on false
    when not matched then insert (${columns}) values (${aliases.map((name) => `S.${name}`).join(', ')})
    when not matched by source then delete`
          : `insert into ${into} (${columns}) ${taken}`
      const id = `penstock_${idOf(target, 'rows', transferId, key, table.created)}`
      const { job } = await finishedJob(jobs, { id, configuration: jobOf(text), location })
      const { dmlStats } = objectIn(objectIn(job.statistics).query)
      const { insertedRowCount = '0' } = objectIn(dmlStats)
      if (countOf(platform, insertedRowCount) !== accepted) throw notAsManyRows(platform)
    },

    close: () => dropAll(AbortSignal.timeout(cleanUpMs)).catch(() => {}),
  }
}

/** Why the table is filled by a worker. */
export async function whyNotTable(
  context: ConnectorContext & Pick<LoadContext, 'columns' | 'picked' | 'sourceTypes'>,
): Promise<string | undefined> {
  const target = targetOf(context.settings)
  const found = await findTable(makeBigQuery(context), target, target.table)
  return found && otherType(judgeTable(target, context.columns, found).columns, context)
}

function otherType(
  columns: readonly TargetField[],
  context: Pick<LoadContext, 'picked' | 'sourceTypes'>,
): string | undefined {
  const other = columns.find((column) => loadedColumn(column, '') === undefined)
  if (other) return `the column ${other.name} of the table has the type ${other.repeated ? 'ARRAY' : other.type}`
  return whyNotTypes(
    context,
    columns.map(({ name, type }) => ({ name, type, holds: holds[type] ?? 'others' })),
  )
}

const holds: Readonly<Record<string, 'texts' | 'floats' | 'times'>> = {
  STRING: 'texts',
  FLOAT: 'floats',
  DATETIME: 'times',
  TIMESTAMP: 'times',
}

/** The files of a group, in as many jobs as they need. */
const partsOf = ({ parts }: LoadGroup): LoadPart[] =>
  parts.flatMap(({ form, files }) =>
    Array.from({ length: Math.ceil(files.length / filesMax) }, (_, at) => ({
      form,
      files: files.slice(at * filesMax, (at + 1) * filesMax),
    })),
  )

/** The same rejections, at most so many one by one. */
function boundedRejections(unread: readonly LoadRejection[], rejectsMax: number): LoadRejection[] {
  const kept = unread.slice(0, rejectsMax)
  const left = unread.slice(rejectsMax).reduce((sum, { count }) => sum + count, 0)
  return left > 0 ? [...kept, { count: left, reason: 'BigQuery cannot read the row.' }] : kept
}

/** All rows of a small result, as texts. */
async function rowsOf(
  { bigQuery, signal }: Jobs & { readonly bigQuery: BigQuery },
  query: Query,
): Promise<(string | null)[][]> {
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
