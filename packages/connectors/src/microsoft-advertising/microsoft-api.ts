import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Credentials } from '../platform-api/client.ts'
import { enteredToken } from '../platform-api/entered-token.ts'
import { textIn } from '../platform-api/json.ts'
import { type AccessTokens, openTokens } from '../platform-api/oauth.ts'

/**
 * Authenticates requests for the ad account of the connection. Throws `invalid_setting` if it names no account, or if the
 * connector has no developer token.
 */
export function openCredentials(context: ConnectorContext): Credentials {
  const { settings } = context
  return credentialsWith(context, {
    customerid: digitsOf(settings.customerId, 'Customer ID'),
    customeraccountid: digitsOf(settings.accountId, 'Account ID'),
  })
}

/** The same for requests that concern no ad account. */
export function credentialsWith(
  context: ConnectorContext,
  account: Readonly<Record<string, string>> = {},
): Credentials {
  const { secrets } = context
  const headers = { ...account, developertoken: developerTokenOf(context) }
  const tokens = openMicrosoftTokens(context)
  const entered = secrets.authType === 'api-token' ? textIn(secrets.accessToken) : undefined
  const credentials = entered === undefined ? tokens : enteredToken(entered, tokens)
  return { renews: true, headers: async (refused) => ({ ...headers, ...(await credentials.headers(refused)) }) }
}

export function openMicrosoftTokens(context: ConnectorContext): AccessTokens {
  const { clientId, clientSecret } = context.secrets
  return openTokens(context, {
    platform: 'Microsoft',
    renewal: 'authorize the connector again, or sign in to Microsoft again and save what it gives in the connector',
    url: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    // Each answer contains a new refresh token, which replaces the old one.
    grant: { type: 'refresh_token', rotates: true },
    client: { id: String(clientId ?? ''), secret: String(clientSecret ?? '') },
    // Microsoft's list of granted scopes is not complete.
    parameters: { scope: 'https://ads.microsoft.com/msads.manage offline_access' },
  })
}

function developerTokenOf({ secrets }: ConnectorContext): string {
  const token = textIn(secrets.developerToken) ?? textIn(secrets.appDeveloperToken)
  if (token !== undefined) return token
  const message = 'Microsoft Advertising requires a developer token with each request; enter it in the connector.'
  throw new ConnectorError('invalid_setting', message)
}

/** People copy numbers with spaces around them. */
function digitsOf(value: unknown, label: string): string {
  const digits = String(value ?? '').trim()
  if (/^\d{1,20}$/.test(digits)) return digits
  throw new ConnectorError('invalid_setting', `${label} must be a number of Microsoft Advertising, digits alone.`)
}
