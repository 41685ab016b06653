import { randomBytes } from 'node:crypto'
import { type TrustedIssuer, verifyToken } from './federation.ts'
import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * The Security Token Service of Google with one workload identity provider, and the IAM Credentials API.
 * https://cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token
 * https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken
 */
export type GoogleTokenServices = PlatformServer & {
  readonly provider: string
  readonly email: string
  /** Subjects that may impersonate the service account. */
  readonly subjects: Set<string>
  /** Whether it is a token of the service account, which is still valid. */
  accepts(token: string): boolean
  /** From now on, no token that was given before is accepted. */
  expireTokens(): void
  readonly given: number
}

const provider = 'projects/123456789012/locations/global/workloadIdentityPools/example/providers/penstock'
const email = 'mover@example-project.iam.gserviceaccount.com'
const exchanged = 'urn:ietf:params:oauth:token-type:access_token'

/** @param scopes that tokens of the service account may be asked for */
export async function startGoogleTokenServices(
  trusted: TrustedIssuer,
  scopes: readonly string[],
): Promise<GoogleTokenServices> {
  const federated = new Map<string, string>()
  let tokens = new Set<string>()
  let given = 0
  const subjects = new Set<string>()
  const refused = (status: number, error: string, error_description: string): Reply => ({
    status,
    json: { error, error_description },
  })
  const failed = (code: number, status: string, message: string): Reply => ({
    status: code,
    json: { error: { code, status, message } },
  })
  const exchange = async ({ text }: Received): Promise<Reply> => {
    const form = Object.fromEntries(new URLSearchParams(text))
    const token = form.subject_token ?? ''
    if (form.grant_type !== 'urn:ietf:params:oauth:grant-type:token-exchange') {
      return refused(400, 'unsupported_grant_type', 'Invalid grant type')
    }
    if (form.requested_token_type !== exchanged || form.subject_token_type !== 'urn:ietf:params:oauth:token-type:jwt') {
      return refused(400, 'invalid_request', 'Invalid token type')
    }
    if (form.audience !== `//iam.googleapis.com/${provider}`) {
      return refused(400, 'invalid_target', 'The target service indicated by the "audience" parameters is invalid.')
    }
    if (form.scope !== 'https://www.googleapis.com/auth/cloud-platform') {
      return refused(400, 'invalid_scope', 'Invalid scope')
    }
    // Without a list of audiences, a provider accepts its own name, with and without https.
    const name = `//iam.googleapis.com/${provider}`
    const verified = await verifyToken(token, trusted, [name, `https:${name}`])
    if ('problem' in verified) {
      return verified.problem === 'unreachable'
        ? refused(400, 'invalid_grant', "Error connecting to the given credential's issuer.")
        : refused(400, 'invalid_grant', `The ${verified.problem} of ${token} is not valid.`)
    }
    const access_token = `canary-federated-${randomBytes(8).toString('hex')}`
    federated.set(access_token, verified.subject)
    return { json: { access_token, issued_token_type: exchanged, token_type: 'Bearer', expires_in: 3600 } }
  }
  const platform = await startPlatform((received) => {
    if (received.path === '/v1/token') return exchange(received)
    const subject = federated.get(/^Bearer (.+)$/.exec(received.headers.authorization ?? '')?.[1] ?? '')
    if (subject === undefined) return failed(401, 'UNAUTHENTICATED', 'Invalid credentials')
    const path = `/v1/projects/-/serviceAccounts/${email}:generateAccessToken`
    if (decodeURIComponent(received.path) !== path || !subjects.has(subject)) {
      return failed(403, 'PERMISSION_DENIED', "Permission 'iam.serviceAccounts.getAccessToken' denied on resource.")
    }
    const { scope, lifetime = '3600s' } = received.json as { scope: string[]; lifetime?: string }
    const isKnown = scope.every((one) => scopes.some((name) => one === `https://www.googleapis.com/auth/${name}`))
    if (!isKnown || !/^(?:[1-9]\d{0,2}|[12]\d{3}|3[0-5]\d\d|3600)s$/.test(lifetime)) {
      return failed(400, 'INVALID_ARGUMENT', 'Request contains an invalid argument.')
    }
    const accessToken = `ya29.canary-${randomBytes(8).toString('hex')}`
    tokens.add(accessToken)
    given++
    return { json: { accessToken, expireTime: new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+/, '') } }
  })
  return {
    ...platform,
    provider,
    email,
    subjects,
    get given() {
      return given
    },
    accepts: (token) => tokens.has(token),
    expireTokens() {
      tokens = new Set()
    },
  }
}
