import {
  asConnectorError,
  type ConnectorContext,
  ConnectorError,
  type FileLoader,
  type LoadContext,
  type LoadGroup,
  type LoadReport,
} from '@penstock/connector'
import { assertSomeAccepted, badRows, countOf, isGoodSql, misfitsOf, notAsManyRows } from '../databases/loaded-rows.ts'
import { whyNotTypes } from '../databases/loaded-types.ts'
import { appendOnce, forgetAppends } from './append-once.ts'
import { openDatabricks } from './databricks-api.ts'
import { filesSql, loadedColumn, parquetSql, stagedName, textOfTyped, unreadName } from './load-columns.ts'
import { keysOf, mergeSql } from './merge.ts'
import { findTable, judgeTable, openTable, targetOf } from './target.ts'
import { type DatabricksColumn, quoteName } from './target-columns.ts'

const platform = 'Databricks'
/** Files of one statement: their names are in its text. */
const filesMax = 200
/** Rejected rows that are returned one by one: an answer has at most 25 MiB. */
const recordsMax = 200
/** How long a query may take that judges rows, in milliseconds. */
const queryMs = 4 * 3_600_000
/** How many earlier attempts are cleaned up after. */
const earlierMax = 10

/**
 * Opens a loader: Databricks reads the files into a staging table of texts, which only this attempt uses, and judges and writes them from
 * there, with the values that a worker would write.
 */
export async function openLoader(context: LoadContext): Promise<FileLoader | { readonly whyNot: string }> {
  const { settings, columns: delivered, picked, sourceColumns, transferId, attempt, bucket } = context
  const target = targetOf(settings)
  const databricks = openDatabricks(context)
  const columns = await openTable(databricks, target, delivered)
  const other = otherType(columns, context)
  if (other !== undefined) return { whyNot: other }
  const loaded = columns.flatMap((column, at) => loadedColumn(column, stagedName(picked[at] ?? -1)) ?? [])
  const [catalog, schema] = target.path
  const stagingOf = (number: number): string =>
    [catalog, schema, `penstock_load_${transferId}_${number}`].map(quoteName).join('.')
  const staging = stagingOf(attempt)
  const misfits = [
    {
      condition: `${unreadName} is not null`,
      reason: 'The row has another number of values than the header.',
      field: undefined,
    },
    ...misfitsOf(loaded, delivered),
  ]
  const good = `from ${staging} where ${isGoodSql(misfits)}`
  const names = columns.map(({ name }) => quoteName(name)).join(', ')
  const staged = sourceColumns.map((_, index) => stagedName(index))
  const run = (text: string) => databricks.run({ ...target, text })
  const ask = async (text: string) =>
    (await databricks.run({ ...target, text, waitMs: queryMs })).map((row) =>
      row.map((value) => (value === null ? null : String(value))),
    )
  /** How many rows of the staging table will be written. */
  let accepted = 0
  for (let number = Math.max(1, attempt - earlierMax); number < attempt; number++) {
    await run(`drop table if exists ${stagingOf(number)}`)
  }

  return {
    async stage({ key, parts }, rejectsMax): Promise<LoadReport> {
      await run(
        `create or replace table ${staging} (${[...staged, unreadName].map((name) => `${name} string`).join(', ')})`,
      )
      const list = [...staged, unreadName].join(', ')
      for (const { form, files } of parts) {
        for (let from = 0; from < files.length; from += filesMax) {
          const some = files.slice(from, from + filesMax)
          const typed = form.types?.map((type, at) => textOfTyped(form.columns[at] ?? '', type))
          const select = typed
            ? `select ${sourceColumns.map((name) => typed[form.columns.indexOf(name)]).join(', ')}, null from ${parquetSql(bucket, some)}`
            : `select ${list} from ${filesSql({ bucket, form, files: some }, sourceColumns, missingOf(key))}`
          await asLoading(bucket, () => run(`insert into ${staging} (${list}) ${select}`))
        }
      }
      const { staged: rows, rejected } = await badRows(
        ask,
        { platform, staging, misfits, names: staged },
        Math.min(rejectsMax, recordsMax),
      )
      accepted = rows - rejected.reduce((sum, { count }) => sum + count, 0)
      assertSomeAccepted(platform, { rows, rejected })
      if (target.mode === 'Upsert') await assertDistinctKeys()
      return { rows, rejected }
    },

    async commit({ key }: LoadGroup) {
      const values = columns.map(({ name }, at) => `${loaded[at]?.value ?? 'null'} as ${quoteName(name)}`).join(', ')
      if (target.mode === 'Replace') {
        // The same files give the same content, however often they are loaded.
        return assertWritten(await run(`insert overwrite ${target.name} (${names}) select ${values} ${good}`))
      }
      if (accepted === 0) return
      if (target.mode === 'Upsert') {
        return assertWritten(await run(mergeSql({ target, columns }, `select ${values} ${good}`)))
      }
      const rows = loaded.map(({ value }, at) => `${value} as v${at}`).join(', ')
      const select = columns.map(({ name }, at) => `v${at} as ${quoteName(name)}`).join(', ')
      await appendOnce({ databricks, target, key, attempt }, { rows: `select ${rows} ${good}`, select, accepted })
    },

    async close() {
      const own = openDatabricks({ ...context, signal: AbortSignal.timeout(30_000) })
      if (target.mode === 'Append') await forgetAppends(own, target)
      await own.run({ ...target, text: `drop table if exists ${staging}` }).catch(() => {})
    },
  }

  /** The rows of the files have no order in Databricks, so that no row is the last one of its key. */
  async function assertDistinctKeys(): Promise<void> {
    const { keys } = keysOf(target, columns)
    const texts = keys.map(
      (column) => `${loaded[columns.indexOf(column)]?.value ?? 'null'} as ${quoteName(column.name)}`,
    )
    const list = keys.map(({ name }) => quoteName(name)).join(', ')
    const [row] = await ask(
      `select count(*) from (select 1 from (select ${texts.join(', ')} ${good}) group by ${list} having count(*) > 1)`,
    )
    const twice = countOf(platform, row?.[0])
    if (twice === 0) return
    throw new ConnectorError(
      'invalid_key',
      `${twice} keys are in several rows of the files, of which Databricks does not know the last. Choose other key columns, or have the rows pass Penstock.`,
    )
  }

  function assertWritten([counts]: readonly (readonly unknown[])[]): void {
    if (countOf(platform, String(counts?.[0] ?? '')) !== accepted) throw notAsManyRows(platform)
  }
}

