import type { Batch, DestinationContext, DestinationWriter } from '@penstock/connector'
import { throwFirst } from '../databases/table-findings.ts'
import { mirrorErrors, nameKeysBy } from '../kit/warehouse/key-names.ts'
import { rowNumber, rowRemoved } from '../kit/warehouse/merge.ts'
import { type JudgedRow, partOf } from '../kit/warehouse/rows.ts'
import { openTable } from '../kit/warehouse/table.ts'
import { isWholeWindow } from '../kit/warehouse/windows.ts'
import { type BatchName, type Loaded, openLoadingWriter } from '../kit/warehouse/writer.ts'
import { encodeValue } from '../object-stores/place.ts'
import type { Taken } from '../platform-api/rows/halving.ts'
import { type BigQuery, makeBigQuery } from './jobs.ts'
import { deleteOthersOf, jobOf, mergeOf } from './merge.ts'
import { type LoadRefusal, runOnce } from './run-once.ts'
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

export { inspect, tryRows } from './target.ts'

type Work = {
  readonly bigQuery: BigQuery
  readonly target: BigQueryTarget
  readonly table: BigQueryTable
  /** In the order of the delivered ones. */
  readonly columns: readonly TargetField[]
  readonly context: DestinationContext
}

/** How long BigQuery keeps the rows of an upsert that was interrupted, in milliseconds. */
const stagedMs = 7 * 86_400_000
/** More tables are not named in one statement. BigQuery allows 1,000. */
const stagingsMax = 500

/** Opens a writer: finds the table, and creates it if the settings allow that. Does not empty the table yet. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const bigQuery = makeBigQuery(context)
  const target = targetOf(context.settings)
  const { found: table, columns } = await openTable(bigQueryTables, bigQuery, target, context.columns)
  throwFirst(mirrorErrors(context.settings, columns))
  const work: Work = { bigQuery, target, table, columns, context }
  const isUpsert = target.mode === 'Upsert'
  return openLoadingWriter<Staging>(context, {
    name: 'BigQuery',
    columns,
    replaces: target.mode === 'Replace',
    // A later attempt finds the job that emptied the table.
    emptiesOnce: true,
    empty: () =>
      runOnce(bigQuery, {
        ...placeOf(work),
        id: idOf(target, 'empty', context.transferId),
        configuration: jobOf(`truncate table ${nameOf(target, target.table)}`),
      }),
    load: (rows, name) => (isUpsert ? merge(work, name, rows) : load(work, name, rows)),
    nameKeys: nameKeysBy(columns, target.keys),
    windows: isUpsert
      ? {
          most: stagingsMax,
          drop: (staging) => drop(work, staging),
          deleteOthers: (batch, stagings) => deleteOthers(work, batch, stagings),
        }
      : undefined,
  })
}

const labels = { tool: 'penstock' }
const placeOf = ({ target: { projectId }, table: { location }, context: { signal } }: Work) => ({
  projectId,
  location,
  signal,
})

/** An ID that the same rows of the same batch have. A transfer that starts over loads rows again that an earlier one loaded. */
const jobIdOf = ({ target, table }: Work, { key, batch }: BatchName, items: readonly JudgedRow[]): string =>
  idOf(target, key, String(table.created), partOf(batch.rows, items))

/** Loads rows into the table once: the same rows of the same batch have the same job. */
function load(work: Work, name: BatchName, items: readonly JudgedRow[]): Promise<Taken<JudgedRow>> {
  const { target, columns } = work
  const names = columns.map(({ name }) => name)
  const rows = items.map((item): [JudgedRow, string] => [item, lineOf(names, item)])
  return loadInto(work, target.table, rows, jobIdOf(work, name, items))
}

/** A staging table that has all rows of a batch. */
type Staging = { readonly name: string }

