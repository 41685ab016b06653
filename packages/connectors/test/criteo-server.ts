import { type RetailList, criteoRefusal as refusal, retailMediaRoutes, takeContacts } from './criteo-retail-media.ts'
import { tokensOf } from './oauth-tokens.ts'
import { type Asked, entityRoute, hasOnly, onlyAt, pageOf, startRoutes } from './platform-routes.ts'
import type { PlatformServer, Reply } from './platform-server.ts'

/**
 * Criteo's token endpoint and its contact lists, written from the OpenAPI document of its API (2026-07): tokens that end
 * after minutes, no key that a schema does not have, counts and samples of invalid identifiers, errors with codes.
 */

type Segment = { id: string; name: string; description: string; members: Set<string> }

export type CriteoServer = PlatformServer & {
  readonly segments: Segment[]
  /** The contact lists of Retail Media. */
  readonly retailLists: RetailList[]
  /** How many invalid identifiers an answer shows at most. */
  samples: { most: number }
  expireTokens(): void
}

export const criteoSecrets = {
  clientId: 'criteo-client',
  clientSecret: 'criteo-client-secret',
  refreshToken: 'criteo-refresh-token',
}
export const criteoRoutes = (url: string) => ({ 'https://api.criteo.com': url })

export { refusal }

export async function startCriteo(): Promise<CriteoServer> {
  const segments: Segment[] = []
  const retailLists: RetailList[] = []
  const samples = { most: 10 }
  const tokens = tokensOf({ path: '/oauth2/token', secrets: criteoSecrets, prefix: 'criteo-access-', expiresIn: 900 })
  const base = '/2026-07/marketing-solutions/audience-segments'
  return startRoutes(
    {
      open: { 'GET /': { status: 404, text: 'Criteo' }, ...tokens.routes },
      demands: [
        tokens.bearer(refusal(401, 'authentication', 'authorization-token-expired')),
        ({ method, headers }) =>
          method === 'GET' || headers['content-type'] === 'application/json' ? undefined : { status: 415, text: '' },
        onlyAt(/^\/2026-07\/retail-media\/accounts\/(\d+)\//, '9001', refusal(403, 'authorization', 'missing-consent')),
      ],
      routes: {
        'GET /2026-07/advertisers/me': {
          json: withData(
            ['77', '78'].map((id) => ({ id, type: 'Advertiser', attributes: { advertiserName: `Shop ${id}` } })),
          ),
        },
        [`POST ${base}/search`]: (asked) => search(asked, segments),
        [`POST ${base}/create`]: (asked) => make(asked, segments),
        [`PATCH ${base}/{id:\\d+}/contact-list`]: entityRoute(
          segments,
          refusal(404, 'authorization', 'audience-invalid'),
          (segment, asked) => amend(asked, segment, samples.most),
        ),
        [`GET ${base}/{id:\\d+}/contact-list/statistics`]: entityRoute(
          segments,
          refusal(404, 'authorization', 'audience-invalid'),
          ({ id, members }) => ({
            json: withData({
              id,
              type: 'ContactListStatistics',
              attributes: { numberOfIdentifiers: members.size, numberOfMatches: 0, matchRate: 0 },
            }),
          }),
        ),
        ...retailMediaRoutes(retailLists, samples),
      },
      unknown: ({ path }) =>
        /^\/2026-07\/(retail-media|marketing-solutions\/audience-segments)\//.test(path)
          ? refusal(404, 'validation', 'not-found')
          : { status: 410, text: '' },
    },
    { segments, retailLists, samples, expireTokens: tokens.expire },
  )
}

const withData = (data: unknown) => ({ data, errors: [], warnings: [] })
const attributesOf = (value: unknown): Record<string, unknown> =>
  ((value as Record<string, unknown> | undefined)?.attributes ?? {}) as Record<string, unknown>

function search({ body, query }: Asked, segments: readonly Segment[]): Reply {
  const filter = attributesOf(body.data)
  const [limit, offset] = [Number(query.get('limit') ?? 50), Number(query.get('offset') ?? 0)]
  if (!hasOnly(filter, 'audienceSegmentTypes advertiserIds audienceSegmentIds') || limit > 100) {
    return refusal(400, 'validation', 'invalid-filter')
  }
  const { advertiserIds, audienceSegmentIds: ids } = filter as Record<string, string[] | undefined>
  if (advertiserIds && advertiserIds.join() !== '77') return refusal(403, 'authorization', 'missing-consent')
  const found = segments.filter(({ id }) => ids === undefined || ids.includes(id))
  const data = pageOf(found, offset, Math.min(limit, 2)).page.map(({ id, name }) => ({
    id,
    type: 'AudienceSegment',
    attributes: { advertiserId: '77', name, type: 'ContactList', contactList: { isReadOnly: false } },
  }))
  return { json: { meta: { totalItems: found.length, limit, offset }, ...withData(data) } }
}

function make({ body }: Asked, segments: Segment[]): Reply {
  const [resource, ...more] = body.data as unknown[]
  const attributes = attributesOf(resource)
  const { advertiserId, name, description, contactList } = attributes
  const well = typeof name === 'string' && typeof description === 'string' && JSON.stringify(contactList) === '{}'
  if (!well || more.length > 0 || !hasOnly(attributes, 'advertiserId name description contactList'))
    return refusal(400, 'validation', 'invalid-segment')
  if (advertiserId !== '77') return refusal(403, 'authorization', 'missing-consent')
  if (segments.some((segment) => segment.name === name)) return refusal(200, 'validation', 'name-must-be-unique')
  const segment = { id: String(34_000 + segments.length), name, description, members: new Set<string>() }
  segments.push(segment)
  return { json: withData([{ id: segment.id, type: 'AudienceSegment', attributes: { name, type: 'ContactList' } }]) }
}

const valid: Readonly<Record<string, RegExp>> = {
  email: /^([0-9a-f]{32}|(?!99999999)[0-9a-f]{64})$/,
  madid: /^[0-9a-f-]{36}$/i,
  identityLink: /^\S+$/,
  gum: /^\S+$/,
  phoneNumber: /^\S+$/,
}

function amend({ body }: Asked, segment: Segment, samplesMost: number): Reply {
  const attributes = attributesOf(body.data)
  const { identifierType: type, gumCallerId } = attributes
  const form = valid[String(type)]
  const well =
    hasOnly(body, 'data') &&
    hasOnly(attributes, 'operation identifierType identifiers gumCallerId') &&
    (body.data as Record<string, unknown>).type === 'ContactlistAmendment' &&
    (type === 'gum' ? Number.isInteger(gumCallerId) : gumCallerId === undefined)
  const taken = well && form && takeContacts(segment, attributes, form, samplesMost, `${type}:`)
  if (!taken) return refusal(400, 'validation', 'invalid-amendment')
  if ('status' in taken) return taken
  return { json: withData({ type: 'ContactlistAmendment', attributes: taken }) }
}
