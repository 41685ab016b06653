import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { restApi } from '../kit/api.ts'
import { errorOf, meaningBy, openApi } from '../kit/run/open-api.ts'
import type { PlatformCall, PlatformClient } from '../platform-api/client.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { openTokens } from '../platform-api/oauth.ts'

/** What paths are relative to is by the tenant. */
const api = restApi({
  name: 'Marketing Cloud',
  baseUrl: '',
  errors: {
    codeAt: 'errorcode',
    statuses: {
      400: 'invalid_batch',
      403: [
        'permission_denied',
        'Give the installed package the scopes Data Extensions Read and Write, and access to the business unit.',
      ],
    },
    // Its database was busy. With errors beside it, rows are to blame.
    special({ status, json }) {
      const { errorcode, additionalErrors } = objectIn(json)
      return status === 400 && Number(errorcode) === 10006 && additionalErrors === undefined
        ? 'platform_error'
        : undefined
    },
  },
})

/** Makes a refusal of a request concern the settings, not a row. @param advice which settings, in a sentence */
export const asSetting = (advice: string): Pick<PlatformCall, 'errorOf'> => ({
  errorOf: meaningBy(api, (answer) =>
    errorOf(api, answer)?.code === 'invalid_batch' ? ['invalid_setting', advice] : undefined,
  ),
})

/**
 * The subdomain of a tenant, from the connection or from the connector; `undefined` if there is none. Throws
 * `invalid_setting` if they differ, because the secret is for the tenant that it was saved with.
 */
export function subdomainOf({ secrets, settings }: ConnectorContext): string | undefined {
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

/** The REST API of a tenant. Tokens last for 20 minutes, and there is no refresh token: the client asks for the next one. */
export async function openMarketingCloud(context: ConnectorContext): Promise<PlatformClient> {
  const subdomain = subdomainOf(context)
  if (subdomain === undefined) throw new ConnectorError('invalid_setting', 'Subdomain is missing; enter it.')
  const { clientId, clientSecret } = context.secrets
  const tokens = openTokens(context, {
    platform: api.name,
    url: `https://${subdomain}.auth.marketingcloudapis.com/v2/token`,
    grant: { type: 'client_credentials' },
    client: { id: String(clientId ?? ''), secret: String(clientSecret ?? '') },
  })
  return openApi(context, { ...api, baseUrl: originOf(subdomain) }, { open: async () => tokens })
}
