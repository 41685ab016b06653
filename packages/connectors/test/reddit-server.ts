import { tokensOf } from './oauth-tokens.ts'
import {
  type Asked,
  changeMembers,
  entityRoute,
  hasOnly,
  header,
  jsonBodies,
  onlyAt,
  pageOf,
  startRoutes,
} from './platform-routes.ts'
import type { PlatformServer, Reply } from './platform-server.ts'

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
  const tokens = tokensOf({
    path: '/api/v1/access_token',
    secrets: redditSecrets,
    client: 'basic',
    prefix: 'reddit-access-',
    expiresIn: 3600,
    demands: [header('user-agent', /./, { status: 429, text: 'Too Many Requests' })],
    refuses: { client: { status: 401, json: { message: 'Unauthorized', error: 401 } } },
  })
  const shown = ({ id, name }: Audience) => ({ id, name, type: 'CUSTOMER_LIST', status: 'VALID' })
  const named = (ids: readonly string[]) => ids.map((id) => ({ id, name: `Name of ${id}` }))
  const account = '/api/v3/ad_accounts/a2_loyal'
  return startRoutes(
    {
      open: { 'GET /': { text: 'Reddit' }, ...tokens.routes },
      demands: [
        tokens.bearer(refusal(401)),
        header('user-agent', /./, refusal(403)),
        jsonBodies(refusal(415)),
        onlyAt(/^\/api\/v3\/ad_accounts\/([^/]+)/, 'a2_loyal', refusal(403)),
      ],
      routes: {
        'GET /api/v3/me': { json: { data: { id: 't2_me' } } },
        'GET /api/v3/me/businesses': (asked) => list(asked, named(['b-1', 'b-2', 'b-3'])),
        'GET /api/v3/businesses/{id:b-\\d}/ad_accounts': (asked) =>
          list(asked, named(accountsOf[asked.params.id ?? ''] ?? [])),
        [`GET ${account}`]: { json: { data: { id: 'a2_loyal' } } },
        [`GET ${account}/custom_audiences`]: (asked) => list(asked, audiences.map(shown)),
        [`POST ${account}/custom_audiences`]: (asked) => make(asked, audiences),
        'GET /api/v3/custom_audiences/{id}': entityRoute(audiences, refusal(404), (audience) => ({
          json: { data: shown(audience) },
        })),
        'PATCH /api/v3/custom_audiences/{id}/users': entityRoute(audiences, refusal(404), (audience, asked) =>
          change(asked, audience, blame.names),
        ),
      },
      unknown: refusal(404),
    },
    { audiences, blame, expireTokens: tokens.expire, accept: tokens.accept },
  )
}

/** The ad accounts of the businesses of the user. */
const accountsOf: Readonly<Record<string, readonly string[]>> = { 'b-1': ['a2_loyal', 'a2_b', 'a2_c'], 'b-3': ['a2_d'] }

/** A page of two, as Reddit lists anything. */
function list({ path, query }: Asked, all: readonly object[]): Reply {
  const { page: data, next } = pageOf(all, query.get('page.token'))
  const address = `https://ads-api.reddit.com${path}?page.token=${next}&page.size=2`
  return { json: { data, pagination: { next_url: next === undefined ? null : address, previous_url: null } } }
}

/** The object `data` of a body that has nothing else; empty for other bodies. */
const dataOf = ({ body }: Asked): Record<string, unknown> =>
  hasOnly(body, 'data') ? ((body.data ?? {}) as Record<string, unknown>) : {}

function make(asked: Asked, audiences: Audience[]): Reply {
  const data = dataOf(asked)
  const { name, type } = data
  if (typeof name !== 'string' || type !== 'CUSTOMER_LIST' || !hasOnly(data, 'name type')) return refusal(400)
  const audience = { id: `ca.${2_066_268_373_552 + audiences.length}`, name, members: new Set<string>() }
  audiences.push(audience)
  return { json: { data: { id: audience.id, name, status: 'VALID' } } }
}

function change(asked: Asked, { members }: Audience, names: boolean): Reply {
  const data = dataOf(asked)
  const { action_type: action, column_order: columns, user_data: rows } = data
  const isAction = action === 'ADD' || action === 'REMOVE'
  if (!isAction || !hasOnly(data, 'action_type column_order user_data')) return refusal(400, ['action_type'])
  const known = ['EMAIL_SHA256', 'MAID_SHA256']
  if (!Array.isArray(columns) || columns.length === 0 || !columns.every((column) => known.includes(column))) {
    return refusal(400, ['column_order'])
  }
  if (!Array.isArray(rows) || rows.length > 2500) return refusal(400, ['user_data'])
  // Digests that begin with `99999999` are those of which Reddit alone knows what is wrong.
  const isGood = (digest: unknown) => /^(?!99999999)[0-9a-f]{64}$/.test(String(digest))
  const bad = rows.flatMap((row, at) => (Array.isArray(row) && row.every(isGood) ? [] : [at]))
  if (bad.length > 0) return refusal(400, names ? bad.map((at) => `data.user_data.${at}.0`) : ['user_data'])
  changeMembers(
    members,
    action === 'ADD',
    (rows as string[][]).map((row) => columns.map((column, at) => `${column}:${row[at]}`).join()),
  )
  return { status: 204, text: '' }
}
