import { createHash } from 'node:crypto'
import { asConnectorError, ConnectorError, type Values } from '@penstock/connector'
import { writingOf } from '../databases/settings.ts'
import { noValue } from '../kit/names.ts'
import { inspectionsOf } from '../kit/warehouse/inspect.ts'
import { type Tables, type Target, writeModeOf } from '../kit/warehouse/table.ts'
import { encodeValue } from '../object-stores/place.ts'
import { textIn } from '../platform-api/json.ts'
import { type BigQuery, makeBigQuery } from './jobs.ts'
import { datasetOf, quoteName } from './plan.ts'
import { type TargetField, targetFieldsIn } from './target-values.ts'

/** The table that rows go to, as the settings name it. */
export type BigQueryTarget = Target & {
  /** In which jobs run. */
  readonly projectId: string
  readonly dataset: { readonly projectId: string; readonly datasetId: string }
}

/** A table with its columns, and where its data is. */
export type BigQueryTable = {
  readonly columns: readonly TargetField[]
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
    throw noValue(key)
  }
  return {
    projectId,
    dataset,
    table: table.trim().replaceAll('`', ''),
    where: `the dataset ${dataset.datasetId}`,
    mode: writeModeOf(settings),
    keys,
    create,
  }
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

/** Asks BigQuery for a table. `undefined` if the table or its dataset does not exist. */
export async function findTable(
  bigQuery: BigQuery,
  target: BigQueryTarget,
  table: string,
): Promise<BigQueryTable | undefined> {
  try {
    const answer = await bigQuery.ask(`${tablesOf(target)}/${encodeValue(table)}`, {})
    const columns = targetFieldsIn(answer.schema)
    const created = textIn(answer.creationTime)
    if (columns.length === 0 || created === undefined) throw malformed()
    const type = textIn(answer.type) ?? 'TABLE'
    if (type !== 'TABLE') {
      throw new ConnectorError('not_supported', `${table} is a ${type.slice(0, 40).toLowerCase()}; name a table.`)
    }
    return { columns, location: textIn(answer.location), created }
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
): Promise<BigQueryTable> {
  const tableReference = { ...target.dataset, tableId: table }
  const expiration = expires === undefined ? {} : { expirationTime: String(expires.getTime()) }
  await bigQuery.ask(tablesOf(target), { body: { tableReference, schema: { fields }, ...expiration } })
  const found = await findTable(bigQuery, target, table)
  if (!found) throw malformed()
  return found
}

export const bigQueryTables: Tables<BigQuery, BigQueryTarget, BigQueryTable> = {
  targetOf,
  use: (context, work) => work(makeBigQuery(context)),
  find: (bigQuery, target) => findTable(bigQuery, target, target.table),
  create(bigQuery, target, names) {
    const fields = names.map((name) => ({ name, type: 'STRING', mode: 'NULLABLE' }))
    return createTable(bigQuery, target, target.table, fields)
  },
  assertCreatable: (bigQuery, { dataset }) => bigQuery.list(dataset),
}

export const { inspect, tryRows, discoverColumns } = inspectionsOf(bigQueryTables)

const malformed = (): ConnectorError =>
  new ConnectorError('malformed_response', 'BigQuery described a table without columns. The request is repeated.')
