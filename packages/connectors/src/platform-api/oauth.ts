import { asConnectorError, type ConnectorContext, ConnectorError } from '@penstock/connector'
import * as oauth from 'oauth4webapi'
import { type Answer, call } from './call.ts'
import type { Credentials } from './client.ts'
import { isObject, textIn } from './json.ts'
import { connectorErrorOfStatus } from './status.ts'

/** How an access token is had (OAuth 2.0, RFC 6749 and 7523). */
export type Grant =
  | { readonly type: 'client_credentials' }
  | {
      readonly type: 'refresh_token'
      /** The field of the connector's secrets that holds it; `refreshToken` unless said otherwise. */
      readonly key?: string
      /** Whether the platform gives a new one each time, which is saved and replaces it. */
      readonly rotates?: boolean
    }
  /** @property assertion makes the signed JWT */
  | { readonly type: 'jwt_bearer'; readonly assertion: () => Promise<string> }

export type TokenOptions = {
  /** The platform's name, for messages. */
  readonly platform: string
  /** Its token endpoint. */
  readonly url: string
  readonly grant: Grant
  /** Absent where the assertion says who asks. */
  readonly client?: {
    readonly id: string
    readonly secret?: string
    /** Whether the secret travels in the body, as most platforms want it, or in the header `Authorization`. */
    readonly in?: 'body' | 'header'
  }
  /** Scopes that are asked for, and without which a token is no use. */
  readonly scope?: string
  /** Parameters beside those of the standard, such as `audience`. */
  readonly parameters?: Readonly<Record<string, string>>
  /** What to do where the grant is not accepted any more: `create a new service account key and save it`. */
  readonly renewal?: string
}

/** Access tokens of one job: each is used until shortly before it ends, and only one is asked for at a time. */
export type AccessTokens = Credentials & {
  /**
   * A token that is good for a while.
   * @param refused one that the platform did not accept: another one is wanted
   */
  token(refused?: string): Promise<string>
}

/** A token is renewed this long before it ends, so that it does not end on the way. */
const earlyMs = 60_000
/** How long a token is used where the platform does not say how long it lives. */
const usualMs = 10 * 60_000

/** Opens the token endpoint of a platform. Asks for nothing before a token is needed. Everything throws connector errors. */
export function openTokens(context: ConnectorContext, options: TokenOptions): AccessTokens {
  let current: { token: string; usableUntilMs: number } | undefined
  let pending: Promise<string> | undefined
  const renew = async (): Promise<string> => {
    try {
      const { token, livesMs } = await request(context, options)
      current = { token, usableUntilMs: Date.now() + Math.max(livesMs - earlyMs, livesMs / 2) }
      return token
    } finally {
      pending = undefined
    }
  }
  const token = async (refused?: string): Promise<string> => {
    if (current && current.token !== refused && Date.now() < current.usableUntilMs) return current.token
    pending ??= renew()
    return pending
  }
  return {
    token,
    renews: true,
    headers: async (refused) => ({ authorization: `Bearer ${await token(refused?.authorization?.slice(7))}` }),
  }
}

type Granted = { readonly token: string; readonly livesMs: number; readonly refreshToken: string | undefined }

async function request(context: ConnectorContext, options: TokenOptions): Promise<Granted> {
  const { grant } = options
  if (grant.type === 'client_credentials') return exchange(context, options, {})
  if (grant.type === 'jwt_bearer') return exchange(context, options, { assertion: await grant.assertion() })
  const { key = 'refreshToken', rotates = false } = grant
  if (!rotates) return exchange(context, options, { refresh_token: String(context.secrets[key] ?? '') })
  let granted: Granted | undefined
  // A refresh token that is good for one use: one process at a time uses it, and leaves the next one to the others.
  await context.saveSecret(key, async (refreshToken) => {
    granted = await exchange(context, options, { refresh_token: refreshToken })
    return granted.refreshToken ?? refreshToken
  })
  if (!granted) throw new Error('A secret was saved without being renewed')
  return granted
}

