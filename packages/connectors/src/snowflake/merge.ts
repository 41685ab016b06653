import { type Batch, ConnectorError, type WindowScope } from '@penstock/connector'
import { deleteOthersSql, latestSql, mergeSql, rowNumber, rowRemoved, unionOf } from '../kit/warehouse/merge.ts'
import type { JudgedRow } from '../kit/warehouse/rows.ts'
import { scopeCondition, type WindowStore } from '../kit/warehouse/windows.ts'
import { quoteAsIs } from './plan.ts'
import { flattened, sentValue, valueAt } from './sent-rows.ts'
import type { SqlApi } from './sql-api.ts'
import type { SnowflakeTable } from './table.ts'
import { isCompared } from './target-columns.ts'

/** Old keys are of windows that were interrupted. */
const keptDays = 30

const noted = (batches: string): string =>
  `exists (select 1 from ${batches} where "TRANSFER_ID" = ? and "BATCH_KEY" = ?)`

/**
 * Merges rows and notes the batch, unless it was noted before. So late rows of an earlier attempt change nothing. Of several
 * rows with the same key, the last one wins. Both statements can be repeated.
 * @param json rows as a list of lists of texts; a row that must be removed has one more text
 * @param sent the number of rows
 * @param removes whether there are rows that must be removed
 */
export async function mergeRows(
  api: SqlApi,
  table: SnowflakeTable,
  names: readonly [transferId: string, part: string],
  json: string,
  { sent, removes }: { readonly sent: number; readonly removes: boolean },
): Promise<void> {
  const { name, batches, columns, at } = table
  const values = [`f.index as ${rowNumber}`, ...columns.map(valueAt)]
  if (removes) values.push(`get(f.value, ${columns.length}) is not null as ${rowRemoved}`)
  const merged = columns.map((column, index) => ({
    name: quoteAsIs(column.name),
    from: `c${index}`,
    isKey: column.isKey,
  }))
  const rows = latestSql(`(select ${values.join(', ')} from ${flattened} where not ${noted(batches)})`, merged)
  const result = await api.run({
    ...at,
    text: mergeSql({ into: name, columns: merged, rows, removes }),
    bindings: [json, ...names],
  })
  const counts = result.columns.flatMap(({ name: counted }, index) => {
    const count = result.rows[0]?.[index] ?? ''
    // A key can have several rows in the table, which are all removed.
    if (removes && /deleted/i.test(counted)) return []
    return [/^\d{1,9}$/.test(count) ? Number(count) : Number.NaN]
  })
  const written = counts.reduce((sum, count) => sum + count, 0)
  if (counts.length === 0 || !(written <= sent)) {
    throw new ConnectorError('unexpected_response', 'Snowflake did not merge as many rows as were sent.')
  }
  await api.run({
    ...at,
    text: `insert into ${batches} ("TRANSFER_ID", "BATCH_KEY", "DELIVERED_TIME") select ?, ?, sysdate() where not ${noted(batches)}`,
    bindings: [...names, ...names],
  })
}

/** The keys of a batch: as JSON until they are stored, which they are if their window continues. */
export type StagedKeys = { readonly id: string; json: string | undefined }

/** How windows are replaced in a table. The keys of windows with several batches are stored next to the noted batches. */
export function windowStoreOf(api: SqlApi, table: SnowflakeTable): WindowStore<StagedKeys> {
  const { at, columns } = table
  const keys = table.keyIndexes.flatMap((index) => columns[index] ?? [])
  const stored = table.batches.replace('"PENSTOCK_BATCHES"', '"PENSTOCK_WINDOW_KEYS"')
  let isCreated = false
  async function create(): Promise<void> {
    if (isCreated) return
    const parts = '"WINDOW_ID" varchar not null, "KEYS" varchar not null, "NOTED_TIME" timestamp_ntz not null'
    await api.run({ ...at, text: `create table if not exists ${stored} (${parts})` })
    const old = `"NOTED_TIME" < dateadd(day, -${keptDays}, sysdate())`
    await api.run({ ...at, text: `delete from ${stored} where ${old}` })
    isCreated = true
  }
  return {
    most: 500,
    async keep(stage) {
      if (stage.json === undefined) return
      await create()
      const text = `insert into ${stored} ("WINDOW_ID", "KEYS", "NOTED_TIME") select ?, ?, sysdate()`
      await api.run({ ...at, text, bindings: [stage.id, stage.json] })
      stage.json = undefined
    },
    async drop({ id, json }) {
      if (json !== undefined) return
      // Keys that cannot be deleted now are deleted after some days.
      await api.run({ ...at, text: `delete from ${stored} where "WINDOW_ID" = ?`, bindings: [id] }).catch(() => {})
    },
    async deleteOthers({ window, columns: names }, stages) {
      const within = scopeOf(table, names, window.scope)
      if (!within) return
      const values = keys.map((key, index) => `${sentValue(key, index)} as "penstock_${index}"`).join(', ')
      const kept = stages.filter(({ json }) => json === undefined)
      const sent = stages.flatMap(({ json }) => json ?? [])
      const sources = sent.map(() => `select ${values} from ${flattened}`)
      if (kept.length > 0) {
        sources.push(`select ${values} from ${stored} as w, table(flatten(input => parse_json(w."KEYS"))) as f
          where w."WINDOW_ID" in (${kept.map(() => '?').join(', ')})`)
      }
      await api.run({
        ...at,
        text: deleteOthersSql({
          from: table.name,
          // Snowflake allows no alias here.
          prefix: '',
          columns: keys.map(({ name }, index) => ({ name: quoteAsIs(name), from: `"penstock_${index}"`, isKey: true })),
          within: within.condition,
          keys: unionOf(sources),
        }),
        bindings: [...within.bindings, ...sent, ...kept.map(({ id }) => id)],
      })
    },
  }
}

/** The keys of all rows of a batch, by the texts that the rows are sent with. */
export const stagedKeys = ({ keyIndexes }: SnowflakeTable, id: string, rows: readonly JudgedRow[]): StagedKeys => ({
  id,
  json: JSON.stringify(rows.map(({ values }) => keyIndexes.map((index) => values[index]))),
})

function scopeOf(
  { columns }: SnowflakeTable,
  names: Batch['columns'],
  scope: WindowScope,
): { readonly condition: string; readonly bindings: readonly string[] } | undefined {
  const bindings: string[] = []
  const condition = scopeCondition(
    scope,
    names,
    columns,
    ({ name }) => quoteAsIs(name),
    ({ type, value }, text) => {
      if (!isCompared(type)) return undefined
      bindings.push(text)
      return value('?')
    },
  )
  return condition === undefined ? undefined : { condition, bindings }
}
