import { type ConnectorContext, ConnectorError, checkSteps } from '@penstock/connector'
import { openApi } from '../kit/run/open-api.ts'
import { assertConnectivity } from '../platform-api/call.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { activeCampaignApi, apiKey } from './api.ts'

/** Checks whether the key is accepted. A page for people instead of JSON means that the address is wrong. */
export async function assertKey(context: ConnectorContext): Promise<string> {
  const client = await openApi(context, activeCampaignApi(context), apiKey)
  const { json } = await client.askObject({ path: '/users/me' })
  if (textIn(objectIn(json.user).id) !== undefined) return 'ActiveCampaign accepts the API key.'
  const message = 'ActiveCampaign does not report the owner of this key; check the API key.'
  throw new ConnectorError('invalid_credentials', message)
}

export const checkActiveCampaign = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${new URL(activeCampaignApi(context).baseUrl).origin}/`)],
  ['authentication', assertKey],
)
