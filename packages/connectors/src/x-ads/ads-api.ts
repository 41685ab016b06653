import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform } from '../platform-api/client.ts'
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { authorizationOf, percentEncode } from './oauth1.ts'

export const adsOrigin = 'https://ads-api.x.com'
const baseUrl = `${adsOrigin}/12`

export type XCall = {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly expects?: (answer: Answer) => boolean
}

/** Asks X, and resolves with an answer that is an object and a success, or is expected. */
export type AskX = (asked: XCall) => Promise<Answer & { readonly json: JsonObject }>

/** The Ads API of X, each request signed with the keys of the connector. */
export function openX(context: ConnectorContext): AskX {
  const { clientId, clientSecret, refreshToken, accessTokenSecret } = context.secrets
  const credentials = {
    consumerKey: textIn(clientId)?.trim() ?? '',
    consumerSecret: textIn(clientSecret)?.trim() ?? '',
    token: textIn(refreshToken)?.trim() ?? '',
    tokenSecret: textIn(accessTokenSecret)?.trim() ?? '',
  }
  if (Object.values(credentials).includes('')) {
    const message =
      'The Ads API of X needs the API key, its secret, the access token and its secret; save all four in the connector.'
    throw new ConnectorError('invalid_credentials', message)
  }
  const platform = openPlatform(context, { name: 'X', baseUrl, errorOf })
  return ({ method = 'GET', path, query = {}, ...rest }) => {
    const search = Object.entries(query).map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`)
    return platform.askObject({
      ...rest,
      method,
      path: search.length === 0 ? path : `${path}?${search.join('&')}`,
      headers: { authorization: authorizationOf(method, baseUrl + path, query, credentials) },
      // A signature is good for one request.
      repeatable: false,
    })
  }
}

/** The codes of an answer's errors. */
export const codesOf = (json: unknown): string[] =>
  listIn(objectIn(json).errors).flatMap((error) => {
    const code = isObject(error) ? textIn(error.code) : undefined
    return code !== undefined && /^[A-Z_]{1,60}$/.test(code) ? [code] : []
  })

/** What an answer means. Its words are left out: they may quote what was sent. */
function errorOf({ status, json }: Answer): ConnectorError | undefined {
  const [code] = codesOf(json)
  const shown = code ?? `status ${status}`
  if (status === 401) {
    const message = `X does not accept the keys or the access token (${shown}); create new ones in the developer portal and save all four.`
    return new ConnectorError('invalid_credentials', message)
  }
  if (code === 'ACCOUNT_NOT_FOUND' || (status === 404 && code !== undefined)) {
    return new ConnectorError(
      'object_not_found',
      `X does not know the ad account or the audience (${shown}); check both IDs.`,
    )
  }
  if (status === 403) {
    const message = `X denies access (${shown}); the app needs access to the Ads API and to custom audiences, and its user a role in the ad account.`
    return new ConnectorError('permission_denied', message)
  }
  if (status === 410) return new ConnectorError('version_retired', 'X has retired version 12 of its Ads API.')
  if (status === 423) return new ConnectorError('conflict', `X is changing the audience right now (${shown}).`)
  if (status === 400) return new ConnectorError('request_refused', `X refuses the request (${shown}).`)
  return undefined
}

/** The path of the ad account that a setting names. */
export function accountPath(accountId: unknown): string {
  const id = textIn(accountId)?.trim() ?? ''
  if (isId(id)) return `/accounts/${id}`
  throw new ConnectorError('invalid_setting', 'Account ID must be the ID of an ad account at X, such as 18ce54d4x5t.')
}

/** Whether a text is an ID as X writes them. */
export const isId = (text: string): boolean => /^[a-z0-9]{1,32}$/i.test(text)
