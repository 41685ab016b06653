import { createHmac, randomUUID } from 'node:crypto'
import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Credentials } from '../platform-api/client.ts'
import { textIn } from '../platform-api/json.ts'
import { openTokens } from '../platform-api/oauth.ts'

const url = 'https://id.b2b.yahooinc.com/identity/oauth2/access_token'
/** How long an assertion may be used, in seconds. */
const livesSeconds = 600

/** A JWT by which a client identifies itself (RFC 7523), signed with its secret. @param at in milliseconds since 1970 */
export function assertionOf(clientId: string, clientSecret: string, at = Date.now()): string {
  const iat = Math.floor(at / 1000)
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

/** The sign-in to Yahoo DSP: access tokens of an hour, in a header of Yahoo's own. Throws connector errors. */
export function openYahooTokens(context: ConnectorContext): Credentials {
  const clientId = textIn(context.secrets.clientId)
  const clientSecret = textIn(context.secrets.clientSecret)
  if (clientId === undefined || clientSecret === undefined) {
    throw new ConnectorError(
      'invalid_credentials',
      'Save the client ID and the client secret of Yahoo in the connector.',
    )
  }
  const tokens = openTokens(context, {
    platform: 'Yahoo',
    url,
    grant: { type: 'client_credentials' },
    parameters: () => ({
      scope: 'dsp-api-access',
      realm: 'dsp',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertionOf(clientId, clientSecret),
    }),
    renewal: 'check the client ID and the client secret, and save them again',
  })
  return {
    renews: true,
    headers: async (refused) => ({
      'x-auth-method': 'OAuth2',
      'x-auth-token': await tokens.token(refused?.['x-auth-token']),
    }),
  }
}
