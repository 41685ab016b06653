import { createHmac, randomUUID } from 'node:crypto'
import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Credentials } from '../platform-api/client.ts'
import { textIn } from '../platform-api/json.ts'
import { type AccessTokens, openTokens } from '../platform-api/oauth.ts'

/** The token endpoints of the DSP and of the Conversion API. */
const dsp = 'https://id.b2b.yahooinc.com/identity/oauth2/access_token'
const conversions = 'https://id.b2b.yahooincapis.com/zts/v1/oauth2/token'
/** How long an assertion is valid, in seconds. */
const livesSeconds = 600

/** A JWT by which a client identifies itself at a token endpoint (RFC 7523), signed with its secret. */
function assertionOf(url: string, clientId: string, clientSecret: string): string {
  const iat = Math.floor(Date.now() / 1000)
  const claims = {
    aud: `${url}?realm=dsp`,
    iss: clientId,
    sub: clientId,
    iat,
    exp: iat + livesSeconds,
    jti: randomUUID(),
  }
  const text = [{ alg: 'HS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${text}.${createHmac('sha256', clientSecret).update(text).digest('base64url')}`
}

/** Access tokens of Yahoo, which live for an hour. Throws connector errors. */
function openAt(url: string, context: ConnectorContext): AccessTokens {
  const clientId = textIn(context.secrets.clientId)
  const clientSecret = textIn(context.secrets.clientSecret)
  if (clientId === undefined || clientSecret === undefined) {
    const message = 'Save the client ID and the client secret of Yahoo in the connector.'
    throw new ConnectorError('invalid_credentials', message)
  }
  return openTokens(context, {
    platform: 'Yahoo',
    url,
    grant: { type: 'client_credentials' },
    parameters: () => ({
      scope: 'dsp-api-access',
      realm: 'dsp',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertionOf(url, clientId, clientSecret),
    }),
    renewal: 'check the client ID and the client secret, and save them again',
  })
}

/** The sign-in to Yahoo DSP: access tokens in a header of Yahoo's own. Throws connector errors. */
export function openYahooTokens(context: ConnectorContext): Credentials {
  const tokens = openAt(dsp, context)
  return {
    renews: true,
    headers: async (refused) => ({
      'x-auth-method': 'OAuth2',
      'x-auth-token': await tokens.token(refused?.['x-auth-token']),
    }),
  }
}

/** The sign-in to the Conversion API. Throws connector errors. */
export const openConversionTokens = (context: ConnectorContext): AccessTokens => openAt(conversions, context)
