import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { call, isSuccess } from '../../platform-api/call.ts'
import type { Credentials, SignInHeaders } from '../../platform-api/client.ts'
import { textIn } from '../../platform-api/json.ts'
import { openTokens } from '../../platform-api/oauth.ts'
import { connectorErrorOfStatus } from '../../platform-api/status.ts'
import { valueIn } from './records.ts'

/** How the requests of a configuration are signed in; `undefined` without authentication. Throws `invalid_credentials`. */
export function credentialsOf(context: ConnectorContext, platform: string): Credentials | undefined {
  const first = firstCredentials(context, platform)
  const { secondKey, secondKeyName, secondKeyIn } = context.secrets
  if (!secondKey) return first
  const pair = headerOf(String(secondKeyName ?? 'X-API-Key'), String(secondKey))
  const isInQuery = secondKeyIn === 'query'
  if (!first) return { renews: false, headers: async () => pair, ...(isInQuery && { in: 'query' as const }) }
  // Keys of both kinds are possible: parameters of the address are given beside the headers.
  if (first.in === 'query') {
    if (isInQuery) return { ...first, headers: async (refused) => ({ ...(await first.headers(refused)), ...pair }) }
    return { ...first, sign: () => pair }
  }
  if (isInQuery) return { ...first, query: pair }
  return { ...first, headers: async (refused) => ({ ...(await first.headers(refused)), ...pair }) }
}

/** The parameters of the address that have a key. */
export const keyParameters = ({ secrets }: Pick<ConnectorContext, 'secrets'>): string[] => [
  ...(/^(API key|session token)$/.test(String(secrets.authentication)) && secrets.keyIn === 'query'
    ? [String(secrets.keyName ?? 'X-API-Key')]
    : []),
  ...(secrets.secondKey && secrets.secondKeyIn === 'query' ? [String(secrets.secondKeyName ?? 'X-API-Key')] : []),
]

function headerOf(name: string, value: string): SignInHeaders {
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return { [name]: value }
  throw new ConnectorError('invalid_credentials', 'The key or token has characters that no header can have.')
}

function firstCredentials(context: ConnectorContext, platform: string): Credentials | undefined {
  const { secrets } = context
  const fixed = (name: string, value: string): Credentials => {
    const headers = headerOf(name, value)
    return { renews: false, headers: async () => headers }
  }
  const text = (key: string) => String(secrets[key] ?? '')
  const keyName = String(secrets.keyName ?? 'X-API-Key')
  const basic = (pair: string) => fixed('authorization', `Basic ${Buffer.from(pair).toString('base64')}`)
  switch (secrets.authentication) {
    case 'API key': {
      const key = prefixed(text('keyPrefix'), text('apiToken'))
      if (secrets.keyIn !== 'query') return fixed(keyName, key)
      return { renews: false, in: 'query', headers: async () => ({ [keyName]: key }) }
    }
    case 'bearer token':
      return fixed('authorization', `Bearer ${text('apiToken')}`)
    case 'user name and password':
      return basic(`${text('username')}:${text('password')}`)
    case 'key as user name':
      return basic(`${text('apiToken')}:${text('password')}`)
    case 'session token':
      return sessionTokens(context, platform)
    case 'client credentials':
    case 'refresh token': {
      const isRefreshing = secrets.authentication === 'refresh token'
      const tokens = openTokens(context, {
        platform,
        url: text('tokenUrl'),
        grant: isRefreshing ? { type: 'refresh_token', rotates: true } : { type: 'client_credentials' },
        client: {
          id: text('clientId'),
          secret: text('clientSecret'),
          in: secrets.clientIn === 'header' ? 'header' : 'body',
        },
        parameters: Object.fromEntries(new URLSearchParams(text('urlParameters'))),
        ...(secrets.scope ? { scope: text('scope') } : {}),
      })
      return tokens
    }
    default:
      return undefined
  }
}

const prefixed = (prefix: string, key: string): string =>
  prefix === '' || /[=_\s]$/.test(prefix) ? prefix + key : `${prefix} ${key}`

/** Signs in with a user name and a password once, and again if the token is refused; the answer has the token. */
function sessionTokens(context: ConnectorContext, platform: string): Credentials {
  const { secrets } = context
  const text = (key: string, usual = '') => String(secrets[key] ?? usual)
  const signIn = async (): Promise<SignInHeaders> => {
    const url = URL.canParse(text('loginUrl')) ? new URL(text('loginUrl')) : undefined
    if (!url) throw new ConnectorError('invalid_address', 'The login URL is not a URL; correct it.')
    const more = Object.fromEntries(new URLSearchParams(text('urlParameters')))
    const isBasic = secrets.loginIn === 'header'
    const [userName = '', passwordName = ''] = text('loginNames', 'username,password')
      .split(',')
      .map((one) => one.trim())
    const pair = { [userName]: text('username'), [passwordName]: text('password') }
    const given = isBasic ? more : { ...more, ...pair }
    const basic = Buffer.from(`${text('username')}:${text('password')}`).toString('base64')
    const answer = await call(context, {
      url: url.href,
      method: 'POST',
      ...(isBasic && { headers: { authorization: `Basic ${basic}` } }),
      ...(secrets.loginIn === 'form' || isBasic ? { form: given } : { body: given }),
    })
    if (!isSuccess(answer)) {
      if (answer.status === 400) throw new ConnectorError('invalid_credentials', `${platform} refused the login.`)
      throw connectorErrorOfStatus(platform, answer)
    }
    const token = textIn(valueIn(answer.json, text('loginPath', 'token').split('.')))
    if (token !== undefined && token.length <= 16_384) {
      return headerOf(text('keyName', 'X-API-Key'), prefixed(text('keyPrefix'), token))
    }
    throw new ConnectorError('malformed_response', `${platform} gave no token at ${text('loginPath', 'token')}.`)
  }
  let pending: Promise<SignInHeaders> | undefined
  let used: SignInHeaders | undefined
  return {
    renews: true,
    ...(secrets.keyIn === 'query' && { in: 'query' as const }),
    headers: async (refused) => {
      if (refused !== undefined && refused === used) pending = undefined
      pending ??= signIn()
      try {
        used = await pending
        return used
      } catch (error) {
        pending = undefined
        throw error
      }
    },
  }
}
