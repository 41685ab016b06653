import { type Asked, changeMembers, hasOnly, onlyAt, pageOf, type Route, startRoutes } from './platform-routes.ts'
import type { PlatformServer, Reply } from './platform-server.ts'
import { snapchatTokens } from './snapchat-server.ts'

/**
 * The part of Snapchat's Marketing API that customer lists use, as strict as it is known to be: the token in a header, the
 * keys of an audience, one schema to a request, numbers of identifiers, digests, a body with DELETE, audiences that are not
 * there at once.
 */

type Segment = { id: string; name: string; created_at: string; retention_in_days: number; source_type: string }

export type SnapchatAdsServer = PlatformServer & {
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
  const tokens = snapchatTokens()
  const segments: Segment[] = []
  const members = new Set<string>()
  const behaviour = { hiddenFor: 0, pageSize: 100, uncounted: 0 }
  const hidden = new Map<string, number>()

  function organizations({ query }: Asked): Reply {
    if (query.get('with_ad_accounts') !== 'true') return parts('organizations', [])
    const accounts = [
      [
        { id: adAccount, name: 'Acme' },
        { id: 'b-2', name: 'Acme EU' },
      ],
      [{ id: 'c-3', name: 'Hooli' }],
    ]
    const { page, next } = pageOf(accounts, query.get('cursor'), 1)
    const address = `https://adsapi.snapchat.com/v1/me/organizations?with_ad_accounts=true&limit=50&cursor=${next}`
    const shown = page.map((ad_accounts) => ({
      organization: { id: `o-${query.get('cursor') ?? 0}`, name: 'Group', ad_accounts },
    }))
    return parts('organizations', shown, next === undefined ? {} : { paging: { next_link: address } })
  }

  function list({ path, query }: Asked): Reply {
    const { page, next } = pageOf(segments, query.get('cursor'), behaviour.pageSize)
    const address = `https://adsapi.snapchat.com${path}?cursor=${next}`
    const shown = page.map((segment) => ({ segment }))
    return parts('segments', shown, next === undefined ? {} : { paging: { next_link: address } })
  }

  function create({ body }: Asked): Reply {
    const { segments: asked, ...rest } = body as { segments?: Record<string, unknown>[] }
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

  /** A route of a segment. One that is new is hidden from the first lookups. */
  const ofSegment =
    (answer: (segment: Segment, asked: Asked) => Reply): Route =>
    (asked) => {
      const id = asked.params.id ?? ''
      const segment = segments.find((each) => each.id === id)
      const hiddenFor = hidden.get(id) ?? 0
      if (asked.method === 'GET') hidden.set(id, Math.max(0, hiddenFor - 1))
      return segment && hiddenFor === 0 ? answer(segment, asked) : error(404, 'E2001')
    }

  function change({ id }: Segment, { method, body }: Asked): Reply {
    const { users } = body as { users?: { schema?: unknown; data?: unknown }[] }
    const { schema, data, ...strange } = users?.[0] ?? {}
    if (!hasOnly({ ...body, ...strange }, 'users') || users?.length !== 1) return error(400, 'E1001')
    if (!Array.isArray(schema) || schema.length !== 1 || !schemas.includes(schema[0])) return error(400, 'E1001')
    if (!Array.isArray(data) || data.length === 0 || data.length > 100_000) return error(400, 'E1001')
    const digests = data.flatMap((item) => (Array.isArray(item) && item.length === 1 ? item : ['']))
    if (digests.some((digest) => !/^[0-9a-f]{64}$/.test(digest)) || digests.includes(refusedDigest)) {
      return error(400, 'E1008')
    }
    changeMembers(
      members,
      method === 'POST',
      digests.map((digest) => `${id} ${schema[0]} ${digest}`),
    )
    const number = new Set(digests).size - behaviour.uncounted
    return parts('users', [{ user: { number_uploaded_users: number } }])
  }

  const account = `/v1/adaccounts/${adAccount}`
  return startRoutes(
    {
      open: tokens.routes,
      demands: [
        ({ path }) => (path.startsWith('/v1/') ? undefined : { status: 404, text: 'not found' }),
        tokens.bearer({ status: 401, text: 'unauthorized' }),
        onlyAt(/^\/v1\/adaccounts\/([^/]+)/, adAccount, error(403, 'E3002')),
      ],
      routes: {
        'GET /v1/me': { json: { request_status: 'SUCCESS', request_id: 'request-1', me: { id: 'm' } } },
        'GET /v1/me/organizations': organizations,
        [`GET ${account}`]: parts('adaccounts', [{ adaccount: { id: adAccount, name: 'Acme' } }]),
        [`GET ${account}/segments`]: list,
        [`POST ${account}/segments`]: create,
        'GET /v1/segments/{id}': ofSegment((segment) => parts('segments', [{ segment }])),
        'POST /v1/segments/{id}/users': ofSegment(change),
        'DELETE /v1/segments/{id}/users': ofSegment(change),
      },
      unknown: error(404, 'E2001'),
    },
    { segments, members, behaviour },
  )
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
