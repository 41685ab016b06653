import { randomBytes } from 'node:crypto'
import { decodeJwt } from 'jose'
import { type TrustedIssuer, verifyToken } from './federation.ts'
import { type PlatformServer, type Reply, startPlatform } from './platform-server.ts'

/**
 * The token endpoint of Microsoft Entra ID, with one application that has one federated credential.
 * https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
 */
export type EntraTokenService = PlatformServer & {
  readonly tenantId: string
  readonly clientId: string
  /** The federated credential. */
  credential: { issuer: string; subject: string; audience: string }
  accepts(token: string): boolean
  expireTokens(): void
  readonly given: number
}

const tenantId = '6f3c2b10-0d4e-4856-9f1a-3f9c2b7a10d4'
const clientId = '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d'
const origin = 'https://login.microsoftonline.com'

/** @param scope that tokens may be asked for */
export async function startEntraTokenService(trusted: TrustedIssuer, scope: string): Promise<EntraTokenService> {
  let tokens = new Set<string>()
  let given = 0
  const refused = (status: number, error: string, code: number, said: string): Reply => ({
    status,
    json: {
      error,
      error_description: `AADSTS${code}: ${said}`,
      error_codes: [code],
      trace_id: '1',
      correlation_id: '2',
    },
  })
  const platform = await startPlatform(async ({ method, path, text }): Promise<Reply> => {
    if (method === 'GET' && path === `/${tenantId}/v2.0/.well-known/openid-configuration`) {
      const endpoint = (name: string) => `${origin}/${tenantId}/oauth2/v2.0/${name}`
      const at = { token_endpoint: endpoint('token'), authorization_endpoint: endpoint('authorize') }
      return {
        json: { ...at, issuer: `${origin}/${tenantId}/v2.0`, jwks_uri: `${origin}/${tenantId}/discovery/v2.0/keys` },
      }
    }
    if (method !== 'POST' || path !== `/${tenantId}/oauth2/v2.0/token`) {
      return refused(400, 'invalid_request', 90002, 'Tenant not found.')
    }
    const form = Object.fromEntries(new URLSearchParams(text))
    if (form.client_id !== clientId) return refused(400, 'unauthorized_client', 700016, 'Application was not found.')
    if (form.grant_type !== 'client_credentials') return refused(400, 'invalid_request', 70003, 'Grant type')
    if (!(form.scope ?? '').split(' ').includes(scope)) return refused(400, 'invalid_scope', 70011, 'Scope')
    if (form.client_assertion_type !== 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' || form.client_secret) {
      return refused(401, 'invalid_client', 7000216, 'client_assertion is required.')
    }
    const token = form.client_assertion ?? ''
    const verified = await verifyToken(token, trusted, [entra.credential.audience])
    if ('problem' in verified) {
      const problems = {
        unreachable: [50166, 'Request to External OIDC endpoint failed.'],
        issuer: [700211, 'No matching federated identity record found for presented assertion issuer.'],
        signature: [7000272, `The signature of ${token} is not valid.`],
        audience: [700212, 'No matching federated identity record found for presented assertion audience.'],
        expired: [700024, 'Client assertion is not within its valid time range.'],
      } as const
      const [code, said] = problems[verified.problem]
      return refused(401, 'invalid_client', code, said)
    }
    if (decodeJwt(token).iss !== entra.credential.issuer) return refused(401, 'invalid_client', 700211, 'issuer')
    if (verified.subject !== entra.credential.subject) {
      return refused(
        401,
        'invalid_client',
        700213,
        'No matching federated identity record found for presented subject.',
      )
    }
    const access_token = `eyJ.canary-${randomBytes(8).toString('hex')}`
    tokens.add(access_token)
    given++
    return { json: { token_type: 'Bearer', expires_in: 3599, ext_expires_in: 3599, access_token } }
  })
  const entra: EntraTokenService = {
    ...platform,
    tenantId,
    clientId,
    credential: { issuer: trusted.issuer, subject: '', audience: 'api://AzureADTokenExchange' },
    get given() {
      return given
    },
    accepts: (token) => tokens.has(token),
    expireTokens() {
      tokens = new Set()
    },
  }
  return entra
}
