import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { importPKCS8, SignJWT } from 'jose'
import { textOf, transientErrorOf } from '../object-stores/answers.ts'

/** Where Google gives tokens. The key names a place, too, which is not asked: it could be anywhere. */
const tokenUrl = 'https://oauth2.googleapis.com/token'

/** A token is used until so long before it ends. */
const tokenMarginMs = 60_000

/** Tokens of a service account, for as long as a reader or writer lives. */
export type ServiceAccount = {
  readonly email: string
  /** A token that is valid now; with `fresh`, another one than before. Throws a `ConnectorError`. */
  token(fresh?: boolean): Promise<string>
}

/**
 * Signs in with the key file of a service account.
 * @param jsonKey the file, as Google gave it
 * @param scope what the token is to be good for, as Google names it
 */
export function serviceAccount(context: ConnectorContext, jsonKey: unknown, scope: string): ServiceAccount {
  const key = keyOf(jsonKey)
  let current: { token: Promise<string>; usableUntilMs: number } | undefined

  const fetchToken = async (): Promise<string> => {
    const { token, expiresMs } = await exchange(context, key, scope)
    if (current) current.usableUntilMs = Date.now() + expiresMs - tokenMarginMs
    return token
  }
  return {
    email: key.client_email,
    async token(fresh = false) {
      if (!current || fresh || Date.now() > current.usableUntilMs) {
        const token = fetchToken()
        const mine = { token, usableUntilMs: Number.POSITIVE_INFINITY }
        current = mine
        // What could not be had is asked for again.
        token.catch(() => {
          if (current === mine) current = undefined
        })
      }
      return await current.token
    },
  }
}

type Key = { readonly client_email: string; readonly private_key: string; readonly private_key_id: string | undefined }

function keyOf(jsonKey: unknown): Key {
  let parsed: unknown
  try {
    parsed = JSON.parse(String(jsonKey))
  } catch {
    throw invalidKey('The JSON key is no JSON.')
  }
  const { type, client_email, private_key, private_key_id } = (parsed ?? {}) as Record<string, unknown>
  if (type !== 'service_account' || typeof client_email !== 'string' || typeof private_key !== 'string') {
    throw invalidKey('The JSON key is not that of a service account.')
  }
  return { client_email, private_key, private_key_id: typeof private_key_id === 'string' ? private_key_id : undefined }
}

const invalidKey = (message: string): ConnectorError =>
  new ConnectorError('invalid_credentials', `${message} Paste the key file that Google gave, in full.`)

async function exchange(
  context: ConnectorContext,
  key: Key,
  scope: string,
): Promise<{ token: string; expiresMs: number }> {
  const response = await context.egress.request(tokenUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: await assertionOf(key, scope),
    }).toString(),
    signal: context.signal,
  })
  const passing = transientErrorOf('Google', response)
  const answer = jsonOf(await textOf(response))
  if (passing) throw passing
  const { access_token, expires_in, error } = answer
  if (response.ok && typeof access_token === 'string') {
    return { token: access_token, expiresMs: (typeof expires_in === 'number' ? expires_in : 3600) * 1000 }
  }
  const known = typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? ` (${error})` : ''
  const message = `Google does not accept the key of ${key.client_email}${known}: it was deleted or disabled, or the clock of this machine is off. Make a new key.`
  throw new ConnectorError('invalid_credentials', message)
}

async function assertionOf(key: Key, scope: string): Promise<string> {
  let privateKey: Awaited<ReturnType<typeof importPKCS8>>
  try {
    privateKey = await importPKCS8(key.private_key, 'RS256')
  } catch {
    // What the library says could quote the key.
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

/** An answer of Google's as an object; an empty one where it is none. */
export function jsonOf(text: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
