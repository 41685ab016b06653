import type { Asked, Demand, Routes } from './platform-routes.ts'
import type { Received, Reply } from './platform-server.ts'

/** The facts of a token endpoint of OAuth 2.0, as RFC 6749 has it. */
export type TokenFacts = {
  readonly path: string
  /** The client and its refresh token. Without a refresh token, the client has tokens by its own credentials. */
  readonly secrets: { readonly clientId: string; readonly clientSecret: string; readonly refreshToken?: string }
  /** How the client signs in: in the form, which then has no `Authorization`, or with that header. `form` unless given. */
  readonly client?: 'form' | 'basic'
  /** The beginning of access tokens, which end in their number. */
  readonly prefix: string
  readonly expiresIn: number
  /** The scope that a request must name. */
  readonly scope?: string
  /** The only scope that a request can name, if it need not name one. */
  readonly allowsScope?: string
  /** More of an answer. @param number of the token, from 1 */
  readonly more?: (number: number) => object
  /** Refusals of the platform's own: of a form that is not one, of the grant, of the client, and of the refresh token. */
  readonly refuses?: Partial<Record<'form' | 'grant' | 'client' | 'token', Reply>>
  /** Further demands on requests for a token. */
  readonly demands?: readonly Demand[]
  /** The access token that is good before the first one is given. No token unless given. */
  readonly entered?: string
}

/** A token endpoint, and the tokens that it gave. */
export type Tokens = {
  readonly routes: Routes
  /** The access token that is good. */
  readonly good: string
  /** How many tokens were given. */
  readonly given: number
  /** Refresh tokens that are good, if a test or the platform changes them. */
  readonly refreshTokens: Set<string>
  /** Whether a refresh token is good for one use. */
  readonly rotation: { oneUse: boolean }
  /** Demands the good token in the header `Authorization`. */
  bearer(refusal: Reply): Demand
  isGood(received: Received): boolean
  /** Accepts another access token instead. */
  accept(token: string): void
  /** No token that was given is good any longer. */
  expire(): void
}

/** How a token endpoint refuses a request. */
export const tokenRefusal = (error: string, status = 400): Reply => ({
  status,
  json: { error, error_description: 'may quote a secret' },
})

/** Makes a token endpoint. Every token that it gives ends the one before. It refuses parameters that it does not know. */
export function tokensOf(facts: TokenFacts): Tokens {
  const { secrets, client = 'form', refuses = {}, demands = [] } = facts
  const refreshTokens = new Set(secrets.refreshToken === undefined ? [] : [secrets.refreshToken])
  const rotation = { oneUse: false }
  let good = facts.entered
  let given = 0

  function refusalOf({ headers, text }: Received): Reply | undefined {
    const form = Object.fromEntries(new URLSearchParams(text))
    const { grant_type: grant, refresh_token: token, client_id: id, client_secret: secret, scope, ...others } = form
    const basic = `Basic ${Buffer.from(`${secrets.clientId}:${secrets.clientSecret}`).toString('base64')}`
    const isForm = /^application\/x-www-form-urlencoded\b/.test(headers['content-type'] ?? '')
    const isClient =
      client === 'basic' ? headers.authorization === basic : id === secrets.clientId && secret === secrets.clientSecret
    if (!isForm || (client === 'form' && headers.authorization !== undefined)) {
      return refuses.form ?? tokenRefusal('invalid_request')
    }
    const wanted = secrets.refreshToken === undefined ? 'client_credentials' : 'refresh_token'
    const isOther = client === 'basic' && (id ?? secret) !== undefined
    if (grant !== wanted || isOther || Object.keys(others).length > 0) {
      return refuses.grant ?? tokenRefusal('unsupported_grant_type')
    }
    if (!isClient) return refuses.client ?? tokenRefusal('invalid_client', 401)
    if (scope !== facts.scope && scope !== facts.allowsScope) return tokenRefusal('invalid_scope')
    if (wanted === 'refresh_token' ? refreshTokens.has(token ?? '') : token === undefined) return undefined
    return refuses.token ?? tokenRefusal('invalid_grant')
  }

  function answer(asked: Asked): Reply {
    const refused = demands.map((demand) => demand(asked)).find(Boolean) ?? refusalOf(asked)
    if (refused) return refused
    if (rotation.oneUse) refreshTokens.delete(new URLSearchParams(asked.text).get('refresh_token') ?? '')
    good = `${facts.prefix}${++given}`
    const more = facts.more?.(given) ?? {}
    if ('refresh_token' in more) refreshTokens.add(String(more.refresh_token))
    return { json: { access_token: good, token_type: 'Bearer', expires_in: facts.expiresIn, ...more } }
  }

  const tokens: Tokens = {
    routes: { [`POST ${facts.path}`]: answer },
    get good() {
      return good ?? ''
    },
    get given() {
      return given
    },
    refreshTokens,
    rotation,
    isGood: ({ headers }) => good !== undefined && headers.authorization === `Bearer ${good}`,
    bearer: (refusal) => (asked) => (tokens.isGood(asked) ? undefined : refusal),
    accept(token) {
      good = token
    },
    expire() {
      good = undefined
    },
  }
  return tokens
}
