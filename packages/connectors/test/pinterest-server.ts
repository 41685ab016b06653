import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

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
  const refreshTokens = new Set([pinterestSecrets.refreshToken])
  const rotation = { oneUse: false }
  let tokens = 0
  let good = 'entered-token'

  function giveToken({ headers, text }: Received): Reply {
    const { grant_type, refresh_token, ...others } = Object.fromEntries(new URLSearchParams(text))
    const client = `${pinterestSecrets.clientId}:${pinterestSecrets.clientSecret}`
    if (headers.authorization !== `Basic ${Buffer.from(client).toString('base64')}`) return refusal(401, 2)
    if (!headers['content-type']?.startsWith('application/x-www-form-urlencoded')) return refusal(400, 1)
    if (grant_type !== 'refresh_token' || Object.keys(others).length > 0) return refusal(400, 1)
    if (!refreshTokens.has(String(refresh_token))) return { status: 400, json: { error: 'invalid_grant' } }
    if (rotation.oneUse) refreshTokens.delete(String(refresh_token))
    good = `pina-${++tokens}`
    refreshTokens.add(`pinr-${tokens}`)
    return {
      json: {
        response_type: 'refresh_token',
        access_token: good,
        token_type: 'bearer',
        expires_in: 2_592_000,
        scope: 'ads:read,ads:write',
        refresh_token: `pinr-${tokens}`,
        refresh_token_expires_in: 5_184_000,
      },
    }
  }

  const server = await startPlatform((received) => {
    const { method, path, headers, query } = received
    if (`${method} ${path}` === 'GET /') return { text: 'Pinterest' }
    if (`${method} ${path}` === 'POST /v5/oauth/token') return giveToken(received)
    if (headers.authorization !== `Bearer ${good}`) return refusal(401, 2)
    if (`${method} ${path}` === 'GET /v5/ad_accounts') {
      const accounts = ['549', '550', '551'].map((id) => ({ id, name: `Account ${id}`, currency: 'EUR' }))
      return page(accounts, query)
    }
    const [, account, what, id] = /^\/v5\/ad_accounts\/(\d+)(?:\/(\w+))?(?:\/(\d+))?$/.exec(path) ?? []
    if (account !== '549') return refusal(403, 29)
    if (method !== 'GET' && headers['content-type'] !== 'application/json') return refusal(415, 1)
    const route = `${method} ${what ?? ''}${id === undefined ? '' : '/id'}`
    const list = lists.find((one) => one.id === id)
    switch (route) {
      case 'GET ':
        return { json: { id: '549', permissions: ['AUDIENCE_MANAGER'] } }
      case 'GET customer_lists':
        return page(lists.map(shown), query)
      case 'POST customer_lists':
        return make(received, lists)
      case 'GET customer_lists/id':
        return list ? { json: shown(list) } : refusal(404, 1001)
      case 'PATCH customer_lists/id':
        return list ? change(received, list) : refusal(404, 1018)
      case 'GET audiences':
        return page(audiences, query)
      case 'POST audiences':
        return makeAudience(received, lists, audiences)
      case 'GET audiences/id': {
        const audience = audiences.find((one) => one.id === id)
        return audience ? { json: audience } : refusal(404, 1000)
      }
      default:
        return refusal(404, 0)
    }
  })
  return Object.assign(server, {
    lists,
    audiences,
    refreshTokens,
    rotation,
    expireTokens: () => {
      good = 'none'
    },
  })
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

function page(items: readonly unknown[], query: URLSearchParams): Reply {
  const size = Number(query.get('page_size') ?? 25)
  if (!(size >= 1 && size <= 250)) return refusal(400, 1)
  const start = Number(query.get('bookmark') ?? 0)
  // Pages are small, so that there are some.
  const end = start + Math.min(size, 2)
  return { json: { items: items.slice(start, end), bookmark: end < items.length ? String(end) : null } }
}

const types = ['EMAIL', 'IDFA', 'MAID', 'LR_ID', 'DLX_ID', 'HASHED_PINNER_ID']

function make({ json }: Received, lists: List[]): Reply {
  const { name, list_type: type = 'EMAIL', records, ...others } = json as Record<string, unknown>
  if (Object.keys(others).length > 0 || typeof name !== 'string' || !types.includes(String(type)))
    return refusal(400, 1)
  const members = readRecords(records)
  if (!Array.isArray(members)) return members
  const list = { id: String(5_497_558_859_876 + lists.length), name, type: String(type), members: new Set(members) }
  lists.push(list)
  return { json: shown(list) }
}

function change({ json }: Received, list: List): Reply {
  const { operation_type: operation, records, ...others } = json as Record<string, unknown>
  if (Object.keys(others).length > 0 || (operation !== 'ADD' && operation !== 'REMOVE')) return refusal(400, 1)
  const members = readRecords(records)
  if (!Array.isArray(members)) return members
  for (const member of members) {
    if (operation === 'ADD') list.members.add(member)
    else list.members.delete(member)
  }
  return { json: shown(list) }
}

/** Digests that begin with `99999999` are those of which Pinterest alone knows what is wrong. */
function readRecords(records: unknown): string[] | Reply {
  if (typeof records !== 'string') return refusal(400, 1)
  const all = records.split(',')
  const good = all.every((record) => /^[0-9a-f]{64}$/.test(record) && !record.startsWith('99999999'))
  return good ? all : refusal(400, 2740)
}

function makeAudience({ json }: Received, lists: readonly List[], audiences: Audience[]): Reply {
  const { name, audience_type: type, rule, ...others } = json as Record<string, unknown>
  if (Object.keys(others).length > 0 || typeof name !== 'string' || type !== 'CUSTOMER_LIST') return refusal(400, 1)
  const { customer_list_id: list, ...strange } = rule as Record<string, unknown>
  if (Object.keys(strange).length > 0 || !lists.some(({ id }) => id === list)) return refusal(400, 1018)
  const audience = { id: String(2_542_000 + audiences.length), name, rule: { customer_list_id: list } }
  audiences.push(audience)
  return { json: audience }
}
