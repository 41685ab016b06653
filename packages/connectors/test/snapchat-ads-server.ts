import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'
import { makeAccounts } from './snapchat-server.ts'

/**
 * The part of Snapchat's Marketing API that customer lists use, as strict as it is known to be: the token in a header, the
 * keys of an audience, one schema to a request, numbers of identifiers, digests, a body with DELETE, audiences that are not
 * there at once.
 */

type Segment = { id: string; name: string; created_at: string; retention_in_days: number; source_type: string }

export type SnapchatAdsServer = PlatformServer & {
  readonly accessTokens: string[]
  readonly segments: Segment[]
  /** Members of audiences, as `segment schema digest`. */
  readonly members: Set<string>
  readonly behaviour: {
    /** How many lookups of a new audience find nothing. */
    hiddenFor: number
    /** How many audiences a page of the list has. */
    pageSize: number
    /** How many identifiers of a request are not counted. */
    uncounted: number
  }
}

const schemas = ['EMAIL_SHA256', 'PHONE_SHA256', 'MOBILE_AD_ID_SHA256']
/** A digest that is refused, and all that comes with it. */
export const refusedDigest = 'f'.repeat(64)
export const adAccount = '8adc3db7-8148-4fbf-999c-8d2266369d74'

export async function startSnapchatAds(): Promise<SnapchatAdsServer> {
  const accounts = makeAccounts()
  const segments: Segment[] = []
  const members = new Set<string>()
  const behaviour = { hiddenFor: 0, pageSize: 100, uncounted: 0 }
  const hidden = new Map<string, number>()

  const api = (received: Received): Reply => {
    const { method, path, headers, query } = received
    if (!path.startsWith('/v1/')) return { status: 404, text: 'not found' }
    if (headers.authorization !== `Bearer ${accounts.accessTokens.at(-1)}`) return { status: 401, text: 'unauthorized' }
    const [, account, what] = /^\/v1\/adaccounts\/([^/]+)(\/segments)?$/.exec(path) ?? []
    if (account !== undefined && account !== adAccount) return error(403, 'E3002')
    switch (`${method} ${path.replace(/segments\/[^/]+/, 'segments/{id}').replace(adAccount, '{account}')}`) {
      case 'GET /v1/me':
        return { json: { request_status: 'SUCCESS', request_id: 'request-1', me: { id: 'm' } } }
      case 'GET /v1/me/organizations': {
        if (query.get('with_ad_accounts') !== 'true') return parts('organizations', [])
        const from = Number(query.get('cursor') ?? 0)
        const next = 'https://adsapi.snapchat.com/v1/me/organizations?with_ad_accounts=true&limit=50&cursor=1'
        const accounts = [
          [
            { id: adAccount, name: 'Acme' },
            { id: 'b-2', name: 'Acme EU' },
          ],
          [{ id: 'c-3', name: 'Hooli' }],
        ]
        const organizations = accounts
          .slice(from, from + 1)
          .map((ad_accounts) => ({ organization: { id: `o-${from}`, name: 'Group', ad_accounts } }))
        return parts('organizations', organizations, from === 0 ? { paging: { next_link: next } } : {})
      }
      case 'GET /v1/adaccounts/{account}':
        return parts('adaccounts', [{ adaccount: { id: adAccount, name: 'Acme' } }])
      case 'GET /v1/adaccounts/{account}/segments': {
        const from = Number(query.get('cursor') ?? 0)
        const to = from + behaviour.pageSize
        const next = `https://adsapi.snapchat.com/v1/adaccounts/${adAccount}/segments?cursor=${to}`
        const paging = to < segments.length ? { paging: { next_link: next } } : {}
        return parts(
          'segments',
          segments.slice(from, to).map((segment) => ({ segment })),
          paging,
        )
      }
      case 'POST /v1/adaccounts/{account}/segments':
        return what ? create(received) : { status: 405 }
      default:
        return ofSegment(received, path.split('/')[3] ?? '')
    }
  }

  function create({ json }: Received): Reply {
    const { segments: asked, ...rest } = json as { segments?: Record<string, unknown>[] }
    const {
      name,
      description,
      source_type: source,
      retention_in_days: days,
      ad_account_id: account,
      ...strange
    } = asked?.[0] ?? {}
    if (Object.keys({ ...rest, ...strange }).length > 0 || asked?.length !== 1) return error(400, 'E1001')
    if (typeof name !== 'string' || name === '' || name.length > 375) return error(400, 'E1001')
    if (typeof description !== 'string' || source !== 'FIRST_PARTY' || account !== adAccount) return error(400, 'E1001')
    if (typeof days !== 'number' || !Number.isInteger(days) || days < 1 || days > 9999) return error(400, 'E1001')
    const number = segments.length + 1
    const segment = {
      id: String(5_600_000_000_000_000 + number),
      name,
      source_type: source,
      retention_in_days: days,
      created_at: `2026-01-31T12:00:${String(number % 60).padStart(2, '0')}.000Z`,
    }
    segments.push(segment)
    hidden.set(segment.id, behaviour.hiddenFor)
    return parts('segments', [{ segment: { ...segment, status: 'PENDING' } }])
  }

  function ofSegment({ method, path, json }: Received, id: string): Reply {
    const segment = segments.find((each) => each.id === id)
    const hiddenFor = hidden.get(id) ?? 0
    if (method === 'GET') hidden.set(id, Math.max(0, hiddenFor - 1))
    if (!segment || hiddenFor > 0) return error(404, 'E2001')
    if (method === 'GET' && path === `/v1/segments/${id}`) return parts('segments', [{ segment }])
    if (path !== `/v1/segments/${id}/users` || (method !== 'POST' && method !== 'DELETE')) return { status: 405 }
    const { users, ...rest } = json as { users?: { schema?: unknown; data?: unknown }[] }
    const { schema, data, ...strange } = users?.[0] ?? {}
    if (Object.keys({ ...rest, ...strange }).length > 0 || users?.length !== 1) return error(400, 'E1001')
    if (!Array.isArray(schema) || schema.length !== 1 || !schemas.includes(schema[0])) return error(400, 'E1001')
    if (!Array.isArray(data) || data.length === 0 || data.length > 100_000) return error(400, 'E1001')
    const digests = data.flatMap((item) => (Array.isArray(item) && item.length === 1 ? item : ['']))
    if (digests.some((digest) => !/^[0-9a-f]{64}$/.test(digest)) || digests.includes(refusedDigest)) {
      return error(400, 'E1008')
    }
    for (const digest of new Set(digests)) {
      const key = `${id} ${schema[0]} ${digest}`
      if (method === 'POST') members.add(key)
      else members.delete(key)
    }
    const number = new Set(digests).size - behaviour.uncounted
    return parts('users', [{ user: { number_uploaded_users: number } }])
  }

  const server = await startPlatform((received) => accounts.answer(received) ?? api(received))
  return Object.assign(server, { accessTokens: accounts.accessTokens, segments, members, behaviour })
}

const error = (status: number, code: string): Reply => ({
  status,
  json: { request_status: 'ERROR', request_id: 'r', debug_message: 'quotes jane@example.com', error_code: code },
})

const parts = (kind: string, list: readonly object[], more: object = {}): Reply => ({
  json: {
    request_status: 'SUCCESS',
    request_id: 'request-1',
    ...more,
    [kind]: list.map((part) => ({ sub_request_status: 'SUCCESS', ...part })),
  },
})
