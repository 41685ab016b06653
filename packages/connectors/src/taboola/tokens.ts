import type { ConnectorContext } from '@penstock/connector'
import { type AccessTokens, openTokens } from '../platform-api/oauth.ts'

/** Access tokens of Taboola, by the client of the connector. */
export const openTaboolaTokens = (context: ConnectorContext): AccessTokens =>
  openTokens(context, {
    platform: 'Taboola',
    url: 'https://backstage.taboola.com/backstage/oauth/token',
    grant: { type: 'client_credentials' },
    client: { id: String(context.secrets.clientId ?? ''), secret: String(context.secrets.clientSecret ?? '') },
    renewal: 'check the client ID and the secret key, and save them again',
  })
