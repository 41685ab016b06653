import { asConnectorError, type ConnectorContext, ConnectorError } from '@penstock/connector'
import * as oauth from 'oauth4webapi'
import { type Answer, call, isSuccess } from './call.ts'
import type { Credentials } from './client.ts'
import { isObject, type JsonObject, numberIn, objectIn, textIn } from './json.ts'
import { connectorErrorOfStatus } from './status.ts'

/** How an access token is obtained (OAuth 2.0, RFC 6749, 7523 and 8693). */
export type Grant =
  | { readonly type: 'client_credentials' }
  | {
      readonly type: 'refresh_token'
      /** The field of the connector's secrets that contains it. By default `refreshToken`. */
      readonly key?: string
      /** Whether the platform returns a new one each time, which is saved and replaces it. */
      readonly rotates?: boolean
    }
  /** @property assertion makes the signed JWT */
  | { readonly type: 'jwt_bearer'; readonly assertion: () => Promise<string> }
  /** @property subject the signed JWT that is exchanged */
  | { readonly type: 'token_exchange'; readonly subject: () => Promise<string> }
  /** A code is exchanged once, by {@link exchangeCode}. */
  | { readonly type: 'authorization_code' }

export type TokenOptions = {
  /** The platform's name, for messages. */
  readonly platform: string
  /** Its token endpoint. */
  readonly url: string
  readonly grant: Grant
  /** Absent if the assertion identifies the client. */
  readonly client?: {
    readonly id: string
    readonly secret?: string
    /** Whether the secret travels in the body, as most platforms want it, or in the header `Authorization`. */
    readonly in?: 'body' | 'header'
  }
  /** Requested scopes without which a token is of no use. */
  readonly scope?: string
  /** Scopes that were requested earlier, when the user consented, and without which a token is of no use. */
  readonly consented?: string
  /**
   * Parameters in addition to the standard ones, such as `audience`. A function computes them for each request, such as a
   * signed JWT.
   */
  readonly parameters?: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>)
  /** The remedy if the grant is no longer accepted: `create a new service account key and save it`. */
  readonly renewal?: string
  /** Gets each answer with a token, if the platform says more in it, such as where its API is. Can throw a `ConnectorError`. */
  readonly onAnswer?: (answer: JsonObject) => void
  /** The error of an answer without a token, if it has a special meaning at the platform. It has priority. */
  readonly errorOf?: (answer: Answer) => ConnectorError | undefined
}

/** The part of a connector's context that tokens need; other code of the service can have it, too. */
export type TokenContext = Pick<ConnectorContext, 'egress' | 'signal' | 'secrets' | 'saveSecret'>

/** Access tokens of one job. Each is used until shortly before it expires, and only one is requested at a time. */
export type AccessTokens = Credentials & {
  /**
   * A token with a limited lifetime. After the signal is aborted, it does not wait for a token, and immediately throws the
   * signal's reason.
   * @param refused a token that the platform refused, so that another one is returned
   */
  token(refused?: string): Promise<string>
}

/** A token is renewed this long before it ends, so that it does not end on the way. */
const earlyMs = 60_000
/** How long a token is used where the platform does not say how long it lives. */
const usualMs = 10 * 60_000
/** No token is used longer, however long it lives. */
const longestMs = 24 * 60 * 60_000
/** Time limit for a token endpoint, because a renewal of a saved secret must end within 30 seconds. */
const exchangeMs = 25_000
/** Characters of a token. Longer ones fit in no header. */
const tokenLengthMax = 16_384

/** Opens the token endpoint of a platform. Asks for nothing before a token is needed. Everything throws connector errors. */
export const openTokens = (context: TokenContext, options: TokenOptions): AccessTokens =>
  keepTokens(context.signal, () => requestToken(context, options))

/**
 * Keeps a token until it must be replaced.
 * @param request asks for a token. It says how long the token lives, in milliseconds
 */
export function keepTokens(
  signal: AbortSignal,
  request: () => Promise<{ readonly token: string; readonly livesMs: number }>,
): AccessTokens {
  let current: { token: string; usableUntilMs: number } | undefined
  let pending: Promise<string> | undefined
  const renew = async (): Promise<string> => {
    try {
      const { token, livesMs } = await request()
      current = { token, usableUntilMs: Date.now() + Math.max(livesMs - earlyMs, livesMs / 2) }
      return token
    } finally {
      pending = undefined
    }
  }
  const token = async (refused?: string): Promise<string> => {
    // When the job has ended, its cleanup can still use the present token.
    if (current && current.token !== refused && Date.now() < current.usableUntilMs) return current.token
    signal.throwIfAborted()
    pending ??= renew()
    return unlessAborted(pending, signal)
  }
  return {
    token,
    renews: true,
    headers: async (refused) => ({ authorization: `Bearer ${await token(refused?.authorization?.slice(7))}` }),
  }
}

