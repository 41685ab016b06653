import { ConnectorError } from '@penstock/connector'
import { importPKCS8, SignJWT } from 'jose'
import { openTokens, type TokenContext } from '../platform-api/oauth.ts'

/** Google's token endpoint. The key also contains an address, which is not used, because it could be any address. */
const tokenUrl = 'https://oauth2.googleapis.com/token'

/** Tokens of a service account, for as long as a reader or writer lives. */
export type ServiceAccount = {
  readonly email: string
  /**
   * A token that is valid now. Throws a `ConnectorError`.
   * @param refused one that Google did not accept: another one is wanted
   */
  token(refused?: string): Promise<string>
}

/**
 * Signs in with the key file of a service account.
 * @param jsonKey the file, as Google created it
 * @param scope the scope of the token, as Google names it
 */
export function serviceAccount(context: TokenContext, jsonKey: unknown, scope: string): ServiceAccount {
  const key = keyOf(jsonKey)
  const { token } = openTokens(context, {
    platform: 'Google',
    url: tokenUrl,
    grant: { type: 'jwt_bearer', assertion: () => assertionOf(key, scope) },
    renewal: `make a new key of ${key.client_email} and save it in the connector, or correct the clock of this machine`,
  })
  return { email: key.client_email, token }
}

type Key = { readonly client_email: string; readonly private_key: string; readonly private_key_id: string | undefined }

function keyOf(jsonKey: unknown): Key {
  let parsed: unknown
  try {
    parsed = JSON.parse(String(jsonKey))
  } catch {
    throw invalidKey('The JSON key is not valid JSON.')
  }
  const { type, client_email, private_key, private_key_id } = (parsed ?? {}) as Record<string, unknown>
  if (type !== 'service_account' || typeof client_email !== 'string' || typeof private_key !== 'string') {
    throw invalidKey('The JSON key is not the key of a service account.')
  }
  return { client_email, private_key, private_key_id: typeof private_key_id === 'string' ? private_key_id : undefined }
}

const invalidKey = (message: string): ConnectorError =>
  new ConnectorError('invalid_credentials', `${message} Paste the complete key file from Google.`)

async function assertionOf(key: Key, scope: string): Promise<string> {
  let privateKey: Awaited<ReturnType<typeof importPKCS8>>
  try {
    privateKey = await importPKCS8(key.private_key, 'RS256')
  } catch {
    // The message of the library could quote the key.
    throw invalidKey('The private key in the JSON key cannot be read.')
  }
  return new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(key.private_key_id ? { kid: key.private_key_id } : {}) })
    .setIssuer(key.client_email)
    .setAudience(tokenUrl)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey)
}
