import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { openApi } from '../kit/run/open-api.ts'
import type { Credentials, PlatformClient } from '../platform-api/client.ts'
import { textIn } from '../platform-api/json.ts'
import { openTokens } from '../platform-api/oauth.ts'
import { hubspotApi, hubspotOrigin, paths } from './api.ts'

/** Opens HubSpot's API with the credentials of the connector. Throws `invalid_credentials` if one is missing. */
export const openHubSpot = (context: ConnectorContext): Promise<PlatformClient> =>
  openApi(context, hubspotApi, { open: async () => credentialsOf(context) })

/** The token of a private app or a service key, which does not end, or tokens of the refresh token. */
function credentialsOf(context: ConnectorContext): Credentials {
  const { authType, accessToken, clientId, clientSecret } = context.secrets
  if (authType === 'token') {
    const token = textIn(accessToken)?.trim()
    if (!token || !/^[\x21-\x7e]{1,4096}$/.test(token)) {
      throw new ConnectorError('invalid_credentials', 'There is no access token for HubSpot; save it in the connector.')
    }
    return { renews: false, headers: async () => ({ authorization: `Bearer ${token}` }) }
  }
  return openTokens(context, {
    platform: 'HubSpot',
    renewal: 'authorize the connector again, or save a refresh token of HubSpot in it',
    url: `${hubspotOrigin}${paths.token}`,
    // It stays the same until the app is removed from the account.
    grant: { type: 'refresh_token' },
    client: { id: String(clientId ?? ''), secret: String(clientSecret ?? '') },
  })
}