/** The same promise, rejected with the signal's reason once that is aborted. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** The authorization code that a platform returns after a user's consent. */
export type ConsentedCode = {
  readonly code: string
  /** The address that the platform sent the user back to. */
  readonly redirectUri: string
  /** The PKCE verifier, which proves that the code was requested here, if the platform supports PKCE. */
  readonly verifier: string | undefined
}

/**
 * Exchanges the code of an authorization, which works one time. Resolves with the refresh token, or with `undefined` if the
 * platform granted none. All errors are connector errors.
 */
export async function exchangeCode(
  context: TokenContext,
  options: Omit<TokenOptions, 'grant' | 'scope'>,
  { code, redirectUri, verifier }: ConsentedCode,
): Promise<string | undefined> {
  const parameters = { code, redirect_uri: redirectUri, ...(verifier === undefined ? {} : { code_verifier: verifier }) }
  const { refreshToken } = await exchange(context, { ...options, grant: { type: 'authorization_code' } }, parameters)
  return refreshToken
}

type Granted = { readonly token: string; readonly livesMs: number; readonly refreshToken: string | undefined }

/** Asks for a token, which nothing keeps. All errors are connector errors. */
export async function requestToken(context: TokenContext, options: TokenOptions): Promise<Granted> {
  const { grant } = options
  if (grant.type === 'client_credentials') return exchange(context, options, {})
  if (grant.type === 'jwt_bearer') return exchange(context, options, { assertion: await grant.assertion() })
  if (grant.type === 'token_exchange') {
    const subject_token_type = 'urn:ietf:params:oauth:token-type:jwt'
    return exchange(context, options, { subject_token: await grant.subject(), subject_token_type })
  }
  if (grant.type === 'authorization_code') throw new Error('A code is exchanged once')
  const { key = 'refreshToken', rotates = false } = grant
  const exchangeFor = (refreshToken: string, signal: AbortSignal) => {
    if (refreshToken !== '') return exchange({ ...context, signal }, options, { refresh_token: refreshToken })
    const message = `There is no refresh token; ${options.renewal ?? renewalOf(options)}.`
    throw new ConnectorError('invalid_credentials', message)
  }
  if (!rotates) return exchangeFor(String(context.secrets[key] ?? ''), context.signal)
  let granted: Granted | undefined
  // A refresh token that can be used one time. One process at a time uses it, and saves the next one for the others. Sending it
  // uses it up, so the new token is saved even if the job ends meanwhile.
  await context.saveSecret(key, async (refreshToken) => {
    context.signal.throwIfAborted()
    const late = AbortSignal.timeout(exchangeMs)
    try {
      granted = await exchangeFor(refreshToken, late)
    } catch (error) {
      if (asConnectorError(error) || !late.aborted) throw error
      throw new ConnectorError('timeout', `${options.platform} returned no token within ${exchangeMs / 1000} seconds.`)
    }
    return granted.refreshToken ?? refreshToken
  })
  if (!granted) throw new Error('A secret was saved without being renewed')
  return granted
}

const grantTypes = {
  client_credentials: 'client_credentials',
  refresh_token: 'refresh_token',
  authorization_code: 'authorization_code',
  jwt_bearer: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
  token_exchange: 'urn:ietf:params:oauth:grant-type:token-exchange',
} as const satisfies Record<Grant['type'], string>

/** Asks the token endpoint once. */
async function exchange(
  context: TokenContext,
  options: TokenOptions,
  parameters: Readonly<Record<string, string>>,
): Promise<Granted> {
  const { platform, url, grant, scope, client } = options
  if (client && (client.id === '' || client.secret === '')) {
    const message = `There is no ${client.id === '' ? 'client ID' : 'client secret'} for ${platform}; save it in the connector.`
    throw new ConnectorError('invalid_credentials', message)
  }
  if (!URL.canParse(url)) {
    throw new ConnectorError('invalid_address', `The token address of ${platform} is not a URL; correct it.`)
  }
  const server = { issuer: new URL(url).origin, token_endpoint: url }
  const named = { client_id: client?.id ?? 'penstock' }
  const own = typeof options.parameters === 'function' ? options.parameters() : options.parameters
  let answer: Answer | undefined
  try {
    const response = await oauth.genericTokenEndpointRequest(
      server,
      named,
      authenticationOf(client),
      grantTypes[grant.type],
      { ...(scope === undefined ? {} : { scope }), ...own, ...parameters },
      {
        [oauth.allowInsecureRequests]: true,
        [oauth.customFetch]: async (
          address: string,
          { headers: { authorization }, body: given }: { headers: Record<string, string>; body?: unknown },
        ) => {
          // Without the charset, which some platforms do not expect.
          const form = Object.fromEntries(new URLSearchParams(String(given ?? '')))
          const headers = authorization === undefined ? {} : { authorization }
          answer = await call(context, { url: address, method: 'POST', headers, form, timeoutMs: exchangeMs })
          const body = standardBodyOf(answer)
          if (!body) throw options.errorOf?.(answer) ?? tokenError(options, answer)
          options.onAnswer?.(objectIn(answer.json))
          return new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } })
        },
      },
    )
    const granted = await oauth.processGenericTokenEndpointResponse(server, named, response)
    assertScopes(options, granted.scope)
    return {
      token: granted.access_token,
      livesMs: Math.min(longestMs, granted.expires_in === undefined ? usualMs : granted.expires_in * 1000),
      refreshToken: granted.refresh_token,
    }
  } catch (error) {
    // Without an answer it is what the egress threw, such as the reason of the signal.
    throw asConnectorError(error) || !answer ? error : malformed(platform)
  }
}

