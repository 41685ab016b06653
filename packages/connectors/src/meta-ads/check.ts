import { type Check, type ConnectorContext, ConnectorError, checkSteps } from '@penstock/connector'
import { openApi } from '../kit/run/open-api.ts'
import { assertConnectivity } from '../platform-api/call.ts'
import { textIn } from '../platform-api/json.ts'
import { graphOrigin, lacking, metaApi, metaAuth, permissions } from './api.ts'

/** The Graph API for events. One connector has its long-lived token under the other name. */
const openGraph = (context: ConnectorContext) =>
  openApi(context, metaApi, metaAuth(context.secrets.accessToken === undefined ? 'refreshToken' : 'accessToken'))

async function signIn(context: ConnectorContext): Promise<string> {
  const { json } = await (await openGraph(context)).askObject({ path: '/me', query: { fields: 'id' } })
  if (!textIn(json.id)) throw new ConnectorError('invalid_credentials', 'Meta does not report the owner of this token.')
  return 'Meta accepts the access token.'
}

/** Whether the dataset of the connection is seen, if one is named. */
export async function assertDataset(context: ConnectorContext): Promise<string> {
  if (context.settings.datasetId === undefined) return 'The token may send events.'
  const path = `/${datasetIn(context.settings.datasetId)}`
  await (await openGraph(context)).askObject({ path, query: { fields: 'id' } })
  return 'The token may send events, and has access to the dataset.'
}

export const checkConversions: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${graphOrigin}/`)],
  ['authentication', signIn],
  [
    'permissions',
    async (context) => {
      const lacks = lacking('ads_management')(await (await openGraph(context)).askObject(permissions))
      if (lacks !== undefined) throw new ConnectorError('permission_denied', lacks)
      return assertDataset(context)
    },
  ],
)

/** The dataset that a setting names. */
function datasetIn(datasetId: unknown): string {
  const id = String(datasetId ?? '').trim()
  if (/^\d+$/.test(id)) return id
  throw new ConnectorError('invalid_setting', 'Dataset ID must be the number of a dataset at Meta.')
}
