import type {
  Batch,
  Delivery,
  DestinationContext,
  DestinationWriter,
  Finding,
  InspectionContext,
  Rejection,
  TriedRows,
} from '@penstock/connector'
import { inspectRows, type JudgedRow, judgeRows } from '../databases/judged-rows.ts'
import { inOrder } from '../databases/rejections.ts'
import { isWholeWindow, StagedWindows } from '../databases/staged-windows.ts'
import { encodeValue } from '../object-stores/place.ts'
import { sendInHalves, type Taken } from '../platform-api/rows/halving.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { type BigQuery, makeBigQuery } from './jobs.ts'
import { deleteOthersOf, jobOf, mergeOf, rowNumber, rowRemoved } from './merge.ts'
import { type LoadRefusal, runOnce } from './run-once.ts'
import {
  type BigQueryTarget,
  createTable,
  type FoundTable,
  findTable,
  idOf,
  judgeTable,
  nameOf,
  openTable,
  tablesOf,
  targetOf,
} from './target.ts'
import { isUnjudged, type TargetField } from './target-values.ts'

type Work = {
  readonly bigQuery: BigQuery
  readonly target: BigQueryTarget
  readonly table: FoundTable & { readonly columns: readonly TargetField[] }
  readonly context: DestinationContext
  readonly refusals: Refusals
  /** By the names of staging tables. */
  readonly windows: StagedWindows<string>
}

/** How long BigQuery keeps the rows of an upsert that was interrupted, in milliseconds. */
const stagedMs = 7 * 86_400_000
/** More tables are not named in one statement. BigQuery allows 1,000. */
const stagingsMax = 500

/** Opens a writer: finds the table, and creates it if it may. Empties nothing yet. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const bigQuery = makeBigQuery(context)
  const target = targetOf(context.settings)
  const table = await openTable(bigQuery, target, context.columns)
  const windows = new StagedWindows<string>({
    most: stagingsMax,
    drop: (staging) => drop(work, staging),
    deleteOthers: (batch, stagings) => deleteOthers(work, batch, stagings),
  })
  const work: Work = { bigQuery, target, table, context, refusals: new Refusals('BigQuery'), windows }
  let emptied = target.mode !== 'Replace' || context.test === true
  /** Empties the table before the first rows of the transfer. A later attempt finds the job that did. */
  const emptyOnce = async (): Promise<void> => {
    if (emptied) return
    const query = `truncate table ${nameOf(target, target.table)}`
    await runOnce(bigQuery, {
      ...placeOf(work),
      id: idOf(target, 'empty', context.transferId),
      configuration: jobOf(query),
    })
    emptied = true
  }
  return {
    async deliver(batch) {
      context.signal.throwIfAborted()
      await emptyOnce()
      return deliver(work, batch)
    },
    finish: emptyOnce,
    close: () => windows.forget().catch(() => {}),
  }
}

const labels = { tool: 'penstock' }
const placeOf = ({ target: { projectId }, table: { location }, context: { signal } }: Work) => ({
  projectId,
  location,
  signal,
})

async function deliver(work: Work, batch: Batch): Promise<Delivery> {
  const { items, doubtful } = judgeRows(work.table.columns, batch)
  if (work.target.mode === 'Upsert') return await upsert(work, batch, items, doubtful)
  const { bytes, rejected } = await sendInHalves(items, work.refusals, (part) => load(work, batch, part))
  return deliveryOf(bytes, [...doubtful, ...rejected])
}

function deliveryOf(bytes: number, rejected: Rejection[]): Delivery {
  const all = inOrder(rejected)
  return { bytes, ...(all.length > 0 ? { rejected: all } : {}) }
}

/** Merges rows into the table, and ends the window that the batch is the last of. */
async function upsert(
  work: Work,
  batch: Batch,
  items: readonly JudgedRow[],
  doubtful: readonly Rejection[],
): Promise<Delivery> {
  let whole: string | undefined
  const { bytes, rejected } = await sendInHalves(items, work.refusals, async (part) => {
    const { staging, isReplaced, ...taken } = await merge(work, batch, part)
    const isWhole = taken.refused === undefined && part.length === batch.rows.length
    if (isWhole && !isReplaced) whole = staging
    else await drop(work, staging)
    return taken
  })
  const all = [...doubtful, ...rejected]
  if (all.length === 0 && isWholeWindow(batch)) await work.windows.forget()
  else await work.windows.settle(batch, whole)
  return deliveryOf(bytes, all)
}

