import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { decodeJwt } from 'jose'
import type { Answer } from '../platform-api/call.ts'
import { isObject, listIn } from '../platform-api/json.ts'
import { type AccessTokens, keepTokens, requestToken } from '../platform-api/oauth.ts'

/**
 * Workload identity federation: an application in Microsoft Entra ID trusts the signed tokens of another issuer.
 * https://learn.microsoft.com/entra/workload-id/workload-identity-federation
 */

const name = 'Microsoft Entra ID'

/** A client that proves itself by the signed token of an issuer that the application trusts. */
export const assertedBy = (token: string) => ({
  client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  client_assertion: token,
})

/** Whether a text is an identifier of Entra ID. */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/**
 * Tokens of the application in the settings (`directoryId`, `clientId`, `identityAudience`). Throws `invalid_setting` if they are not
 * valid.
 * @param login the host that issues tokens in this cloud, such as `login.microsoftonline.com`
 */
export function federatedTokens(context: ConnectorContext, scope: string, login: string): AccessTokens {
  const { directoryId, clientId, identityAudience } = context.secrets
  const [tenant, id] = [String(directoryId ?? '').trim(), String(clientId ?? '').trim()]
  if (!isUuid(tenant) || !isUuid(id)) {
    const message = 'The tenant ID and the client ID must be identifiers such as 6f3c2b10-0d4e-4856-9f1a-3f9c2b7a10d4.'
    throw new ConnectorError('invalid_setting', message)
  }
  return keepTokens(context.signal, async () => {
    const token = await context.identityToken(String(identityAudience || 'api://AzureADTokenExchange'))
    return requestToken(context, {
      platform: name,
      url: `https://${login}/${tenant}/oauth2/v2.0/token`,
      grant: { type: 'client_credentials' },
      scope,
      client: { id },
      parameters: assertedBy(token),
      errorOf: (answer) => refusalOf(answer, token),
    })
  })
}

/** Microsoft's numbers of errors: https://learn.microsoft.com/entra/identity-platform/reference-error-codes */
const mismatches = new Set([700211, 700212, 700213, 7002131, 700214, 70021, 700222])

function refusalOf({ json, status }: Answer, token: string): ConnectorError | undefined {
  if (!isObject(json) || status >= 500 || status === 429) return undefined
  const codes = listIn(json.error_codes).filter((code) => typeof code === 'number')
  const { iss, sub, aud } = decodeJwt(token)
  if (codes.some((code) => mismatches.has(code))) {
    const message = `${name} does not accept the identity of this sub-account. The application needs a federated credential with the issuer ${iss}, the subject ${sub} and the audience ${aud}.`
    return new ConnectorError('invalid_credentials', message)
  }
  if (codes.includes(700024)) {
    const message = `${name} reports that the token has expired. Correct the clock of this service.`
    return new ConnectorError('invalid_credentials', message)
  }
  if (codes.includes(50166)) {
    return new ConnectorError('platform_error', `${name} could not reach the issuer of the token.`)
  }
  if (codes.includes(90002) || codes.includes(700016)) {
    const message = `${name} does not know the tenant or the application. Compare the tenant ID and the client ID.`
    return new ConnectorError('invalid_credentials', message)
  }
  return undefined
}