const malformed = (platform: string): ConnectorError =>
  new ConnectorError('malformed_response', `${platform} sent an invalid response to the request for a token.`)

function authenticationOf(client: TokenOptions['client']): oauth.ClientAuth {
  if (!client) return () => {}
  const { id, secret, in: place = 'body' } = client
  if (secret === undefined) return oauth.None()
  if (place === 'body') return oauth.ClientSecretPost(secret)
  // The standard has both parts encoded. Platforms that do not decode them are many, so what need not be encoded is not.
  const credentials = Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')
  return (_server, _client, _body, headers) => headers.set('authorization', `Basic ${credentials}`)
}

/**
 * A success in the form of the standard. Platforms deviate from it: some omit the token type, or return `null` for absent
 * values. `undefined` if the response has no token.
 */
function standardBodyOf({ status, json }: Answer): JsonObject | undefined {
  if (status < 200 || status > 299 || !isObject(json)) return undefined
  const token = tokenIn(json.access_token)
  if (token === undefined) return undefined
  const lives = numberIn(json.expires_in) ?? 0
  const refreshToken = tokenIn(json.refresh_token, /^[\x20-\x7e]+$/)
  const scope = Array.isArray(json.scope) ? json.scope.filter((one) => typeof one === 'string').join(' ') : json.scope
  return {
    access_token: token,
    token_type: textIn(json.token_type) ?? 'bearer',
    // Some give zero for a token that does not end.
    ...(lives > 0 ? { expires_in: lives } : {}),
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
    ...(typeof scope === 'string' ? { scope } : {}),
  }
}

/** A token that can travel in a header. */
const tokenIn = (value: unknown, form = /^[\x21-\x7e]+$/): string | undefined =>
  typeof value === 'string' && value.length <= tokenLengthMax && form.test(value) ? value : undefined

/**
 * Scopes that are requested but not listed in the grant: they are about the sign-in, or mean everything that the app is allowed
 * to do.
 */
const unnamedScope = /^(offline_access|openid|profile|email)$|\/\.default$/

function assertScopes({ platform, scope, consented }: TokenOptions, granted: string | undefined): void {
  const given = textIn(granted)?.split(/[\s,]+/)
  const missing = (scope ?? consented)
    ?.split(/[\s,]+/)
    .find((one) => given && !given.includes(one) && !unnamedScope.test(one))
  if (!missing) return
  const todo =
    consented === undefined
      ? 'grant it to the credentials, and save the new ones in the connector'
      : 'authorize the connector again, and consent to all that is asked for'
  const message = `${platform} did not grant the scope ${missing}; ${todo}.`
  throw new ConnectorError('permission_denied', message)
}

const renewalOf = ({ platform }: TokenOptions): string =>
  `sign in to ${platform} again and save what it gives in the connector`

const grantNames = {
  refresh_token: 'refresh token',
  authorization_code: 'code of the authorization',
  jwt_bearer: 'signed key',
  client_credentials: 'credentials',
  token_exchange: 'identity token',
} as const satisfies Record<Grant['type'], string>

/** The error of a response without a token. Omits the platform's message, which can quote the request. */
function tokenError(options: TokenOptions, answer: Answer): ConnectorError {
  const { platform, grant, renewal } = options
  const { status } = answer
  if (status === 429 || status >= 500) return connectorErrorOfStatus(platform, answer)
  const code = isObject(answer.json) ? textIn(answer.json.error) : undefined
  const shown = code !== undefined && /^[a-z_]{1,40}$/.test(code) ? ` (${code})` : ''
  switch (code) {
    case 'invalid_grant': {
      const message = `${platform} does not accept the ${grantNames[grant.type]} any more${shown}: it expired or was revoked; ${renewal ?? renewalOf(options)}.`
      return new ConnectorError('invalid_credentials', message)
    }
    case 'invalid_scope':
    case 'access_denied':
    case 'unauthorized_client': {
      const message = `${platform} does not let this client ask for what is needed${shown}; check what the app and its user may do.`
      return new ConnectorError('permission_denied', message)
    }
    case 'server_error':
    case 'temporarily_unavailable':
      return new ConnectorError('platform_unavailable', `${platform} does not issue tokens right now${shown}.`)
    default:
  }
  if (status === 400 || status === 401 || status === 403 || (isSuccess(answer) && shown !== '')) {
    const message = `${platform} does not accept the client${shown}; check its ID and secret.`
    return new ConnectorError('invalid_credentials', message)
  }
  return isSuccess(answer) ? malformed(platform) : connectorErrorOfStatus(platform, answer)
}