/** Loads rows into a staging table, and merges them into the table, once. */
async function merge(work: Work, name: BatchName, items: readonly JudgedRow[]): Promise<Loaded<Staging>> {
  const { target, columns } = work
  const { batch } = name
  const names = columns.map(({ name }) => name)
  const id = jobIdOf(work, name, items)
  const staging = { name: `penstock_staging_${id}` }
  const removes = items.some(({ isRemoved }) => isRemoved)
  const fields = [
    ...columns.map(({ schema }) => schema),
    { name: rowNumber, type: 'INTEGER', mode: 'NULLABLE' },
    ...(removes ? [{ name: rowRemoved, type: 'BOOLEAN', mode: 'NULLABLE' }] : []),
  ]
  const expires = new Date(Date.now() + stagedMs)
  const { created } = await createTable(work.bigQuery, target, staging.name, fields, expires)
  const rows = items.map((item): [JudgedRow, string] => [item, lineOf(names, item, item.index)])
  // Rows that were loaded into an earlier table of this name are not in this one.
  const taken = await loadInto(work, staging.name, rows, idOf(target, id, created))
  const isWhole = taken.refused === undefined && items.length === batch.rows.length
  const isReplaced = isWhole && isWholeWindow(batch)
  if (taken.refused === undefined) {
    const configuration = mergeOf(work, staging.name, batch, { isReplaced, removes })
    await runOnce(work.bigQuery, { ...placeOf(work), id: `${id}_merge`, configuration })
  }
  if (isWhole && !isReplaced) return { ...taken, stage: staging }
  await drop(work, staging)
  return { ...taken, ...(isReplaced && { stage: 'replaced' }) }
}

/** Deletes a staging table, or leaves it until it expires. */
async function drop({ bigQuery, target, context }: Work, { name }: Staging): Promise<void> {
  await bigQuery.ask(`${tablesOf(target)}/${encodeValue(name)}`, { method: 'DELETE' }).catch(() => {
    context.signal.throwIfAborted()
  })
}

/** Deletes the rows of a window that are not in any of its staging tables. */
async function deleteOthers(work: Work, batch: Batch, stagings: readonly Staging[]): Promise<void> {
  const names = stagings.map(({ name }) => name)
  const configuration = deleteOthersOf(work, batch, names)
  if (!configuration) return
  const { target, table, context } = work
  const { transferId = context.transferId, key } = batch
  const id = idOf(target, 'others', transferId, key, String(table.created), names.join())
  await runOnce(work.bigQuery, { ...placeOf(work), id, configuration })
}

/** A row as a line of JSON. */
function lineOf(names: readonly string[], { values, isRemoved }: JudgedRow, number?: number): string {
  const entries = names.map((name, at): [string, unknown] => [name, values[at]])
  if (number !== undefined) entries.push([rowNumber, number])
  if (isRemoved) entries.push([rowRemoved, true])
  return JSON.stringify(Object.fromEntries(entries.filter(([, value]) => value !== null)))
}

async function loadInto(
  work: Work,
  tableId: string,
  rows: readonly (readonly [JudgedRow, string])[],
  id: string,
): Promise<Taken<JudgedRow>> {
  const upload = rows.map(([, line]) => `${line}\n`).join('')
  const configuration = {
    load: {
      destinationTable: { ...work.target.dataset, tableId },
      sourceFormat: 'NEWLINE_DELIMITED_JSON',
      createDisposition: 'CREATE_NEVER',
      writeDisposition: 'WRITE_APPEND',
      maxBadRecords: 0,
      encoding: 'UTF-8',
    },
    labels,
  }
  const refusal = await runOnce(work.bigQuery, { ...placeOf(work), id, configuration, upload })
  const bytes = Buffer.byteLength(upload)
  if (!refusal) return { bytes }
  return { bytes, refused: refused.reason, blamed: blamedIn(refusal, rows, work.columns) }
}

const refused = { reason: 'BigQuery cannot read a value of the row (invalid).' }

/** The rows that BigQuery's report names, by the position in bytes of their beginning in the upload. */
function blamedIn(
  refusal: LoadRefusal,
  rows: readonly (readonly [JudgedRow, string])[],
  columns: readonly TargetField[],
): NonNullable<Taken<JudgedRow>['blamed']> {
  const positions = new Map<number, JudgedRow>()
  let position = 0
  for (const [item, line] of rows) {
    positions.set(position, item)
    position += Buffer.byteLength(line) + 1
  }
  const blamed = new Map<JudgedRow, string | undefined>()
  for (const { message } of refusal) {
    const [, at] = /\brow starting at position (\d{1,12})\b/.exec(message) ?? []
    const item = at === undefined ? undefined : positions.get(Number(at))
    const [, named] = /\bField: (\w{1,300});/.exec(message) ?? []
    if (item) blamed.set(item, columns.find(({ name }) => name === named)?.name)
  }
  return [...blamed].map(([item, field]) => ({ item, ...refused, ...(field === undefined ? {} : { field }) }))
}
