import { createHmac, randomBytes } from 'node:crypto'
import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Credentials } from '../platform-api/client.ts'
import { textIn } from '../platform-api/json.ts'

/** The credentials that sign a request with OAuth 1.0a (RFC 5849): an app, and the user on whose behalf it acts. */
export type OAuth1Credentials = {
  readonly consumerKey: string
  readonly consumerSecret: string
  readonly token: string
  readonly tokenSecret: string
}

/** Percent-encoding of RFC 3986, which encodes more than `encodeURIComponent` does. */
export const percentEncode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

/**
 * The signature by HMAC-SHA1.
 * @param url the address without its query
 * @param parameters the parameters of the query, of a form and of OAuth; a JSON body is not signed
 */
export function signatureOf(
  method: string,
  url: string,
  parameters: Readonly<Record<string, string>>,
  secrets: Pick<OAuth1Credentials, 'consumerSecret' | 'tokenSecret'>,
): string {
  const pairs = Object.entries(parameters).map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`)
  const base = [method, url, pairs.sort().join('&')].map(percentEncode).join('&')
  const key = `${percentEncode(secrets.consumerSecret)}&${percentEncode(secrets.tokenSecret)}`
  return createHmac('sha1', key).update(base).digest('base64')
}

/** The header `Authorization` of one request. Each request has its own nonce. */
function authorizationOf(
  method: string,
  url: string,
  query: Readonly<Record<string, string>>,
  credentials: OAuth1Credentials,
): string {
  const oauth = {
    oauth_consumer_key: credentials.consumerKey,
    oauth_nonce: randomBytes(16).toString('hex'),
    oauth_signature_method: 'HMAC-SHA1',
    oauth_timestamp: String(Math.floor(Date.now() / 1000)),
    oauth_token: credentials.token,
    oauth_version: '1.0',
  }
  const signed = { ...oauth, oauth_signature: signatureOf(method, url, { ...query, ...oauth }, credentials) }
  const pairs = Object.entries(signed).map(([name, value]) => `${percentEncode(name)}="${percentEncode(value)}"`)
  return `OAuth ${pairs.sort().join(', ')}`
}

/** Signs each request with the keys of the connector. Throws `invalid_credentials` if one is missing. */
export function openSignatures({ secrets }: ConnectorContext): Credentials {
  const { clientId, clientSecret, refreshToken, accessTokenSecret } = secrets
  const [consumerKey = '', consumerSecret = '', token = '', tokenSecret = ''] = [
    clientId,
    clientSecret,
    refreshToken,
    accessTokenSecret,
  ].map((value) => textIn(value)?.trim())
  if ([consumerKey, consumerSecret, token, tokenSecret].includes('')) {
    const message =
      'The Ads API of X needs the API key, its secret, the access token and its secret; save all four in the connector.'
    throw new ConnectorError('invalid_credentials', message)
  }
  const credentials = { consumerKey, consumerSecret, token, tokenSecret }
  return {
    renews: false,
    headers: async () => ({}),
    sign: (method, url) => {
      const { origin, pathname, searchParams } = new URL(url)
      const query = Object.fromEntries(searchParams)
      return { authorization: authorizationOf(method, origin + pathname, query, credentials) }
    },
  }
}