/** An ID that the same rows of the same batch have. A transfer that starts over loads rows again that an earlier one loaded. */
const jobIdOf = ({ target, table, context }: Work, { key }: Batch, items: readonly JudgedRow[]): string =>
  idOf(target, `${context.transferId}:${key}`, String(table.created), items.map(({ index }) => index).join())

/** Loads rows into the table once: the same rows of the same batch have the same job. */
async function load(work: Work, batch: Batch, items: readonly JudgedRow[]): Promise<Taken<JudgedRow>> {
  const { target, table } = work
  const names = table.columns.map(({ name }) => name)
  const rows = items.map((item): [JudgedRow, string] => [item, lineOf(names, item)])
  return await loadInto(work, target.table, table.columns, rows, jobIdOf(work, batch, items))
}

/** Rows that were merged, by the staging table that has them, and whether the window that they are was replaced with them. */
type Merged = Taken<JudgedRow> & { readonly staging: string; readonly isReplaced: boolean }

/** Loads rows into a staging table, and merges them into the table, once. */
async function merge(work: Work, batch: Batch, items: readonly JudgedRow[]): Promise<Merged> {
  const { target, table } = work
  const names = table.columns.map(({ name }) => name)
  const id = jobIdOf(work, batch, items)
  const staging = `penstock_staging_${id}`
  const removes = items.some(({ isRemoved }) => isRemoved)
  const fields = [
    ...table.columns.map(({ schema }) => schema),
    { name: rowNumber, type: 'INTEGER', mode: 'NULLABLE' },
    ...(removes ? [{ name: rowRemoved, type: 'BOOLEAN', mode: 'NULLABLE' }] : []),
  ]
  const expires = new Date(Date.now() + stagedMs)
  const { created } = await createTable(work.bigQuery, target, staging, fields, expires)
  const rows = items.map((item): [JudgedRow, string] => [item, lineOf(names, item, item.index)])
  // Rows that were loaded into an earlier table of this name are not in this one.
  const taken = await loadInto(work, staging, table.columns, rows, idOf(target, id, created))
  const isReplaced = isWholeWindow(batch) && items.length === batch.rows.length
  if (taken.refused === undefined) {
    const window = isReplaced ? batch.window : undefined
    const configuration = mergeOf(work, staging, batch.columns, { window, removes })
    await runOnce(work.bigQuery, { ...placeOf(work), id: `${id}_merge`, configuration })
  }
  return { ...taken, staging, isReplaced }
}

/** Deletes a staging table, or leaves it until it expires. */
async function drop({ bigQuery, target, context }: Work, staging: string): Promise<void> {
  await bigQuery.ask(`${tablesOf(target)}/${encodeValue(staging)}`, { method: 'DELETE' }).catch(() => {
    context.signal.throwIfAborted()
  })
}

/** Deletes the rows of a window that are in none of its staging tables. */
async function deleteOthers(work: Work, batch: Batch, stagings: readonly string[]): Promise<void> {
  const configuration = deleteOthersOf(work, batch, stagings)
  if (!configuration) return
  const { target, table, context } = work
  const id = idOf(target, 'others', context.transferId, batch.key, String(table.created), stagings.join())
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
  columns: readonly TargetField[],
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
  return { bytes, refused: refused.reason, blamed: blamedIn(refusal, rows, columns) }
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

/** Looks up the table and holds columns and values against it; creates nothing. */
export async function inspect(context: InspectionContext): Promise<readonly Finding[]> {
  const target = targetOf(context.settings)
  const bigQuery = makeBigQuery(context)
  const found = await findTable(bigQuery, target, target.table)
  if (!found && target.create) {
    // The transfer creates the table; a dataset that is missing fails this.
    await bigQuery.list(target.dataset)
    return []
  }
  const { columns, errors } = judgeTable(target, context.columns, found)
  return inspectRows(errors, columns, context)
}

/** Judges rows by the columns of the table, as a delivery does before it sends them. */
export async function tryRows(context: InspectionContext): Promise<TriedRows> {
  const target = targetOf(context.settings)
  const found = await findTable(makeBigQuery(context), target, target.table)
  const { columns, errors } = judgeTable(target, context.columns, found)
  if (!found || errors.length > 0) return { rejected: [] }
  const rejected: Rejection[] = judgeRows(columns, context).doubtful
  const untried = columns.filter(isUnjudged).map(({ name, type }) => `the ${type.toLowerCase()} values of ${name}`)
  return { rejected, ...(untried.length > 0 ? { untried } : {}) }
}
