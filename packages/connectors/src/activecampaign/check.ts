import { type Check, type ConnectorContext, ConnectorError, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { openActiveCampaign, originOf } from './activecampaign-api.ts'

/** Whether the key is accepted; a page for people in place of JSON says that the address is another one. */
export async function assertKey(context: ConnectorContext): Promise<string> {
  const { json } = await openActiveCampaign(context).askObject({ path: '/users/me' })
  if (textIn(objectIn(json.user).id) !== undefined) return 'ActiveCampaign accepts the API key.'
  throw new ConnectorError(
    'invalid_credentials',
    'ActiveCampaign does not report the owner of this key; check the API key.',
  )
}

export const checkActiveCampaign: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${originOf(context)}/`)],
  ['authentication', assertKey],
)
