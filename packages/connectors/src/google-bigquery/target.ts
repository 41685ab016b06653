import { createHash } from 'node:crypto'
import { asConnectorError, ConnectorError, type Values } from '@penstock/connector'
import { matchColumns } from '../databases/judged-rows.ts'
import { writingOf } from '../databases/settings.ts'
import { type FatalTableProblem, keysNotDelivered, tableNotFound } from '../databases/table-findings.ts'
import { encodeValue } from '../object-stores/place.ts'
import { textIn } from '../platform-api/json.ts'
import type { BigQuery } from './jobs.ts'
import { datasetOf, quoteName } from './plan.ts'
import { isUnjudged, type TargetField, targetFieldsIn } from './target-values.ts'

/** Where rows go, as the settings name it. */
export type BigQueryTarget = {
  /** In which jobs run. */
  readonly projectId: string
  readonly dataset: { readonly projectId: string; readonly datasetId: string }
  readonly table: string
  readonly mode: 'Append' | 'Replace' | 'Upsert'
  /** Empty unless rows are upserted. */
  readonly keys: readonly string[]
  readonly create: boolean
}

/** A table with its columns, and where its data is. */
export type FoundTable = {
  readonly fields: readonly TargetField[]
  readonly location: string | undefined
  /** When it was created, as BigQuery writes it: another table of the same name has another time. */
  readonly created: string
}

/** Reads the settings of the destination. Throws `invalid_setting` if one is missing. */
export function targetOf(settings: Values): BigQueryTarget {
  const { table, keys, create } = writingOf(settings, '-')
  const projectId = textIn(settings.projectId)?.trim() ?? ''
  const dataset = datasetOf(projectId, settings.dataset)
  if (projectId === '' || !dataset) {
    const key = projectId === '' ? 'projectId' : 'dataset'
    throw new ConnectorError('invalid_setting', `The setting ${key} has no value; set it.`)
  }
  const mode = settings.writeMode === 'Replace' || settings.writeMode === 'Upsert' ? settings.writeMode : 'Append'
  return { projectId, dataset, table: table.trim().replaceAll('`', ''), mode, keys, create }
}

/** The tables of a target's dataset, below `projects/`. */
export const tablesOf = ({ dataset: { projectId, datasetId } }: BigQueryTarget): string =>
  `${encodeValue(projectId)}/datasets/${encodeValue(datasetId)}/tables`

/** A table of a target's dataset, as statements name it. */
export const nameOf = ({ dataset: { projectId, datasetId } }: BigQueryTarget, table: string): string =>
  [projectId, datasetId, table].map(quoteName).join('.')

/** An ID that is the same for the same work on the same table. */
export const idOf = ({ dataset, table, mode }: BigQueryTarget, ...parts: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([dataset.projectId, dataset.datasetId, table, mode, ...parts]))
    .digest('hex')
    .slice(0, 40)

/** Asks BigQuery for a table. `undefined` if there is none, or no such dataset. */
export async function findTable(
  bigQuery: BigQuery,
  target: BigQueryTarget,
  table: string,
): Promise<FoundTable | undefined> {
  try {
    const answer = await bigQuery.ask(`${tablesOf(target)}/${encodeValue(table)}`, {})
    const fields = targetFieldsIn(answer.schema)
    const created = textIn(answer.creationTime)
    if (fields.length === 0 || created === undefined) throw malformed()
    const type = textIn(answer.type) ?? 'TABLE'
    if (type !== 'TABLE') {
      throw new ConnectorError('not_supported', `${table} is a ${type.slice(0, 40).toLowerCase()}; name a table.`)
    }
    return { fields, location: textIn(answer.location), created }
  } catch (error) {
    if (asConnectorError(error)?.code === 'table_not_found') return undefined
    throw error
  }
}

/** Creates a table, unless it exists. Throws `table_not_found` if there is no such dataset. */
export async function createTable(
  bigQuery: BigQuery,
  target: BigQueryTarget,
  table: string,
  fields: readonly object[],
  expires?: Date,
): Promise<FoundTable> {
  const tableReference = { ...target.dataset, tableId: table }
  const expiration = expires === undefined ? {} : { expirationTime: String(expires.getTime()) }
  await bigQuery.ask(tablesOf(target), { body: { tableReference, schema: { fields }, ...expiration } })
  const found = await findTable(bigQuery, target, table)
  if (!found) throw malformed()
  return found
}

/** Finds the table, and creates it with columns of text if it is missing and the settings allow it. */
export async function openTable(
  bigQuery: BigQuery,
  target: BigQueryTarget,
  delivered: readonly string[],
): Promise<FoundTable & { readonly columns: readonly TargetField[] }> {
  let found = await findTable(bigQuery, target, target.table)
  if (!found && target.create) {
    const fields = [...new Set(delivered)].map((name) => ({ name, type: 'STRING', mode: 'NULLABLE' }))
    found = await createTable(bigQuery, target, target.table, fields)
  }
  const { columns, errors } = judgeTable(target, delivered, found)
  const [error] = errors
  if (error || !found) {
    throw error ? new ConnectorError(error.code, error.describe(error.columns.slice(0, 50))) : malformed()
  }
  return { ...found, columns }
}

/** The table's columns for the delivered ones, and what prevents writing to them. */
export function judgeTable(
  target: BigQueryTarget,
  delivered: readonly string[],
  found: FoundTable | undefined,
): { columns: readonly TargetField[]; errors: FatalTableProblem[] } {
  const { dataset, table, keys } = target
  if (!found) return { columns: [], errors: [tableNotFound(table, `the dataset ${dataset.datasetId}`)] }
  const { columns, errors } = matchColumns(table, delivered, found.fields)
  const isKey = (column: TargetField) => keys.some((key) => isName(column, key))
  errors.push(...keysNotDelivered(keys.filter((key) => !columns.some((column) => isName(column, key)))))
  const unusable = columns.filter((column) => isKey(column) && notComparable(column))
  if (unusable.length > 0) {
    errors.push({
      code: 'columns_do_not_fit',
      columns: unusable.map(({ name }) => name),
      describe: (names) => `The key column ${names.join(', ')} has a type that cannot be compared; choose another key.`,
    })
  }
  // A key without a value would never be found again.
  return {
    columns: columns.map((column) => (isKey(column) ? { ...column, needed: true, isKey: true } : column)),
    errors,
  }
}

const isName = ({ name }: TargetField, key: string): boolean => name.toLowerCase() === key.toLowerCase()

const notComparable = (column: TargetField): boolean =>
  column.repeated || isUnjudged(column) || ['RECORD', 'JSON', 'FLOAT'].includes(column.type)

const malformed = (): ConnectorError =>
  new ConnectorError('malformed_response', 'BigQuery described a table without columns. The request is repeated.')
