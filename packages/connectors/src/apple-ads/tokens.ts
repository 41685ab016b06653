import { createPrivateKey, type KeyObject } from 'node:crypto'
import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { SignJWT } from 'jose'
import { textIn } from '../platform-api/json.ts'
import { type AccessTokens, openTokens } from '../platform-api/oauth.ts'

const issuer = 'https://appleid.apple.com'

/**
 * Access tokens of Apple Ads. The client secret is also a token, signed with the key of the connector. Apple accepts lifetimes
 * up to 180 days, and this one expires after a day. Throws `invalid_credentials` if a secret is missing or the key cannot be
 * read.
 */
export async function openAppleTokens(context: ConnectorContext): Promise<AccessTokens> {
  const { clientId, teamId, keyId, privateKey } = context.secrets
  const [client = '', team = '', key = ''] = [clientId, teamId, keyId].map((value) => textIn(value)?.trim())
  if ([client, team, key].includes('')) throw invalid('The credentials for Apple Ads are incomplete.')
  const secret = await new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid: key })
    .setIssuer(team)
    .setSubject(client)
    .setAudience(issuer)
    .setIssuedAt()
    .setExpirationTime('1d')
    .sign(keyIn(String(privateKey ?? '')))
  return openTokens(context, {
    platform: 'Apple Ads',
    url: `${issuer}/auth/oauth2/token`,
    grant: { type: 'client_credentials' },
    client: { id: client, secret },
    parameters: { scope: 'searchadsorg' },
    renewal:
      'compare the client ID, the team ID, the key ID and the private key with those in Apple Ads, and save them again',
  })
}

/** A private key of the curve P-256 in PEM. If it was pasted as one line, its line breaks are \n. */
function keyIn(pem: string): KeyObject {
  let key: KeyObject
  try {
    key = createPrivateKey(pem.replaceAll('\\n', '\n').trim())
  } catch {
    // The message of the library could quote the key.
    throw invalid('The private key cannot be read.')
  }
  if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key
  throw invalid('The private key is not one of the curve P-256.')
}

const invalid = (message: string): ConnectorError =>
  new ConnectorError(
    'invalid_credentials',
    `${message} Enter the client ID, the team ID and the key ID that Apple Ads shows, and the private key whose public key you uploaded there.`,
  )
