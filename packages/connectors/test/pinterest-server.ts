import { tokensOf } from './oauth-tokens.ts'
import {
  type Asked,
  changeMembers,
  entityRoute,
  hasOnly,
  jsonBodies,
  onlyAt,
  pageOf,
  startRoutes,
} from './platform-routes.ts'
import type { PlatformServer, Reply } from './platform-server.ts'

/**
 * Pinterest's token endpoint, its customer lists and audiences, written from the OpenAPI document of its API (5.23.0):
 * refresh tokens that change, no key that a schema does not have, records as one text, codes of errors.
 */

type List = { id: string; name: string; type: string; members: Set<string> }
type Audience = { id: string; name: string; rule: Record<string, unknown> }

export type PinterestServer = PlatformServer & {
  readonly lists: List[]
  readonly audiences: Audience[]
  /** Refresh tokens that are good; each use of one gives another. */
  readonly refreshTokens: Set<string>
  /** Whether a refresh token is good for one use. */
  rotation: { oneUse: boolean }
  expireTokens(): void
}

export const pinterestSecrets = {
  authType: 'oauth2',
  clientId: 'pinterest-client',
  clientSecret: 'pinterest-client-secret',
  refreshToken: 'pinterest-refresh-token',
}
export const pinterestRoutes = (url: string) => ({ 'https://api.pinterest.com': url })

export const refusal = (status: number, code: number): Reply => ({
  status,
  json: { code, message: 'may quote jane@example.com' },
})

export async function startPinterest(): Promise<PinterestServer> {
  const lists: List[] = []
  const audiences: Audience[] = []
  const tokens = tokensOf({
    path: '/v5/oauth/token',
    secrets: pinterestSecrets,
    client: 'basic',
    prefix: 'pina-',
    expiresIn: 2_592_000,
    more: (number) => ({
      response_type: 'refresh_token',
      scope: 'ads:read,ads:write',
      refresh_token: `pinr-${number}`,
      refresh_token_expires_in: 5_184_000,
    }),
    refuses: { client: refusal(401, 2), form: refusal(400, 1), grant: refusal(400, 1) },
    entered: 'entered-token',
  })
  const account = '/v5/ad_accounts/549'
  return startRoutes(
    {
      open: { 'GET /': { text: 'Pinterest' }, ...tokens.routes },
      demands: [
        tokens.bearer(refusal(401, 2)),
        onlyAt(/^\/v5\/ad_accounts\/([^/]+)/, '549', refusal(403, 29)),
        jsonBodies(refusal(415, 1)),
      ],
      routes: {
        'GET /v5/ad_accounts': (asked) =>
          page(
            ['549', '550', '551'].map((id) => ({ id, name: `Account ${id}`, currency: 'EUR' })),
            asked,
          ),
        [`GET ${account}`]: { json: { id: '549', permissions: ['AUDIENCE_MANAGER'] } },
        [`GET ${account}/customer_lists`]: (asked) => page(lists.map(shown), asked),
        [`POST ${account}/customer_lists`]: (asked) => make(asked, lists),
        [`GET ${account}/customer_lists/{id}`]: entityRoute(lists, refusal(404, 1001), (list) => ({
          json: shown(list),
        })),
        [`PATCH ${account}/customer_lists/{id}`]: entityRoute(lists, refusal(404, 1018), change),
        [`GET ${account}/audiences`]: (asked) => page(audiences, asked),
        [`POST ${account}/audiences`]: (asked) => makeAudience(asked, lists, audiences),
        [`GET ${account}/audiences/{id}`]: entityRoute(audiences, refusal(404, 1000), (audience) => ({
          json: audience,
        })),
      },
      unknown: refusal(404, 0),
    },
    {
      lists,
      audiences,
      refreshTokens: tokens.refreshTokens,
      rotation: tokens.rotation,
      expireTokens: tokens.expire,
    },
  )
}

const shown = ({ id, name, members }: List) => ({
  ad_account_id: '549',
  id,
  name,
  num_batches: 1,
  num_uploaded_user_records: members.size,
  num_removed_user_records: 0,
  status: 'PROCESSING',
  type: 'customerlist',
  exceptions: {},
})

function page(items: readonly unknown[], { query }: Asked): Reply {
  const size = Number(query.get('page_size') ?? 25)
  if (!(size >= 1 && size <= 250)) return refusal(400, 1)
  const { page, next } = pageOf(items, query.get('bookmark'), Math.min(size, 2))
  return { json: { items: page, bookmark: next === undefined ? null : String(next) } }
}

const types = ['EMAIL', 'IDFA', 'MAID', 'LR_ID', 'DLX_ID', 'HASHED_PINNER_ID']

function make({ body }: Asked, lists: List[]): Reply {
  const { name, list_type: type = 'EMAIL', records } = body
  const isKnown = hasOnly(body, 'name list_type records') && types.includes(String(type))
  if (!isKnown || typeof name !== 'string') return refusal(400, 1)
  const members = readRecords(records)
  if (!Array.isArray(members)) return members
  const list = { id: String(5_497_558_859_876 + lists.length), name, type: String(type), members: new Set(members) }
  lists.push(list)
  return { json: shown(list) }
}

function change(list: List, { body }: Asked): Reply {
  const { operation_type: operation, records } = body
  const isKnown = hasOnly(body, 'operation_type records') && (operation === 'ADD' || operation === 'REMOVE')
  if (!isKnown) return refusal(400, 1)
  const members = readRecords(records)
  if (!Array.isArray(members)) return members
  changeMembers(list.members, operation === 'ADD', members)
  return { json: shown(list) }
}

/** Digests that begin with `99999999` are those of which Pinterest alone knows what is wrong. */
function readRecords(records: unknown): string[] | Reply {
  if (typeof records !== 'string') return refusal(400, 1)
  const all = records.split(',')
  const good = all.every((record) => /^[0-9a-f]{64}$/.test(record) && !record.startsWith('99999999'))
  return good ? all : refusal(400, 2740)
}

function makeAudience({ body }: Asked, lists: readonly List[], audiences: Audience[]): Reply {
  const { name, audience_type: type, rule } = body as { name: unknown; audience_type: unknown; rule: object }
  const isKnown = hasOnly(body, 'name audience_type rule') && type === 'CUSTOMER_LIST'
  if (!isKnown || typeof name !== 'string') return refusal(400, 1)
  const { customer_list_id: list } = rule as { customer_list_id?: unknown }
  if (!hasOnly(rule, 'customer_list_id') || !lists.some(({ id }) => id === list)) return refusal(400, 1018)
  const audience = { id: String(2_542_000 + audiences.length), name, rule: { customer_list_id: list } }
  audiences.push(audience)
  return { json: audience }
}
