import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { restApi } from '../kit/api.ts'
import { errorOf, meaningBy, openApi } from '../kit/run/open-api.ts'
import type { PlatformCall, PlatformClient } from '../platform-api/client.ts'
import { objectIn } from '../platform-api/json.ts'
import { type AccessTokens, openTokens } from '../platform-api/oauth.ts'
import { originOf, subdomainOf } from './tenant.ts'

/** The base address of paths depends on the tenant. */
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
    // The database was busy. If the answer also contains errors, rows are to blame.
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

/** The REST API of a tenant. Tokens last for 20 minutes, and there is no refresh token: the client asks for the next one. */
export async function openMarketingCloud(context: ConnectorContext): Promise<PlatformClient> {
  const subdomain = subdomainOf(context)
  if (subdomain === undefined) throw new ConnectorError('invalid_setting', 'Subdomain is missing; enter it.')
  return openApi(context, { ...api, baseUrl: originOf(subdomain) }, { open: async () => tokensOf(context, subdomain) })
}

/** Access tokens of a tenant. */
export function tokensOf(context: ConnectorContext, subdomain: string): AccessTokens {
  const { clientId, clientSecret } = context.secrets
  return openTokens(context, {
    platform: api.name,
    url: `https://${subdomain}.auth.marketingcloudapis.com/v2/token`,
    grant: { type: 'client_credentials' },
    client: { id: String(clientId ?? ''), secret: String(clientSecret ?? '') },
  })
}
