import type { ConnectorContext } from '@penstock/connector'
import { type AccessTokens, openTokens } from '../platform-api/oauth.ts'

/** Access tokens of Spotify, by the refresh token of the connector. */
export const openSpotifyTokens = (context: ConnectorContext): AccessTokens =>
  openTokens(context, {
    platform: 'Spotify',
    url: 'https://accounts.spotify.com/api/token',
    // An answer can have a new refresh token.
    grant: { type: 'refresh_token', rotates: true },
    client: {
      id: String(context.secrets.clientId ?? ''),
      secret: String(context.secrets.clientSecret ?? ''),
      in: 'header',
    },
    renewal: 'sign in to Spotify again and save the new refresh token in the connector',
  })
