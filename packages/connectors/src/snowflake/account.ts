import { type ConnectorContext, ConnectorError, type Values } from '@penstock/connector'
import { SignJWT } from 'jose'
import { noValue } from '../kit/names.ts'
import { openTokens } from '../platform-api/oauth.ts'
import { keysIn, type SnowflakeKeys } from './private-key.ts'

/** Which account of Snowflake is reached, where, and as whom. */
export type SnowflakeAccount = {
  /** `https://…`, without a path. */
  readonly origin: string
  readonly host: string
  readonly user: string
  readonly role: string | undefined
  /** Snowflake's name for the kind of token. */
  readonly tokenType: 'KEYPAIR_JWT' | 'OAUTH' | 'PROGRAMMATIC_ACCESS_TOKEN'
  /** A valid token. With `fresh`, a new one if possible. Throws a `ConnectorError`. */
  token(fresh?: boolean): Promise<string>
  /** Whether `token` makes new ones. */
  readonly renews: boolean
}

/** Snowflake accepts no JWT with a longer lifetime. */
const lifetimeSeconds = 3600
/** Clocks differ: a token begins so long ago, and is used until so long before it ends. */
const skewSeconds = 60
const marginMs = 120_000

/** Reads the secrets of a connector. Throws a `ConnectorError` if something is missing or no key. */
export function accountOf(context: ConnectorContext): SnowflakeAccount {
  const { secrets } = context
  if (secrets.authType === 'oauth') return oauthAccount(context)
  const isKeyPair = secrets.authType === 'key-pair'
  // The destination has a separate field for the account of a token. The source uses the same one.
  const isSame = isKeyPair || (secrets.accountLocator === undefined && secrets.snowflakeAccount !== undefined)
  const locator = textOf(secrets, isSame ? 'snowflakeAccount' : 'accountLocator').trim()
  const role = secrets.snowflakeRole === undefined ? undefined : plainName(String(secrets.snowflakeRole))
  if (isKeyPair) {
    const user = textOf(secrets, 'snowflakeUser')
    const host = hostOf(textOf(secrets, 'snowflakeHost'))
    const { passphrase } = secrets
    const keys = keysIn(textOf(secrets, 'privateKey'), typeof passphrase === 'string' ? passphrase : undefined)
    const token = tokensOf(accountName(locator), user.trim().toUpperCase(), keys)
    return { origin: `https://${host}`, host, user, role, tokenType: 'KEYPAIR_JWT', token, renews: true }
  }
  // Names of accounts can contain underscores, but host names cannot.
  const host = hostOf(`${locator.toLowerCase().replaceAll('_', '-')}.snowflakecomputing.com`)
  const password = textOf(secrets, 'password')
  return {
    origin: `https://${host}`,
    host,
    role,
    tokenType: 'PROGRAMMATIC_ACCESS_TOKEN',
    renews: false,
    user: textOf(secrets, 'username'),
    token: async () => password,
  }
}

/** Snowflake's own OAuth: access tokens live for 10 minutes, and a refresh token returns further ones. */
function oauthAccount(context: ConnectorContext): SnowflakeAccount {
  const { secrets } = context
  const host = hostOf(textOf(secrets, 'oauthHost'))
  const tokens = openTokens(context, {
    platform: 'Snowflake',
    url: `https://${host}/oauth/token-request`,
    grant: { type: 'refresh_token', key: 'oauthRefreshToken' },
    client: { id: textOf(secrets, 'oauthClientId'), secret: textOf(secrets, 'oauthClientSecret'), in: 'header' },
    renewal: 'authorize the client again in Snowflake, and save the new refresh token in the connector',
  })
  let current: string | undefined
  return {
    origin: `https://${host}`,
    host,
    user: 'the user of the OAuth client',
    role: secrets.snowflakeRole === undefined ? undefined : plainName(String(secrets.snowflakeRole)),
    tokenType: 'OAUTH',
    renews: true,
    async token(fresh = false) {
      current = await tokens.token(fresh ? current : undefined)
      return current
    },
  }
}

/** The name of an account in tokens: in capitals, and without the region of an old locator. */
function accountName(locator: string): string {
  const name = locator.includes('.global') ? locator.split('-')[0] : locator.split('.')[0]
  return (name ?? '').toUpperCase()
}

/** A name as Snowflake keeps it: in capitals, unless it was quoted or could not be written without quotes. */
export function plainName(name: string): string {
  const trimmed = name.trim()
  if (/^".+"$/s.test(trimmed)) return trimmed.slice(1, -1).replaceAll('""', '"')
  return /^[A-Za-z_][\w$]*$/.test(trimmed) ? trimmed.toUpperCase() : trimmed
}

/** A host, from its URL or its bare name. */
function hostOf(address: string): string {
  const bare = address.trim().replace(/^https?:\/\//i, '')
  const url = URL.canParse(`https://${bare}`) ? new URL(`https://${bare}`) : undefined
  if (!url || url.username || url.password || url.hostname === '') {
    throw new ConnectorError(
      'invalid_address',
      'The Snowflake host is not an address. It should look like https://organization-account.snowflakecomputing.com.',
    )
  }
  return url.host
}

function tokensOf(
  account: string,
  user: string,
  { privateKey, fingerprint }: SnowflakeKeys,
): SnowflakeAccount['token'] {
  let current: { token: Promise<string>; usableUntilMs: number } | undefined
  return async (fresh = false) => {
    if (!current || fresh || Date.now() > current.usableUntilMs) {
      const issued = Math.floor(Date.now() / 1000) - skewSeconds
      const token = new SignJWT({})
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
        .setIssuer(`${account}.${user}.${fingerprint}`)
        .setSubject(`${account}.${user}`)
        .setIssuedAt(issued)
        .setExpirationTime(issued + lifetimeSeconds)
        .sign(privateKey)
      current = { token, usableUntilMs: (issued + lifetimeSeconds) * 1000 - marginMs }
    }
    return await current.token
  }
}

function textOf(values: Values, key: string): string {
  const value = values[key]
  if (typeof value === 'string' && value !== '') return value
  throw noValue(key)
}
