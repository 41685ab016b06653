import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * Reddit's token endpoint and the custom audiences of its Ads API v3, written from what is known of its OpenAPI document:
 * tokens that end, no key that a schema does not have, all of a request or nothing. Of rows that do not have the columns of
 * the request it keeps what it was sent, as Reddit does.
 */

export type Audience = { id: string; name: string; members: Set<string> }

export type RedditServer = PlatformServer & {
  readonly audiences: Audience[]
  /** Whether a refusal names the rows. */
  blame: { names: boolean }
  expireTokens(): void
  /** Accepts an access token that another server has granted for Reddit. */
  accept(token: string): void
}

export const redditSecrets = {
  // Reddit's IDs have such signs.
  clientId: 'p-jcoL_client',
  clientSecret: 'reddit-client-secret',
  refreshToken: 'reddit-refresh-token',
}
export const redditRoutes = (url: string) => ({ 'https://ads-api.reddit.com': url, 'https://www.reddit.com': url })

export const refusal = (code: number, fields: readonly string[] = []): Reply => ({
  status: code,
  json: {
    error: {
      code,
      message: 'may quote jane@example.com',
      ...(fields.length === 0 ? {} : { fields: fields.map((field) => ({ field, message: 'jane@example.com' })) }),
    },
  },
})
/** A refusal that looks like one of the credentials. */
export const jsonError: Reply = {
  status: 403,
  json: {
    success: false,
    error: { reason: 'UNAUTHORIZED', explanation: 'JSON error unexpected type number on field user_data' },
  },
}

export async function startReddit(): Promise<RedditServer> {
  const audiences: Audience[] = []
  const blame = { names: true }
  let tokens = 0
  let good = ''

  function giveToken({ headers, text }: Received): Reply {
    const { grant_type, refresh_token, ...others } = Object.fromEntries(new URLSearchParams(text))
    const client = `${redditSecrets.clientId}:${redditSecrets.clientSecret}`
    if (headers.authorization !== `Basic ${Buffer.from(client).toString('base64')}`) {
      return { status: 401, json: { message: 'Unauthorized', error: 401 } }
    }
    if (!headers['user-agent']) return { status: 429, text: 'Too Many Requests' }
    if (grant_type !== 'refresh_token' || Object.keys(others).length > 0) {
      return { status: 400, json: { error: 'unsupported_grant_type' } }
    }
    if (refresh_token !== redditSecrets.refreshToken) return { status: 400, json: { error: 'invalid_grant' } }
    good = `reddit-access-${++tokens}`
    return { json: { access_token: good, token_type: 'bearer', expires_in: 3600, scope: 'adsread adsedit' } }
  }

  const server = await startPlatform((received) => {
    const { method, path, headers } = received
    if (`${method} ${path}` === 'GET /') return { text: 'Reddit' }
    if (`${method} ${path}` === 'POST /api/v1/access_token') return giveToken(received)
    if (headers.authorization !== `Bearer ${good}`) return refusal(401)
    if (!headers['user-agent']) return refusal(403)
    if (!path.startsWith('/api/v3/')) return refusal(404)
    if (method !== 'GET' && headers['content-type'] !== 'application/json') return refusal(415)
    const route = `${method} ${path.slice('/api/v3'.length)}`
    if (route === 'GET /me') return { json: { data: { id: 't2_me' } } }
    if (route === 'GET /me/businesses') return listOfTwo(received, ['b-1', 'b-2', 'b-3'])
    const business = /^GET \/businesses\/(b-\d)\/ad_accounts$/.exec(route)?.[1]
    if (business) return listOfTwo(received, accountsOf[business] ?? [])
    if (/^\w+ \/ad_accounts\/(?!a2_loyal(\/|$))/.test(route)) return refusal(403)
    if (route === 'GET /ad_accounts/a2_loyal') return { json: { data: { id: 'a2_loyal' } } }
    if (route === 'GET /ad_accounts/a2_loyal/custom_audiences') return list(received, audiences)
    if (route === 'POST /ad_accounts/a2_loyal/custom_audiences') return make(received, audiences)
    const [, id, users] = /^\/api\/v3\/custom_audiences\/([\w.]+)(\/users)?$/.exec(path) ?? []
    const audience = audiences.find((one) => one.id === id)
    if (!audience) return refusal(404)
    if (method === 'GET' && !users) return { json: { data: { id, name: audience.name, type: 'CUSTOMER_LIST' } } }
    return method === 'PATCH' && users ? change(received, audience, blame.names) : refusal(404)
  })
  return Object.assign(server, {
    audiences,
    blame,
    expireTokens: () => {
      good = 'none'
    },
    accept: (token: string) => {
      good = token
    },
  })
}

