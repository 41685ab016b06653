import { ConnectorError } from '@penstock/connector'

/** Kinds of organizations that Salesforce has between the name of a My Domain and its own domain. */
const kinds = 'sandbox|develop|scratch|demo|free|patch|trailblaze|wrk'
const myDomainForm = new RegExp(`^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\\.(?:${kinds}))?\\.my\\.salesforce\\.com$`)

/** The addresses at which Salesforce issues tokens to apps that a user authorized, by the kind of the organization. */
export const loginOrigins: Readonly<Record<string, string>> = {
  Production: 'https://login.salesforce.com',
  Sandbox: 'https://test.salesforce.com',
}

/**
 * The origin of a My Domain, such as `https://acme.my.salesforce.com`. `undefined` if the text is not such a host. Secrets and
 * tokens are sent only to such an origin.
 * @param text a host, or its URL without a path
 */
export function myDomainOrigin(text: string): string | undefined {
  const host = text
    .trim()
    .toLowerCase()
    .replace(/^https:\/\//, '')
    .replace(/\/$/, '')
  return myDomainForm.test(host) ? `https://${host}` : undefined
}

/** The same for the setting. Throws `invalid_setting` if it is missing or no My Domain. */
export function requireMyDomain(text: string): string {
  const origin = myDomainOrigin(text)
  if (origin !== undefined) return origin
  const message =
    'My Domain must be the host of your organization as Setup shows it, such as acme.my.salesforce.com or acme--test.sandbox.my.salesforce.com; addresses of Lightning are another host.'
  throw new ConnectorError('invalid_setting', message)
}
