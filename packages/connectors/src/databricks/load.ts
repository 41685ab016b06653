import { asConnectorError, ConnectorError, type LoadContext } from '@penstock/connector'
import { type GoodRows, handoverOf, numbered, type StagingTable } from '../kit/warehouse/handover.ts'
import { countOf, notAsManyRows } from '../kit/warehouse/loaded-rows.ts'
import { mergeSql } from '../kit/warehouse/merge.ts'
import { judgeTable, type OpenedTable, openTable } from '../kit/warehouse/table.ts'
import { appendOnce, forgetAppends } from './append-once.ts'
import { openDatabricks } from './databricks-api.ts'
import { filesSql, loadedColumn, parquetSql, stagedName, textOfTyped, unreadName } from './load-columns.ts'
import { quoted } from './merge.ts'
import { type DatabricksTable, databricksTables, targetOf } from './target.ts'
import { type DatabricksColumn, quoteName } from './target-columns.ts'

const platform = 'Databricks'
/** Time limit of a query that judges rows, in milliseconds. */
const queryMs = 4 * 3_600_000
/** How many earlier attempts are cleaned up after. */
const earlierMax = 10

/** Databricks reads the files into a staging table, which only this attempt uses. */
export const { openLoader, whyNotTable } = handoverOf<DatabricksColumn, OpenedTable<DatabricksTable>>({
  platform,
  // Their names are in the text of a statement.
  filesMax: 200,
  stagedName,
  loadedColumn,
  holdsOf: ({ type }) => holdsOf(type),
  open: (context) => openTable(databricksTables, openDatabricks(context), targetOf(context.settings), context.columns),
  async find(context) {
    const [databricks, target] = [openDatabricks(context), targetOf(context.settings)]
    const found = await databricksTables.find(databricks, target)
    return found && (await judgeTable(databricksTables, databricks, target, context.columns, found)).columns
  },
  begin,
})

async function begin(context: LoadContext, { columns }: OpenedTable<DatabricksTable>): Promise<StagingTable> {
  const { settings, sourceColumns, transferId, attempt, bucket } = context
  const target = targetOf(settings)
  const databricks = openDatabricks(context)
  const [catalog, schema] = target.path
  const stagingOf = (number: number): string =>
    [catalog, schema, `penstock_load_${transferId}_${number}`].map(quoteName).join('.')
  const staging = stagingOf(attempt)
  const names = columns.map(({ name }) => quoteName(name))
  const staged = [...sourceColumns.map((_, index) => stagedName(index)), unreadName]
  const run = (text: string) => databricks.run({ ...target, text })
  const ask = async (text: string) =>
    (await databricks.run({ ...target, text, waitMs: queryMs })).map((row) =>
      row.map((value) => (value === null ? null : String(value))),
    )
  for (let number = Math.max(1, attempt - earlierMax); number < attempt; number++) {
    await run(`drop table if exists ${stagingOf(number)}`)
  }

  return {
    async reset() {
      await run(`create or replace table ${staging} (${staged.map((name) => `${name} string`).join(', ')})`)
    },
    async load({ form, files }, { group }) {
      const typed = form.types?.map((type, at) => textOfTyped(form.columns[at] ?? '', type))
      const select = typed
        ? `select ${sourceColumns.map((name) => typed[form.columns.indexOf(name)]).join(', ')}, null from ${parquetSql(bucket, files)}`
        : `select ${staged.join(', ')} from ${filesSql({ bucket, form, files }, sourceColumns, missingOf(group.key))}`
      await asLoading(bucket, () => run(`insert into ${staging} (${staged.join(', ')}) ${select}`))
      return { unread: [] }
    },
    texts: () => staging,
    ask,
    misfits: [
      {
        condition: `${unreadName} is not null`,
        reason: 'The row has another number of values than the header.',
        field: undefined,
      },
    ],
    // An answer has at most 25 MiB.
    recordsMax: 200,
    async assertWritable(rows) {
      if (target.mode === 'Upsert') await assertDistinctKeys(rows)
    },
    async commit({ values, from, accepted }, key) {
      const select = `select ${values.map((value, at) => `${value} as ${names[at]}`).join(', ')} ${from}`
      if (target.mode === 'Replace') {
        // The same files give the same content, however often they are loaded.
        return assertWritten(await run(`insert overwrite ${target.name} (${names.join(', ')}) ${select}`), accepted)
      }
      if (accepted === 0) return
      if (target.mode === 'Upsert') {
        const text = mergeSql({ into: target.name, columns: quoted(columns), rows: select })
        return assertWritten(await run(text), accepted)
      }
      const aliases = names.map((name, at) => `v${at} as ${name}`).join(', ')
      const rows = { rows: `select ${numbered(values)} ${from}`, select: aliases, accepted }
      await appendOnce({ databricks, target, key, attempt }, rows)
    },
    async close() {
      const own = openDatabricks({ ...context, signal: AbortSignal.timeout(30_000) })
      if (target.mode === 'Append') await forgetAppends(own, target)
      await own.run({ ...target, text: `drop table if exists ${staging}` }).catch(() => {})
    },
  }

  /** The rows of the files have no order in Databricks, so that no row is the last one of its key. */
  async function assertDistinctKeys({ values, from }: GoodRows): Promise<void> {
    const keys = columns.flatMap(({ isKey }, at) => (isKey ? [at] : []))
    const texts = keys.map((at) => `${values[at]} as ${names[at]}`)
    const list = keys.map((at) => names[at]).join(', ')
    const [row] = await ask(
      `select count(*) from (select 1 from (select ${texts.join(', ')} ${from}) group by ${list} having count(*) > 1)`,
    )
    const twice = countOf(platform, row?.[0])
    if (twice === 0) return
    throw new ConnectorError(
      'invalid_key',
      `${twice} keys are in several rows of the files, of which Databricks does not know the last. Choose other key columns, or have the rows pass Penstock.`,
    )
  }
}

function assertWritten([counts]: readonly (readonly unknown[])[], accepted: number): void {
  if (countOf(platform, String(counts?.[0] ?? '')) !== accepted) throw notAsManyRows(platform)
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
