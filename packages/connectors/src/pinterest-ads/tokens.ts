import type { ConnectorContext } from '@penstock/connector'
import type { Credentials } from '../platform-api/client.ts'
import { enteredToken } from '../platform-api/entered-token.ts'
import { textIn } from '../platform-api/json.ts'
import { openTokens } from '../platform-api/oauth.ts'

/** Signs in with a token that was entered, or with the refresh token of the connector. */
export function openPinterestTokens(context: ConnectorContext): Credentials {
  const { authType, clientId, clientSecret, accessToken } = context.secrets
  const tokens = openTokens(context, {
    platform: 'Pinterest',
    renewal: 'authorize the connector again, or sign in to Pinterest again and save what it gives in the connector',
    url: 'https://api.pinterest.com/v5/oauth/token',
    // Each answer has a new refresh token, which is good for 60 days.
    grant: { type: 'refresh_token', rotates: true },
    client: { id: String(clientId ?? ''), secret: String(clientSecret ?? ''), in: 'header' },
  })
  const entered = authType === 'api-token' ? textIn(accessToken) : undefined
  return entered === undefined ? tokens : enteredToken(entered, tokens)
}
