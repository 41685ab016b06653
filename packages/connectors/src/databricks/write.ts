import { createHash } from 'node:crypto'
import {
  ConnectorError,
  type DestinationContext,
  type DestinationWriter,
  type Finding,
  type InspectionContext,
  type TriedRows,
} from '@penstock/connector'
import { inspectRows, type JudgedRow, judgeRows } from '../databases/judged-rows.ts'
import { openLoadingWriter } from '../databases/loading-writer.ts'
import { encodeValue } from '../object-stores/place.ts'
import { numberIn } from '../platform-api/json.ts'
import type { Taken } from '../platform-api/rows/halving.ts'
import { type Databricks, Misfit, openDatabricks } from './databricks-api.ts'
import { type DatabricksTarget, findTable, judgeTable, openTable, targetOf } from './target.ts'
import { type DatabricksColumn, quoteName, quoteText } from './target-columns.ts'

type Work = {
  readonly databricks: Databricks
  readonly target: DatabricksTarget
  readonly columns: readonly DatabricksColumn[]
}

/** Opens a writer: finds the table, and creates it if it may. Empties nothing yet. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const databricks = openDatabricks(context)
  const target = targetOf(context.settings)
  const columns = await openTable(databricks, target, context.columns)
  const work: Work = { databricks, target, columns }
  return openLoadingWriter(context, {
    name: 'Databricks',
    columns,
    replaces: target.mode === 'Replace',
    empty: () => databricks.run({ ...target, text: `truncate table ${target.name}` }),
    load: (rows, key) => load(work, key, rows),
  })
}

/**
 * Uploads rows as a file and loads it. The same rows of the same transfer have the same path, from which COPY INTO loads once; rows
 * that are loaded after the table was emptied again have another one.
 */
async function load(work: Work, key: string, items: readonly JudgedRow[]): Promise<Taken<JudgedRow>> {
  const { databricks, target } = work
  const parts = [target.name, target.mode, key, ...items.map(({ index }) => String(index))]
  const path = `${target.folder}/${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40)}.json`
  const lines = items.map((item) => `${lineOf(item)}\n`).join('')
  const file = `/api/2.0/fs/files${path.split('/').map(encodeValue).join('/')}`
  const headers = { 'content-type': 'application/octet-stream' }
  // The engine repeats the batch, and shows how long it waits.
  await databricks.ask({ path: `${file}?overwrite=true`, method: 'PUT', body: lines, headers, repeatable: false })
  const bytes = Buffer.byteLength(lines)
  try {
    const text = target.mode === 'Upsert' ? mergeOf(work, path) : copyOf(work, path)
    const [counts = []] = await databricks.run({ ...target, text })
    if (target.mode !== 'Upsert') assertLoaded(counts, items.length)
  } catch (error) {
    if (!(error instanceof Misfit)) throw error
    return { bytes, refused: `Databricks cannot write a value of the row (${error.condition}).` }
  } finally {
    await databricks.ask({ path: file, method: 'DELETE' }).catch(() => {
      // The file stays in the volume, and is written again if the batch comes again.
    })
  }
  return { bytes }
}

/** A row as a line of JSON: all values as texts, under keys that no column name can disturb. */
const lineOf = ({ index, values }: JudgedRow): string =>
  JSON.stringify({
    ...Object.fromEntries(values.map((value, at) => [`c${at}`, value === null ? null : String(value)])),
    n: String(index),
  })

/** By Databricks' own count: all rows, or none if they were loaded before. */
function assertLoaded([affected, inserted]: readonly unknown[], sent: number): void {
  const count = numberIn(inserted ?? affected)
  if (count === sent || count === 0) return
  throw new ConnectorError('unexpected_response', 'Databricks did not load as many rows as were uploaded.')
}

const valuesOf = (columns: readonly DatabricksColumn[]): string =>
  columns.map((column, at) => `${column.value(`c${at}`)} as ${quoteName(column.name)}`).join(', ')

const copyOf = ({ target, columns }: Work, path: string): string =>
  `copy into ${target.name} from (select ${valuesOf(columns)} from ${quoteText(path)}) fileformat = json format_options ('primitivesAsString' = 'true', 'mode' = 'FAILFAST')`

/** Of several rows with the same key, the last one of the batch counts: a MERGE with two rows for one would fail. */
function mergeOf({ target, columns }: Work, path: string): string {
  const isKey = ({ name }: DatabricksColumn) => target.keys.some((key) => key.toLowerCase() === name.toLowerCase())
  const names = columns.map(({ name }) => quoteName(name))
  const keys = columns.filter(isKey).map(({ name }) => quoteName(name))
  const others = columns.filter((column) => !isKey(column)).map(({ name }) => quoteName(name))
  const schema = [...columns.map((_, at) => `c${at} string`), 'n string'].join(', ')
  const set = others.map((name) => `${name} = S.${name}`).join(', ')
  return `merge into ${target.name} as T
    using (select * from (select ${valuesOf(columns)}, cast(n as bigint) as penstock_row
        from read_files(${quoteText(path)}, format => 'json', schema => '${schema}', mode => 'FAILFAST'))
      qualify row_number() over (partition by ${keys.join(', ')} order by penstock_row desc) = 1) as S
    on ${keys.map((name) => `T.${name} = S.${name}`).join(' and ')}
    ${others.length === 0 ? '' : `when matched then update set ${set}`}
    when not matched then insert (${names.join(', ')}) values (${names.map((name) => `S.${name}`).join(', ')})`
}

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
