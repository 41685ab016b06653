import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { decodeJwt } from 'jose'
import { type Answer, call, isSuccess } from '../platform-api/call.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { keepTokens } from '../platform-api/oauth.ts'
import { connectorErrorOfStatus } from '../platform-api/status.ts'
import { isProvider, isServiceAccount } from './names.ts'
import type { ServiceAccount } from './service-account.ts'

/**
 * Workload identity federation: an identity token is exchanged for a token of Google, which impersonates a service account.
 * https://cloud.google.com/iam/docs/workload-identity-federation-with-other-providers
 */

const tokenUrl = 'https://sts.googleapis.com/v1/token'
const impersonationUrl = 'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts'
const cloudScope = 'https://www.googleapis.com/auth/cloud-platform'
const timeoutMs = 25_000
/** Google limits tokens of service accounts to this duration by default. */
const livesSeconds = 3600

/** Signs in as the service account in the settings. Throws `invalid_setting` if they are not valid. */
export function federatedAccount(context: ConnectorContext, scope: string): ServiceAccount {
  const provider = String(context.secrets.workloadProvider ?? '')
  const email = String(context.secrets.serviceAccount ?? '')
  if (!isProvider(provider)) throw invalid('The workload identity provider is not a resource name.')
  if (!isServiceAccount(email)) throw invalid('The service account is not the address of a service account.')
  const audience = `//iam.googleapis.com/${provider}`
  const { token } = keepTokens(context.signal, async () => {
    const identity = await context.identityToken(audience)
    const federated = await exchange(context, identity, audience)
    return impersonate(context, { email, scope, federated, identity, provider })
  })
  return { email, token }
}

const invalid = (message: string) => new ConnectorError('invalid_setting', message)

async function exchange(context: ConnectorContext, identity: string, audience: string): Promise<string> {
  const answer = await call(context, {
    url: tokenUrl,
    method: 'POST',
    form: {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      subject_token: identity,
      audience,
      scope: cloudScope,
    },
    timeoutMs,
  })
  const { access_token, error, error_description } = objectIn(answer.json)
  const token = textIn(access_token)
  if (isSuccess(answer) && isToken(token)) return token
  if (isSuccess(answer)) throw withoutToken('token exchange')
  if (/credential's issuer/.test(textIn(error_description) ?? '')) {
    throw new ConnectorError('platform_error', 'Google could not reach the issuer of the token.')
  }
  const code = textIn(error) ?? ''
  if (answer.status === 400 || answer.status === 401 || answer.status === 403) {
    const { iss, sub } = decodeJwt(identity)
    const shown = /^[a-z_]{1,40}$/.test(code) ? ` (${code})` : ''
    const message = `Google does not accept the identity of this sub-account${shown}. The workload identity provider must exist, trust the issuer ${iss}, map google.subject to assertion.sub, and accept the subject ${sub}.`
    throw new ConnectorError('invalid_credentials', message)
  }
  throw connectorErrorOfStatus('Google', answer)
}

async function impersonate(
  context: ConnectorContext,
  of: {
    readonly email: string
    readonly scope: string
    readonly federated: string
    readonly identity: string
    readonly provider: string
  },
): Promise<{ readonly token: string; readonly livesMs: number }> {
  const answer = await call(context, {
    url: `${impersonationUrl}/${of.email}:generateAccessToken`,
    method: 'POST',
    headers: { authorization: `Bearer ${of.federated}` },
    body: { scope: [of.scope], lifetime: `${livesSeconds}s` },
    timeoutMs,
  })
  if (isSuccess(answer)) return grantedIn(answer)
  const status = textIn(objectIn(objectIn(answer.json).error).status)
  if (answer.status === 403 || answer.status === 404) {
    const pool = of.provider.slice(0, of.provider.indexOf('/providers/'))
    const principal = `principal://iam.googleapis.com/${pool}/subject/${decodeJwt(of.identity).sub}`
    const message = `Google does not let this sub-account impersonate ${of.email}${status === 'PERMISSION_DENIED' ? '' : ` (status ${answer.status})`}. Grant ${principal} the role roles/iam.workloadIdentityUser on the service account, and enable the IAM Service Account Credentials API.`
    throw new ConnectorError('permission_denied', message)
  }
  throw connectorErrorOfStatus('Google', answer)
}

function grantedIn({ json }: Answer): { readonly token: string; readonly livesMs: number } {
  const { accessToken, expireTime } = objectIn(json)
  const token = textIn(accessToken)
  const ends = Date.parse(textIn(expireTime) ?? '')
  if (!isToken(token) || Number.isNaN(ends)) throw withoutToken('generateAccessToken')
  return { token, livesMs: Math.min(ends - Date.now(), livesSeconds * 1000) }
}

/** Whether a token can travel in a header. */
const isToken = (token: string | undefined): token is string =>
  token !== undefined && token.length <= 16_384 && /^[\x21-\x7e]+$/.test(token)

const withoutToken = (asked: string) =>
  new ConnectorError('malformed_response', `Google answered the ${asked} without a valid token.`)
