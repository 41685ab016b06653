import { createHash } from 'node:crypto'
import { ConnectorError, type DestinationContext, type DestinationWriter } from '@penstock/connector'
import { throwFirst } from '../databases/table-findings.ts'
import { mirrorErrors, nameKeysBy } from '../kit/warehouse/key-names.ts'
import type { JudgedRow } from '../kit/warehouse/rows.ts'
import { openTable } from '../kit/warehouse/table.ts'
import { isWholeWindow } from '../kit/warehouse/windows.ts'
import { type BatchName, type Loaded, openLoadingWriter } from '../kit/warehouse/writer.ts'
import { encodeValue } from '../object-stores/place.ts'
import { numberIn } from '../platform-api/json.ts'
import { type Databricks, Misfit, openDatabricks } from './databricks-api.ts'
import { deleteOthersOf, mergeOf, type UploadedFile, valuesOf } from './merge.ts'
import { type DatabricksTarget, databricksTables, targetOf } from './target.ts'
import { type DatabricksColumn, quoteText } from './target-columns.ts'

export { inspect, tryRows } from './target.ts'

type Work = {
  readonly databricks: Databricks
  readonly target: DatabricksTarget
  readonly columns: readonly DatabricksColumn[]
}

/** More files are not read by one statement. */
const filesMax = 500

/** Opens a writer: finds the table, and creates it if the settings allow that. Does not empty the table yet. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const databricks = openDatabricks(context)
  const target = targetOf(context.settings)
  const { columns } = await openTable(databricksTables, databricks, target, context.columns)
  throwFirst(mirrorErrors(context.settings, columns))
  const work: Work = { databricks, target, columns }
  return openLoadingWriter<UploadedFile>(context, {
    name: 'Databricks',
    columns,
    replaces: target.mode === 'Replace',
    empty: () => databricks.run({ ...target, text: `truncate table ${target.name}` }),
    load: (rows, name) => load(work, name, rows),
    nameKeys: nameKeysBy(columns, target.keys),
    windows:
      target.mode === 'Upsert'
        ? {
            most: filesMax,
            drop: (file) => drop(work, file),
            async deleteOthers(batch, files) {
              const text = deleteOthersOf(work, batch, files)
              if (text !== undefined) await databricks.run({ ...target, text })
            },
          }
        : undefined,
  })
}

/**
 * Uploads rows as a file and loads it. The same rows of the same transfer have the same path, from which COPY INTO loads once.
 * If the table was emptied again, later rows have another path. The file stays as a stage if it belongs to a window.
 */
async function load(work: Work, { key, batch }: BatchName, items: readonly JudgedRow[]): Promise<Loaded<UploadedFile>> {
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
    const text = target.mode === 'Upsert' ? mergeOf(work, path, batch, { isReplaced, removes }) : copyOf(work, path)
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

/** Deletes a file. If that fails, it stays in the volume. If the batch is sent again, the file is overwritten. */
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

/** Checks Databricks' own count: all rows, or 0 if they were loaded before. */
function assertLoaded([affected, inserted]: readonly unknown[], sent: number): void {
  const count = numberIn(inserted ?? affected)
  if (count === sent || count === 0) return
  throw new ConnectorError('unexpected_response', 'Databricks did not load as many rows as were uploaded.')
}

const copyOf = ({ target, columns }: Work, path: string): string =>
  `copy into ${target.name} from (select ${valuesOf(columns)} from ${quoteText(path)}) fileformat = json format_options ('primitivesAsString' = 'true', 'mode' = 'FAILFAST')`
