import { createHmac } from 'node:crypto'
import {
  type Asked,
  changeMembers,
  entityRoute,
  hasOnly,
  header,
  onlyAt,
  pageOf,
  startRoutes,
} from './platform-routes.ts'
import type { PlatformServer, Received, Reply } from './platform-server.ts'

/**
 * X's Ads API v12 as far as custom audiences go, written from its documents: OAuth 1.0a signatures, nonces that count once,
 * requests of at most 2,500 operations which are taken as a whole or not at all, errors at the places of the operations.
 */

type Audience = { id: string; name: string; created_at: string; members: Set<string> }

export type XServer = PlatformServer & { readonly audiences: Audience[] }

export const xSecrets = {
  clientId: 'x-api-key',
  clientSecret: 'x-api-key-secret',
  refreshToken: '12-x-access-token',
  accessTokenSecret: 'x-access-token-secret',
}
export const xRoutes = (url: string) => ({ 'https://ads-api.x.com': url })

export const refusal = (status: number, code: string, others = {}): Reply => ({
  status,
  json: {
    errors: [{ code, message: 'may quote jane@example.com', parameter: '' }],
    request: { params: {} },
    ...others,
  },
})

export async function startX(): Promise<XServer> {
  const audiences: Audience[] = []
  const nonces = new Set<string>()
  const shown = ({ members: _, ...audience }: Audience) => ({ ...audience, deleted: false })
  const accounts = [
    { id: 'acc1', name: 'Acme', deleted: false },
    { id: 'acc2', name: 'Gone', deleted: true },
    { id: 'acc3', name: 'Acme EU', deleted: false },
  ]
  const list = (all: readonly object[], { query }: Asked): Reply => {
    const { page, next } = pageOf(all, query.get('cursor'))
    return { json: { data: page, next_cursor: next === undefined ? null : String(next) } }
  }
  const account = '/12/accounts/acc1'
  return startRoutes(
    {
      open: { 'GET /': { status: 404, text: '' } },
      demands: [
        (asked) => (isSigned(asked, nonces) ? undefined : refusal(401, 'UNAUTHORIZED_ACCESS')),
        onlyAt(/^\/12\/accounts\/([^/]+)/, 'acc1', refusal(404, 'ACCOUNT_NOT_FOUND')),
      ],
      routes: {
        'GET /12/accounts': (asked) => list(accounts, asked),
        [`GET ${account}`]: { json: { data: { id: 'acc1' } } },
        [`GET ${account}/custom_audiences`]: (asked) => list(audiences.map(shown), asked),
        [`POST ${account}/custom_audiences`]: ({ query }) => {
          const { name, ...others } = Object.fromEntries(query)
          if (!name || !hasOnly(others, 'description')) return refusal(400, 'INVALID_PARAMETER')
          const at = audiences.length + 1
          const made = { id: `aud${at}`, name, created_at: `2026-01-0${at}T00:00:00Z`, members: new Set<string>() }
          audiences.push(made)
          return { status: 201, json: { data: shown(made) } }
        },
        [`GET ${account}/custom_audiences/{id}`]: entityRoute(audiences, refusal(404, 'NOT_FOUND'), (audience) => ({
          json: { data: shown(audience) },
        })),
        [`POST ${account}/custom_audiences/{id}/users`]: entityRoute(audiences, refusal(404, 'NOT_FOUND'), change),
      },
      unknown: refusal(404, 'NOT_FOUND'),
    },
    { audiences },
  )
}

const isJson = header('content-type', 'application/json', refusal(404, 'NOT_FOUND'))

function change({ members }: Audience, asked: Asked): Reply {
  const { json, text } = asked
  const refused = isJson(asked)
  if (refused) return refused
  if (!Array.isArray(json) || json.length === 0) return refusal(400, 'INVALID_PARAMETER')
  if (json.length > 2_500 || Buffer.byteLength(text) > 5_000_000) return refusal(400, 'BATCH_SIZE_EXCEEDED')
  const errors = json.map((operation) =>
    isGood(operation) ? [] : [{ code: 'INVALID_PARAMETER', message: 'may quote' }],
  )
  if (errors.some((some) => some.length > 0)) {
    return { status: 400, json: { request: json, errors: [], operation_errors: errors } }
  }
  for (const { operation_type, params } of json) {
    const users = params.users.map((user: unknown) => JSON.stringify(user))
    changeMembers(members, operation_type === 'Update', users)
  }
  return { json: { request: json, data: { success_count: json.length, total_count: json.length } } }
}

const hashed = ['email', 'device_id', 'handle', 'twitter_id', 'phone_number']

function isGood({ operation_type, params, ...others }: Record<string, unknown>): boolean {
  if (!['Update', 'Delete'].includes(String(operation_type)) || Object.keys(others).length > 0) return false
  const { users, effective_at: from, expires_at: until, ...more } = params as Record<string, unknown>
  const isTime = (time: unknown) => time === undefined || /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(String(time))
  if (!Array.isArray(users) || users.length === 0 || Object.keys(more).length > 0 || !isTime(from) || !isTime(until))
    return false
  return users.every((user) =>
    Object.entries(user).every(([key, values]) => {
      if (!Array.isArray(values) || values.length === 0 || (key !== 'partner_user_id' && !hashed.includes(key)))
        return false
      // No digest begins like this, for the tests.
      return values.every(
        (value) => key === 'partner_user_id' || (/^[0-9a-f]{64}$/.test(value) && !value.startsWith('00000000')),
      )
    }),
  )
}

/** Whether a request has a signature of OAuth 1.0a by `xSecrets`. @param nonces the used ones */
export function isSigned({ method, path, query, headers }: Received, nonces: Set<string>): boolean {
  const parameters: Record<string, string> = Object.fromEntries(
    [...(headers.authorization ?? '').matchAll(/(oauth_\w+)="([^"]*)"/g)].map(([, name, value]) => [
      name,
      decodeURIComponent(value ?? ''),
    ]),
  )
  const { oauth_signature: signature, ...oauth } = parameters
  const { oauth_nonce: nonce = '', oauth_timestamp: time } = oauth
  if (!headers.authorization?.startsWith('OAuth ') || nonce === '' || nonces.has(nonce)) return false
  if (Math.abs(Number(time) - Date.now() / 1000) > 300 || oauth.oauth_version !== '1.0') return false
  if (oauth.oauth_consumer_key !== xSecrets.clientId || oauth.oauth_token !== xSecrets.refreshToken) return false
  const encode = (text: string) =>
    [...Buffer.from(text)]
      .map((byte) => {
        const character = String.fromCharCode(byte)
        return /[A-Za-z0-9\-._~]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
      })
      .join('')
  const all = [...Object.entries(oauth), ...query].map(
    ([name, value]) => `${encode(name ?? '')}=${encode(value ?? '')}`,
  )
  const base = `${method}&${encode(`https://ads-api.x.com${path}`)}&${encode(all.sort().join('&'))}`
  const key = `${encode(xSecrets.clientSecret)}&${encode(xSecrets.accessTokenSecret)}`
  nonces.add(nonce)
  return createHmac('sha1', key).update(base).digest('base64') === signature
}
