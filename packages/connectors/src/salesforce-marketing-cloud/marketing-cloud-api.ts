import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform, type PlatformClient } from '../platform-api/client.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { openTokens } from '../platform-api/oauth.ts'

/** The name that belongs to a tenant: that of the connection, else that of the connector; `undefined` where there is none. */
export function subdomainOf({ secrets, settings }: ConnectorContext): string | undefined {
  const subdomain = textIn(settings.subdomain)?.trim() || textIn(secrets.subdomain)?.trim()
  if (!subdomain) return undefined
  if (/^[a-z0-9-]{1,63}$/i.test(subdomain)) return subdomain.toLowerCase()
  const message = 'Subdomain must be the part of the authentication base URI before its first dot, without https://.'
  throw new ConnectorError('invalid_setting', message)
}

export const originOf = (subdomain: string): string => `https://${subdomain}.rest.marketingcloudapis.com`

/** The REST API of a tenant. Tokens last for 20 minutes, and there is no refresh token: the client asks for the next one. */
export function openMarketingCloud(context: ConnectorContext): PlatformClient {
  const subdomain = subdomainOf(context)
  if (subdomain === undefined) throw new ConnectorError('invalid_setting', 'Subdomain is missing; enter it.')
  const { clientId, clientSecret } = context.secrets
  return openPlatform(context, {
    name: 'Marketing Cloud',
    baseUrl: originOf(subdomain),
    credentials: openTokens(context, {
      platform: 'Marketing Cloud',
      url: `https://${subdomain}.auth.marketingcloudapis.com/v2/token`,
      grant: { type: 'client_credentials' },
      client: { id: String(clientId ?? ''), secret: String(clientSecret ?? '') },
    }),
    errorOf,
  })
}

/** What an answer means. Its words are left out: they quote values of rows. */
function errorOf({ status, json }: Answer): ConnectorError | undefined {
  const { errorcode, additionalErrors } = objectIn(json)
  if (status === 403) {
    const message =
      'Marketing Cloud denies access; give the installed package the scopes Data Extensions Read and Write, and access to the business unit.'
    return new ConnectorError('permission_denied', message)
  }
  if (status !== 400) return undefined
  // Its database was busy. With errors beside it, rows are to blame.
  if (Number(errorcode) === 10006 && additionalErrors === undefined) {
    return new ConnectorError('platform_error', 'Marketing Cloud could not save the rows (10006).')
  }
  const code = textIn(errorcode)
  const shown = code !== undefined && /^\d{1,8}$/.test(code) ? code : `status ${status}`
  return new ConnectorError('invalid_batch', `Marketing Cloud refuses what was sent (${shown}).`)
}
