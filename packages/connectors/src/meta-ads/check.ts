import { type Check, type ConnectorContext, ConnectorError, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { accountPath } from './audience-directory.ts'
import { graphOrigin, openGraph } from './graph.ts'

const reach = (context: ConnectorContext) => assertConnectivity(context, `${graphOrigin}/`)

async function signIn(context: ConnectorContext): Promise<string> {
  const { json } = await openGraph(context).get('me', { fields: 'id' })
  if (!textIn(json.id)) throw new ConnectorError('invalid_credentials', 'Meta does not report the owner of this token.')
  return 'Meta accepts the access token.'
}

/** The token's own list of what it may do, and what it is meant to be used on, where a connection says so. */
async function assertGranted(context: ConnectorContext): Promise<void> {
  const { json } = await openGraph(context).get('me/permissions')
  const granted = listIn(json.data)
    .map(objectIn)
    .some(({ permission, status }) => permission === 'ads_management' && status === 'granted')
  if (granted) return
  const message = 'The access token lacks the permission ads_management; create one that has it.'
  throw new ConnectorError('permission_denied', message)
}

export const checkAudiences: Check = checkSteps(
  ['connectivity', reach],
  ['authentication', signIn],
  [
    'permissions',
    async (context) => {
      await assertGranted(context)
      const graph = openGraph(context)
      if (context.settings.advertiserId !== undefined) {
        await graph.get(accountPath(context.settings.advertiserId), { fields: 'id' })
        return 'The token may manage ads, and has access to the ad account.'
      }
      const { json } = await graph.get('me/adaccounts', { fields: 'id', limit: '1' })
      if (listIn(json.data).length > 0) return 'The token may manage ads, and has access to an ad account.'
      const message = 'The access token has no access to an ad account; give its user a role on one.'
      throw new ConnectorError('permission_denied', message)
    },
  ],
)

/** Whether the dataset of the connection is seen, where one is named. */
export async function assertDataset(context: ConnectorContext): Promise<string> {
  if (context.settings.datasetId === undefined) return 'The token may send events.'
  await openGraph(context).get(datasetPath(context.settings.datasetId), { fields: 'id' })
  return 'The token may send events, and has access to the dataset.'
}

export const checkConversions: Check = checkSteps(
  ['connectivity', reach],
  ['authentication', signIn],
  [
    'permissions',
    async (context) => {
      await assertGranted(context)
      return assertDataset(context)
    },
  ],
)

/** The path of the dataset that a setting names. */
export function datasetPath(datasetId: unknown): string {
  const id = String(datasetId ?? '').trim()
  if (!/^\d+$/.test(id))
    throw new ConnectorError('invalid_setting', 'Dataset ID must be the number of a dataset at Meta.')
  return id
}