/** The ad accounts of the businesses of the user. */
const accountsOf: Readonly<Record<string, readonly string[]>> = { 'b-1': ['a2_loyal', 'a2_b', 'a2_c'], 'b-3': ['a2_d'] }

/** A page of two, as Reddit lists anything. */
function listOfTwo({ path, query }: Received, ids: readonly string[]): Reply {
  const end = Number(query.get('page.token') ?? 0) + 2
  const next = `https://ads-api.reddit.com${path}?page.token=${end}&page.size=2`
  return {
    json: {
      data: ids.slice(end - 2, end).map((id) => ({ id, name: `Name of ${id}` })),
      pagination: { next_url: end < ids.length ? next : null, previous_url: null },
    },
  }
}

function list({ query }: Received, audiences: readonly Audience[]): Reply {
  const start = Number(query.get('page.token') ?? 0)
  const end = start + 2
  const next = `https://ads-api.reddit.com/api/v3/ad_accounts/a2_loyal/custom_audiences?page.token=${end}`
  return {
    json: {
      data: audiences.slice(start, end).map(({ id, name }) => ({ id, name, type: 'CUSTOMER_LIST', status: 'VALID' })),
      pagination: { next_url: end < audiences.length ? next : null, previous_url: null },
    },
  }
}

const dataOf = ({ json }: Received): Record<string, unknown> | undefined => {
  const { data, ...others } = (json ?? {}) as Record<string, unknown>
  return typeof data === 'object' && data !== null && Object.keys(others).length === 0
    ? (data as Record<string, unknown>)
    : undefined
}

function make(received: Received, audiences: Audience[]): Reply {
  const { name, type, ...others } = dataOf(received) ?? {}
  if (typeof name !== 'string' || type !== 'CUSTOMER_LIST' || Object.keys(others).length > 0) return refusal(400)
  const audience = { id: `ca.${2_066_268_373_552 + audiences.length}`, name, members: new Set<string>() }
  audiences.push(audience)
  return { json: { data: { id: audience.id, name, status: 'VALID' } } }
}

function change(received: Received, audience: Audience, names: boolean): Reply {
  const { action_type: action, column_order: columns, user_data: rows, ...others } = dataOf(received) ?? {}
  if (Object.keys(others).length > 0 || (action !== 'ADD' && action !== 'REMOVE')) return refusal(400, ['action_type'])
  const known = ['EMAIL_SHA256', 'MAID_SHA256']
  if (!Array.isArray(columns) || columns.length === 0 || !columns.every((column) => known.includes(column))) {
    return refusal(400, ['column_order'])
  }
  if (!Array.isArray(rows) || rows.length > 2500) return refusal(400, ['user_data'])
  // Digests that begin with `99999999` are those of which Reddit alone knows what is wrong.
  const isGood = (digest: unknown) => /^(?!99999999)[0-9a-f]{64}$/.test(String(digest))
  const bad = rows.flatMap((row, at) => (Array.isArray(row) && row.every(isGood) ? [] : [at]))
  if (bad.length > 0) return refusal(400, names ? bad.map((at) => `data.user_data.${at}.0`) : ['user_data'])
  for (const row of rows as string[][]) {
    const key = columns.map((column, at) => `${column}:${row[at]}`).join()
    if (action === 'ADD') audience.members.add(key)
    else audience.members.delete(key)
  }
  return { status: 204, text: '' }
}
