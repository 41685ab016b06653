import type { ConnectorContext } from '@penstock/connector'
import { type AccessTokens, openTokens } from '../platform-api/oauth.ts'

/** Access tokens of Criteo, by the refresh token of the connector. */
export const openCriteoTokens = (context: ConnectorContext): AccessTokens =>
  openTokens(context, {
    platform: 'Criteo',
    url: 'https://api.criteo.com/oauth2/token',
    // If an answer contains a new refresh token, it replaces the old one.
    grant: { type: 'refresh_token', rotates: true },
    client: { id: String(context.secrets.clientId ?? ''), secret: String(context.secrets.clientSecret ?? '') },
  })
