import { createHash } from 'node:crypto'
import {
  type Batch,
  ConnectorError,
  type DestinationContext,
  type DestinationWriter,
  type Finding,
  type InspectionContext,
  type TriedRows,
} from '@penstock/connector'
import { inspectRows, type JudgedRow, judgeRows } from '../databases/judged-rows.ts'
import { type Loaded, openLoadingWriter } from '../databases/loading-writer.ts'
import { isWholeWindow, type WindowStore } from '../databases/staged-windows.ts'
import { encodeValue } from '../object-stores/place.ts'
import { numberIn } from '../platform-api/json.ts'
import { type Databricks, Misfit, openDatabricks } from './databricks-api.ts'
import { deleteOthersOf, mergeOf, type UploadedFile, valuesOf } from './merge.ts'
import { type DatabricksTarget, findTable, judgeTable, openTable, targetOf } from './target.ts'
import { type DatabricksColumn, quoteText } from './target-columns.ts'

type Work = {
  readonly databricks: Databricks
  readonly target: DatabricksTarget
  readonly columns: readonly DatabricksColumn[]
}

/** More files are not read by one statement. */
const filesMax = 500

/** Opens a writer: finds the table, and creates it if it may. Empties nothing yet. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const databricks = openDatabricks(context)
  const target = targetOf(context.settings)
  const columns = await openTable(databricks, target, context.columns)
  const work: Work = { databricks, target, columns }
  const windows: WindowStore<UploadedFile> = {
    most: filesMax,
    drop: (file) => drop(work, file),
    async deleteOthers(batch, files) {
      const text = deleteOthersOf(work, batch, files)
      if (text !== undefined) await databricks.run({ ...target, text })
    },
  }
  return openLoadingWriter(context, {
    name: 'Databricks',
    columns,
    replaces: target.mode === 'Replace',
    empty: () => databricks.run({ ...target, text: `truncate table ${target.name}` }),
    load: (rows, key, batch) => load(work, key, rows, batch),
    windows: target.mode === 'Upsert' ? windows : undefined,
  })
}

/**
 * Uploads rows as a file and loads it. The same rows of the same transfer have the same path, from which COPY INTO loads once; rows
 * that are loaded after the table was emptied again have another one. The file stays as a stage if it is a part of a window.
 */
async function load(work: Work, key: string, items: readonly JudgedRow[], batch: Batch): Promise<Loaded<UploadedFile>> {
  const { databricks, target } = work
  const parts = [target.name, target.mode, key, ...items.map(({ index }) => String(index))]
  const path = `${target.folder}/${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40)}.json`
  const lines = items.map((item) => `${lineOf(item)}\n`).join('')
  const headers = { 'content-type': 'application/octet-stream' }
  // The engine repeats the batch, and shows how long it waits.
  const file = `${addressOf(path)}?overwrite=true`
  await databricks.ask({ path: file, method: 'PUT', body: lines, headers, repeatable: false })
  const bytes = Buffer.byteLength(lines)
  const isWhole = batch.window !== undefined && target.mode === 'Upsert' && items.length === batch.rows.length
  const isReplaced = isWhole && isWholeWindow(batch)
  const removes = items.some(({ isRemoved }) => isRemoved)
  let isStaged = false
  try {
    const text =
      target.mode === 'Upsert'
        ? mergeOf(work, path, batch.columns, { window: isReplaced ? batch.window : undefined, removes })
        : copyOf(work, path)
    const [counts = []] = await databricks.run({ ...target, text })
    if (target.mode !== 'Upsert') assertLoaded(counts, items.length)
    isStaged = isWhole && !isReplaced
    return { bytes, ...(isReplaced && { stage: 'replaced' }), ...(isStaged && { stage: { path } }) }
  } catch (error) {
    if (!(error instanceof Misfit)) throw error
    return { bytes, refused: `Databricks cannot write a value of the row (${error.condition}).` }
  } finally {
    if (!isStaged) await drop(work, { path })
  }
}

const addressOf = (path: string): string => `/api/2.0/fs/files${path.split('/').map(encodeValue).join('/')}`

/** Deletes a file. If that fails, it stays in the volume, and is written again if the batch comes again. */
async function drop({ databricks }: Work, { path }: UploadedFile): Promise<void> {
  await databricks.ask({ path: addressOf(path), method: 'DELETE' }).catch(() => {})
}

/** A row as a line of JSON: all values as texts, under keys that no column name can disturb. */
const lineOf = ({ index, values, isRemoved }: JudgedRow): string =>
  JSON.stringify({
    ...Object.fromEntries(values.map((value, at) => [`c${at}`, value === null ? null : String(value)])),
    n: String(index),
    ...(isRemoved && { removed: 'true' }),
  })

/** By Databricks' own count: all rows, or none if they were loaded before. */
function assertLoaded([affected, inserted]: readonly unknown[], sent: number): void {
  const count = numberIn(inserted ?? affected)
  if (count === sent || count === 0) return
  throw new ConnectorError('unexpected_response', 'Databricks did not load as many rows as were uploaded.')
}

const copyOf = ({ target, columns }: Work, path: string): string =>
  `copy into ${target.name} from (select ${valuesOf(columns)} from ${quoteText(path)}) fileformat = json format_options ('primitivesAsString' = 'true', 'mode' = 'FAILFAST')`

/** Looks up the table and holds columns and values against it; creates nothing. */
export async function inspect(context: InspectionContext): Promise<readonly Finding[]> {
  const target = targetOf(context.settings)
  const databricks = openDatabricks(context)
  const found = await findTable(databricks, target)
  if (!found && target.create) {
    // The transfer creates the table; a schema that is missing fails this.
    const [catalog, schema] = target.path
    const path = `/api/2.1/unity-catalog/schemas/${encodeValue(`${catalog}.${schema}`)}`
    await databricks.ask({ path, repeatable: false })
    return []
  }
  const { columns, errors } = judgeTable(target, context.columns, found)
  return inspectRows(errors, columns, context)
}

/** Judges rows by the columns of the table, as a delivery does before it sends them. */
export async function tryRows(context: InspectionContext): Promise<TriedRows> {
  const target = targetOf(context.settings)
  const found = await findTable(openDatabricks(context), target)
  const { columns, errors } = judgeTable(target, context.columns, found)
  if (!found || errors.length > 0) return { rejected: [] }
  const { doubtful } = judgeRows(columns, context)
  const unjudged = columns
    .filter(({ isUnjudged }) => isUnjudged)
    .map(({ name, type }) => `the ${type.split('<')[0]} values of ${name}`)
  const untried = [...(found.isChecked ? ['CHECK constraints'] : []), ...unjudged]
  return { rejected: doubtful, ...(untried.length > 0 ? { untried } : {}) }
}
