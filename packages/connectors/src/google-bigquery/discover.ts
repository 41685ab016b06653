import { ConnectorError, type DiscoveredPage, type DiscoveryContext } from '@penstock/connector'
import { pageOfAll } from '../discovery/pages.ts'
import { discovered } from '../kit/run/discover.ts'
import { type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { tokenIn } from '../platform-api/next-page.ts'
import { makeBigQuery } from './jobs.ts'
import { datasetOf, describe, quoteName, sourceOf } from './plan.ts'
import { discoverColumns as discoverTarget } from './target.ts'

/** Datasets of the project that the service account can see. */
export async function discoverDatasets(context: DiscoveryContext): Promise<DiscoveredPage> {
  const bigQuery = makeBigQuery(context)
  return discovered(context, { kind: 'schema', id: /^\w+$/ }, async (pageToken) => {
    const answer = await bigQuery.list({ projectId: needed(context, 'projectId') }, pageToken)
    const datasets = listIn(answer.datasets).map(objectIn)
    return {
      items: datasets.map(({ datasetReference, friendlyName }) => ({
        id: objectIn(datasetReference).datasetId,
        name: friendlyName,
      })),
      next: tokenIn(answer.nextPageToken, 'BigQuery'),
    }
  })
}

/** Tables and views of the dataset. */
export async function discoverTables(context: DiscoveryContext): Promise<DiscoveredPage> {
  const bigQuery = makeBigQuery(context)
  const dataset = datasetIn(context)
  return discovered(context, { kind: 'table', id: /./s }, async (pageToken) => {
    const answer = await bigQuery.list(dataset, pageToken)
    const isOurs = ({ tableReference }: JsonObject) =>
      /^penstock_staging_/.test(textIn(objectIn(tableReference).tableId) ?? '')
    const tables = listIn(answer.tables)
      .map(objectIn)
      .filter((table) => !isOurs(table))
    return {
      items: tables.map(({ tableReference, friendlyName, type }) => ({
        id: objectIn(tableReference).tableId,
        name: friendlyName,
        ...(/VIEW$/.test(textIn(type) ?? '') && { kind: 'view' as const }),
      })),
      next: tokenIn(answer.nextPageToken, 'BigQuery'),
    }
  })
}

/** Columns that the query returns, or columns of the table if there is no query yet. */
export async function discoverColumns(context: DiscoveryContext): Promise<DiscoveredPage> {
  const { settings } = context
  const sqlQuery = textIn(settings.sqlQuery) ?? `select * from ${tableIn(context)}`
  const fields = await describe(makeBigQuery(context), sourceOf({ ...settings, sqlQuery }))
  return pageOfAll(
    fields.map(({ name, type, repeated }) => ({
      value: name,
      kind: 'column',
      type: repeated ? `ARRAY<${type}>` : type,
    })),
    context,
  )
}

/** Columns of the table that rows go to. */
export async function discoverTargetColumns(context: DiscoveryContext): Promise<DiscoveredPage> {
  needed(context, 'projectId')
  needed(context, 'dataset')
  needed(context, 'table')
  return discoverTarget(context)
}

/** The dataset in the settings, which can belong to another project. */
function datasetIn(context: DiscoveryContext): { projectId: string; datasetId: string } {
  const projectId = needed(context, 'projectId')
  return datasetOf(projectId, needed(context, 'dataset')) ?? { projectId, datasetId: '' }
}

/** The table in the settings, as queries name it. */
function tableIn(context: DiscoveryContext): string {
  const { projectId, datasetId } = datasetIn(context)
  const parts = [...(projectId === context.settings.projectId ? [] : [projectId]), datasetId, needed(context, 'table')]
  return parts.map(quoteName).join('.')
}

/** The value of a setting that is needed first. */
function needed({ settings }: DiscoveryContext, key: 'projectId' | 'dataset' | 'table'): string {
  const value = textIn(settings[key])?.trim()
  if (value) return value
  const label = { projectId: 'Google project ID', dataset: 'BigQuery dataset', table: 'BigQuery table' }[key]
  throw new ConnectorError('invalid_setting', `Set “${label}” first.`)
}
