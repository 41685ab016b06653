import { asConnectorError, ConnectorError, type Egress, isPlainHttpAllowed } from '@penstock/connector'
import * as openid from 'openid-client'
import type { JobValues, SingleSignOnJob } from './protocol.ts'
import type { JobRuntime } from './runtime.ts'

/**
 * Requests to an identity provider: its configuration and, with the parameters of the redirect, the identity of the person. A
 * tenant chooses the provider, so requests go only through the egress, and responses are parsed in a runner. Tokens stay here.
 */

const textLengthMax = 1_000
const addressLengthMax = 2_000
/** OpenID Connect Core, section 2. */
const subjectPattern = /^[\x20-\x7e]{1,255}$/
const clockToleranceSeconds = 30
const requestMs = 10_000
/** Signatures with a key that the provider publishes. Excludes `none` and signatures with a shared secret. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'Ed25519', 'EdDSA']

/** Asks the provider. Throws a `ConnectorError`, or the signal's reason once that is aborted. */
export async function runSingleSignOn(
  { issuer, client, redirectUri, answer }: SingleSignOnJob,
  runtime: JobRuntime,
  signal: AbortSignal,
): Promise<JobValues['single sign-on']> {
  /** The error that the egress threw, which the library wraps. */
  let failure: unknown
  const fetch: openid.CustomFetch = async (address, { method, headers, body }) => {
    try {
      return await send(runtime, address, { method, headers, body, signal })
    } catch (error) {
      failure = error
      throw error
    }
  }
  const host = new URL(issuer).host
  try {
    const config = await openid.discovery(
      new URL(issuer),
      client.id,
      { client_secret: client.secret, [openid.clockTolerance]: clockToleranceSeconds },
      openid.ClientSecretBasic(client.secret),
      { [openid.customFetch]: fetch, execute: [openid.allowInsecureRequests, openid.enableNonRepudiationChecks] },
    )
    const metadata = config.serverMetadata()
    if (metadata.issuer !== issuer) throw refused(host, 'its configuration names another issuer')
    const authorizationEndpoint = metadata.authorization_endpoint
    const isAddress = typeof authorizationEndpoint === 'string' && authorizationEndpoint.length <= addressLengthMax
    if (!isAddress || !metadata.token_endpoint || !metadata.jwks_uri) {
      throw refused(host, 'its configuration has no authorization endpoint, token endpoint or keys')
    }
    assertAddress(runtime, authorizationEndpoint)
    if (!answer) return { authorizationEndpoint, person: null }
    const url = new URL(redirectUri)
    for (const [name, value] of Object.entries(answer.parameters)) url.searchParams.set(name, value)
    const checks = {
      pkceCodeVerifier: answer.verifier,
      expectedState: answer.state,
      expectedNonce: answer.nonce,
      idTokenExpected: true,
    }
    const tokens = await openid.authorizationCodeGrant(config, url, checks)
    assertAlgorithm(host, tokens.id_token)
    const claims = tokens.claims()
    const subject = claims?.sub
    if (!claims || typeof subject !== 'string' || !subjectPattern.test(subject))
      throw refused(host, 'it does not say who the person is')
    return {
      authorizationEndpoint,
      person: { subject, ...(await whoIs(config, claims, tokens.access_token, subject)) },
    }
  } catch (error) {
    const known = asConnectorError(failure) ?? asConnectorError(error)
    if (known) throw known
    if (signal.aborted) throw signal.reason
    throw refused(host, reasonOf(error))
  }
}

type Claims = Readonly<Record<string, unknown>>

/**
 * The e-mail address and the name of the person from the ID token or, if they are missing there, from the provider's user info.
 * Many providers return the address only in the user info, and Okta returns only there that it is verified.
 */
async function whoIs(
  config: openid.Configuration,
  claims: Claims,
  accessToken: string,
  subject: string,
): Promise<{ email: string | null; emailVerified: boolean; name: string | null }> {
  const isWhole = claims.email !== undefined && verifiedIn(claims) !== undefined
  let more = claims
  if (!isWhole && config.serverMetadata().userinfo_endpoint) {
    try {
      more = await openid.fetchUserInfo(config, accessToken, subject)
    } catch (error) {
      // Without the user info no address is verified. A person who is already linked can sign in anyway.
      if (claims.email === undefined) throw error
    }
  }
  const name = textOf(more.name) ?? textOf(claims.name)
  return { email: textOf(more.email), emailVerified: verifiedIn(more) === true, name }
}

/**
 * Whether the provider has verified the address; undefined if it does not report this. Microsoft Entra ID never sends the
 * standard claim. Its own claim means that the tenant has verified the domain, and is used only if the standard claim is missing.
 */
function verifiedIn({ email_verified, xms_edov }: Claims): boolean | undefined {
  if (email_verified !== undefined) return email_verified === true
  return xms_edov === undefined ? undefined : [true, 1, '1', 'true'].includes(xms_edov as string)
}

async function send(
  { egress, plainHttp }: JobRuntime,
  address: string,
  {
    method,
    headers,
    body,
    signal,
  }: { method: string; headers: Record<string, string>; body: unknown; signal: AbortSignal },
): Promise<Response> {
  assertAddress({ plainHttp }, address)
  const sent = body === undefined || body === null ? {} : { body: String(body) }
  const request: Parameters<Egress['request']>[1] = { method, headers, ...sent, signal, timeoutMs: requestMs }
  return egress.request(address, request)
}

/** Secrets and identities are sent over https, or to hosts for which the operator allows plain http. */
function assertAddress({ plainHttp }: Pick<JobRuntime, 'plainHttp'>, address: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isPlainHttpAllowed(url, plainHttp))) return
  const message =
    'The addresses of the identity provider must begin with https://; an operator can name a host in PENSTOCK_ALLOW_HTTP.'
  throw new ConnectorError('insecure_address', message)
}

function assertAlgorithm(host: string, idToken = ''): void {
  const [header = ''] = idToken.split('.')
  const { alg } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { alg?: unknown }
  if (!algorithms.includes(String(alg))) throw refused(host, 'its ID token is not signed with one of its keys')
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && value.length <= textLengthMax ? value : null

/** Only codes: messages of a provider or of the library can quote the request. */
function reasonOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'its answer is not valid'
  const codes = [
    'error' in error && error.error,
    'code' in error && error.code,
    'cause' in error && typeof error.cause === 'object' && error.cause !== null && 'code' in error.cause
      ? error.cause.code
      : undefined,
  ]
  const code = codes.find((one) => typeof one === 'string' && /^[A-Za-z_]{1,60}$/.test(one))
  return code === undefined ? 'its answer is not valid' : `its answer is not valid (${code})`
}

const refused = (host: string, reason: string): ConnectorError =>
  new ConnectorError('malformed_response', `The identity provider at ${host} was refused: ${reason}.`)
