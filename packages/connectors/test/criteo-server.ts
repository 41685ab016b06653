import { type RetailList, retailMedia } from './criteo-retail-media.ts'
import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

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

const problem = (type: string, code: string) => ({
  traceId: '80a1a0ba3981b04d',
  type,
  code,
  instance: '/x',
  title: 'x',
  detail: 'may quote jane@example.com',
})

export const refusal = (status: number, type: string, code: string): Reply => ({
  status,
  json: { errors: [problem(type, code)], warnings: [] },
})

export async function startCriteo(): Promise<CriteoServer> {
  const segments: Segment[] = []
  const retailLists: RetailList[] = []
  const samples = { most: 10 }
  let tokens = 0
  let good = ''
  const server = await startPlatform((received) => {
    const { method, path, headers, text } = received
    if (`${method} ${path}` === 'GET /') return { status: 404, text: 'Criteo' }
    if (`${method} ${path}` === 'POST /oauth2/token') {
      const { grant_type, refresh_token, client_id, client_secret, ...others } = Object.fromEntries(
        new URLSearchParams(text),
      )
      if (grant_type !== 'refresh_token' || Object.keys(others).length > 0) {
        return { status: 400, json: { error: 'unsupported_grant_type' } }
      }
      if (client_id !== criteoSecrets.clientId || client_secret !== criteoSecrets.clientSecret) {
        return { status: 401, json: { error: 'invalid_client' } }
      }
      if (refresh_token !== criteoSecrets.refreshToken) return { status: 400, json: { error: 'invalid_grant' } }
      good = `criteo-access-${++tokens}`
      return { json: { access_token: good, token_type: 'Bearer', expires_in: 900 } }
    }
    if (`${method} ${path}` === 'GET /2026-07/advertisers/me' && headers.authorization === `Bearer ${good}`) {
      const all = ['77', '78'].map((id) => ({ id, type: 'Advertiser', attributes: { advertiserName: `Shop ${id}` } }))
      return { json: { data: all, errors: [], warnings: [] } }
    }
    if (path.startsWith('/2026-07/retail-media/')) {
      if (headers.authorization !== `Bearer ${good}`)
        return refusal(401, 'authentication', 'authorization-token-expired')
      return retailMedia(received, retailLists, samples.most)
    }
    const base = '/2026-07/marketing-solutions/audience-segments'
    if (!path.startsWith(`${base}/`)) return { status: 410, text: '' }
    if (headers.authorization !== `Bearer ${good}`) return refusal(401, 'authentication', 'authorization-token-expired')
    if (headers['content-type'] !== 'application/json') return { status: 415, text: '' }
    const route = `${method} ${path.slice(base.length)}`
    if (route === 'POST /search') return search(received, segments)
    if (route === 'POST /create') return make(received, segments)
    const id = /^PATCH \/(\d+)\/contact-list$/.exec(route)?.[1]
    if (id === undefined) return refusal(404, 'validation', 'not-found')
    const segment = segments.find((one) => one.id === id)
    return segment ? amend(received, segment, samples.most) : refusal(404, 'authorization', 'audience-invalid')
  })
  return Object.assign(server, {
    segments,
    retailLists,
    samples,
    expireTokens: () => {
      good = 'none'
    },
  })
}

const attributesOf = (value: unknown): Record<string, unknown> =>
  ((value as Record<string, unknown> | undefined)?.attributes ?? {}) as Record<string, unknown>
const hasOnly = (object: object, keys: readonly string[]): boolean =>
  Object.keys(object).every((key) => keys.includes(key))

function search({ json, query }: Received, segments: readonly Segment[]): Reply {
  const filter = attributesOf((json as Record<string, unknown>).data)
  const [limit, offset] = [Number(query.get('limit') ?? 50), Number(query.get('offset') ?? 0)]
  if (!hasOnly(filter, ['audienceSegmentTypes', 'advertiserIds', 'audienceSegmentIds']) || limit > 100) {
    return refusal(400, 'validation', 'invalid-filter')
  }
  const { advertiserIds, audienceSegmentIds: ids } = filter as Record<string, string[] | undefined>
  if (advertiserIds && advertiserIds.join() !== '77') return refusal(403, 'authorization', 'missing-consent')
  const found = segments.filter(({ id }) => ids === undefined || ids.includes(id))
  // Pages are small, so that there are some.
  const data = found.slice(offset, offset + Math.min(limit, 2)).map(({ id, name }) => ({
    id,
    type: 'AudienceSegment',
    attributes: { advertiserId: '77', name, type: 'ContactList', contactList: { isReadOnly: false } },
  }))
  return { json: { meta: { totalItems: found.length, limit, offset }, data, errors: [], warnings: [] } }
}

function make({ json }: Received, segments: Segment[]): Reply {
  const [resource, ...more] = (json as { data: unknown[] }).data
  const { advertiserId, name, description, contactList, ...others } = attributesOf(resource)
  const well = typeof name === 'string' && typeof description === 'string' && JSON.stringify(contactList) === '{}'
  if (!well || more.length > 0 || Object.keys(others).length > 0) return refusal(400, 'validation', 'invalid-segment')
  if (advertiserId !== '77') return refusal(403, 'authorization', 'missing-consent')
  if (segments.some((segment) => segment.name === name)) {
    return { ...refusal(200, 'validation', 'name-must-be-unique') }
  }
  const segment = { id: String(34_000 + segments.length), name, description, members: new Set<string>() }
  segments.push(segment)
  const data = [{ id: segment.id, type: 'AudienceSegment', attributes: { name, type: 'ContactList' } }]
  return { json: { data, errors: [], warnings: [] } }
}

const valid: Readonly<Record<string, RegExp>> = {
  email: /^([0-9a-f]{32}|(?!99999999)[0-9a-f]{64})$/,
  madid: /^[0-9a-f-]{36}$/i,
  identityLink: /^\S+$/,
  gum: /^\S+$/,
  phoneNumber: /^\S+$/,
}

function amend({ json }: Received, segment: Segment, samplesMost: number): Reply {
  const { data, ...others } = json as Record<string, unknown>
  const { operation, identifierType: type, identifiers, gumCallerId, ...strange } = attributesOf(data)
  const form = valid[String(type)]
  const well =
    Object.keys({ ...others, ...strange }).length === 0 &&
    (data as Record<string, unknown>).type === 'ContactlistAmendment' &&
    (operation === 'add' || operation === 'remove') &&
    (type === 'gum' ? Number.isInteger(gumCallerId) : gumCallerId === undefined) &&
    Array.isArray(identifiers) &&
    identifiers.length > 0
  if (!well || !form) return refusal(400, 'validation', 'invalid-amendment')
  const all = identifiers as string[]
  if (all.length > 50_000) return { status: 413, text: '' }
  const invalid = all.filter((identifier) => !form.test(identifier))
  for (const identifier of all.filter((one) => form.test(one))) {
    if (operation === 'add') segment.members.add(`${type}:${identifier}`)
    else segment.members.delete(`${type}:${identifier}`)
  }
  const attributes = {
    contactListId: Number(segment.id),
    operation,
    identifierType: type,
    requestDate: '2026-11-22T10:00:50Z',
    nbValidIdentifiers: all.length - invalid.length,
    nbInvalidIdentifiers: invalid.length,
    sampleInvalidIdentifiers: invalid.slice(0, samplesMost),
  }
  return { json: { data: { type: 'ContactlistAmendment', attributes }, errors: [], warnings: [] } }
}
