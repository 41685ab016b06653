import { type Authorization, type AuthorizationServer, authorizationAt, type Values } from '@penstock/connector'

const microsoft: AuthorizationServer = {
  slug: 'microsoft-advertising',
  name: 'Microsoft',
  authorizeUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
  tokenUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
  pkce: true,
  authorizeParameters: { response_mode: 'query' },
  registration:
    'Register an app of the type “Web” in Microsoft Entra, for accounts in any organizational directory and personal Microsoft accounts, with a client secret.',
  withoutRefreshToken: 'Check that the app may ask for offline_access, then authorize the connector again.',
}

/** Microsoft, for its advertising API. */
export const microsoftAuthorization = (sets: Values = {}): Authorization =>
  authorizationAt(microsoft, ['https://ads.microsoft.com/msads.manage', 'offline_access'], { sets })
