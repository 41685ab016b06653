import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Credentials } from '../platform-api/client.ts'
import { type AccessTokens, openTokens } from '../platform-api/oauth.ts'

/** Access tokens of Google for a scope, from the refresh token that a connector has saved. */
export function googleTokens(context: ConnectorContext, scope: string): AccessTokens {
  const [id, secret, refreshToken] = ['clientId', 'clientSecret', 'refreshToken'].map((key) =>
    String(context.secrets[key] ?? '').trim(),
  )
  if (!id || !secret || !refreshToken) {
    const message =
      'Google requires an OAuth client and a refresh token; save the client ID, the client secret and the refresh token.'
    throw new ConnectorError('invalid_credentials', message)
  }
  return openTokens(context, {
    platform: 'Google',
    url: 'https://oauth2.googleapis.com/token',
    grant: { type: 'refresh_token' },
    client: { id, secret },
    scope,
    renewal:
      'authorize the connector again, or sign in at Google again and save the new refresh token in the connector',
  })
}

/** The same for the Data Manager API. @param login the account through which the user reaches the account of a connection, if another */
export function dataManagerTokens(context: ConnectorContext, login: string | undefined): Credentials {
  const tokens = googleTokens(context, 'https://www.googleapis.com/auth/datamanager')
  if (login === undefined) return tokens
  return { ...tokens, headers: async (refused) => ({ ...(await tokens.headers(refused)), 'login-account': login }) }
}