/** Why the table is filled by a worker. */
export async function whyNotTable(
  context: ConnectorContext & Pick<LoadContext, 'columns' | 'picked' | 'sourceTypes'>,
): Promise<string | undefined> {
  const target = targetOf(context.settings)
  const found = await findTable(openDatabricks(context), target)
  return found && otherType(judgeTable(target, context.columns, found).columns, context)
}

function otherType(
  columns: readonly DatabricksColumn[],
  context: Pick<LoadContext, 'picked' | 'sourceTypes'>,
): string | undefined {
  const other = columns.find((column) => loadedColumn(column, '') === undefined)
  if (other) return `the column ${other.name} of the table has the type ${other.type.split('<')[0]}`
  return whyNotTypes(
    context,
    columns.map(({ name, type }) => ({ name, type, holds: holdsOf(type) })),
  )
}

function holdsOf(type: string) {
  if (type === 'DOUBLE') return 'floats'
  if (type.startsWith('TIMESTAMP')) return 'times'
  return /^(STRING|(VAR)?CHAR)/.test(type) ? 'texts' : 'others'
}

/** A text that no cell of a file has. */
const missingOf = (key: string): string => `penstock-missing-${key}`

/** Adds advice to an error: Databricks may have no access to the bucket. */
async function asLoading<T>(bucket: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    const known = asConnectorError(error)
    if (!known || known.isTransient) throw error
    const advice = `Databricks cannot read the files: check that an external location of Unity Catalog has s3://${bucket}/, that the user has READ FILES on it, and that each file is whole, or have the rows pass Penstock.`
    throw known.with({ message: `${advice} ${known.message}` })
  }
}