const grantTypes = {
  client_credentials: 'client_credentials',
  refresh_token: 'refresh_token',
  jwt_bearer: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
} as const satisfies Record<Grant['type'], string>

/** Asks the token endpoint once. */
async function exchange(
  context: ConnectorContext,
  options: TokenOptions,
  parameters: Readonly<Record<string, string>>,
): Promise<Granted> {
  const { platform, url, grant, scope } = options
  const { id = 'penstock', secret, in: place = 'body' } = options.client ?? {}
  const server = { issuer: new URL(url).origin, token_endpoint: url }
  let answer: Answer | undefined
  try {
    const response = await oauth.genericTokenEndpointRequest(
      server,
      { client_id: id },
      !options.client
        ? () => {}
        : secret === undefined
          ? oauth.None()
          : place === 'header'
            ? oauth.ClientSecretBasic(secret)
            : oauth.ClientSecretPost(secret),
      grantTypes[grant.type],
      { ...(scope === undefined ? {} : { scope }), ...options.parameters, ...parameters },
      {
        [oauth.allowInsecureRequests]: true,
        [oauth.customFetch]: async (
          address: string,
          { headers, body }: { headers: Record<string, string>; body?: unknown },
        ) => {
          answer = await call(context, { url: address, method: 'POST', headers, body: String(body ?? '') })
          return standard(answer)
        },
      },
    )
    const granted = await oauth.processGenericTokenEndpointResponse(server, { client_id: id }, response)
    const given = textIn(granted.scope)?.split(/[\s,]+/)
    const missing = scope?.split(' ').find((one) => given && !given.includes(one))
    if (missing) {
      const message = `${platform} did not grant the scope ${missing}; grant it to the credentials, and save the new ones in the connector.`
      throw new ConnectorError('permission_denied', message)
    }
    return {
      token: granted.access_token,
      livesMs: granted.expires_in === undefined ? usualMs : granted.expires_in * 1000,
      refreshToken: granted.refresh_token,
    }
  } catch (error) {
    throw asConnectorError(error) ?? tokenError(options, answer, error)
  }
}

/**
 * An answer in the form that the standard asks for, since platforms are lax: some leave out the type of the token, or that
 * of the content.
 */
function standard({ status, json }: Answer): Response {
  const body = status === 200 && isObject(json) ? { token_type: 'bearer', ...json } : json
  return new Response(JSON.stringify(body ?? null), { status, headers: { 'content-type': 'application/json' } })
}

/** What an answer without a token means. The platform's own words are left out: they may quote what was sent. */
function tokenError(options: TokenOptions, answer: Answer | undefined, cause: unknown): ConnectorError {
  const { platform, grant, renewal } = options
  if (!answer) throw cause
  if (answer.status === 429 || answer.status >= 500) return connectorErrorOfStatus(platform, answer)
  const code = isObject(answer.json) ? textIn(answer.json.error) : undefined
  const shown = code !== undefined && /^[a-z_]{1,40}$/.test(code) ? ` (${code})` : ''
  if (code === 'invalid_grant') {
    const what = { refresh_token: 'refresh token', jwt_bearer: 'signed key', client_credentials: 'credentials' }[
      grant.type
    ]
    const todo = renewal ?? 'sign in at the platform again and save what it gives in the connector'
    return new ConnectorError(
      'invalid_credentials',
      `${platform} does not accept the ${what} any more${shown}: it expired or was revoked; ${todo}.`,
    )
  }
  if (code === 'invalid_scope' || code === 'access_denied' || code === 'unauthorized_client') {
    const message = `${platform} does not let this client ask for what is needed${shown}; check what the app and its user may do.`
    return new ConnectorError('permission_denied', message)
  }
  if (answer.status === 400 || answer.status === 401 || answer.status === 403) {
    const message = `${platform} does not accept the client${shown}; check its ID and secret.`
    return new ConnectorError('invalid_credentials', message)
  }
  if (answer.status === 200) {
    return new ConnectorError('malformed_response', `${platform} answered the request for a token with something else.`)
  }
  return connectorErrorOfStatus(platform, answer)
}
