import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { textIn } from '../platform-api/json.ts'

/**
 * The subdomain of a tenant, from the connection or from the connector. `undefined` if neither has one. Throws
 * `invalid_setting` if they differ, because the secret belongs to the tenant that it was saved with.
 */
export function subdomainOf({ secrets, settings }: Pick<ConnectorContext, 'secrets' | 'settings'>): string | undefined {
  const ofConnector = subdomainIn(secrets.subdomain)
  const ofConnection = subdomainIn(settings.subdomain)
  if (ofConnector !== undefined && ofConnection !== undefined && ofConnector !== ofConnection) {
    const message =
      'Subdomain is not the one of the connector, and the client secret goes to no other one. Correct it in the connection, or in the connector with the client secret.'
    throw new ConnectorError('invalid_setting', message)
  }
  return ofConnection ?? ofConnector
}

function subdomainIn(value: unknown): string | undefined {
  const subdomain = textIn(value)?.trim()
  if (!subdomain) return undefined
  if (/^[a-z0-9-]{1,63}$/i.test(subdomain)) return subdomain.toLowerCase()
  const message = 'Subdomain must be the part of the authentication base URI before its first dot, without https://.'
  throw new ConnectorError('invalid_setting', message)
}

export const originOf = (subdomain: string): string => `https://${subdomain}.rest.marketingcloudapis.com`
