import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'
import { yahooSecrets } from './yahoo-events-server.ts'

/**
 * The custom audiences of Yahoo's Traffic API, written from excerpts of its documentation and published clients: audiences of one
 * kind of identifiers that are made with their first ones, lists of up to 50,000, answers with a response or errors.
 */

export type YahooAudience = { id: number; name: string; kind: string; retentionDays: number; members: Set<string> }

export type YahooAudiencesServer = PlatformServer & {
  readonly audiences: YahooAudience[]
  expireTokens(): void
}

export const yahooAudienceRoutes = (url: string) => ({
  'https://dspapi.admanagerplus.yahoo.com': url,
  'https://id.b2b.yahooinc.com': url,
})
const timeStamp = '2026-11-26T08:00:00Z'
const ok = (response: unknown): Reply => ({ json: { response, errors: null, timeStamp } })
const refused = (status: number, message: string): Reply => ({
  status,
  json: { response: null, errors: { httpStatusCode: status, message, validations: [] }, timeStamp },
})
const kinds = ['EMAIL', 'PHONE_NUMBER']

export async function startYahooAudiences(): Promise<YahooAudiencesServer> {
  const audiences: YahooAudience[] = []
  let tokens = 0
  let good = ''

  const shown = ({ id, name, retentionDays }: YahooAudience) => ({
    status: 'ACTIVE',
    id,
    name,
    accountId: 1356341,
    createdAt: '2026-11-26',
    retentionDays,
  })
  function seedsIn({ json }: Received, isNew: boolean): Record<string, unknown> | undefined {
    const {
      accountId,
      name,
      retentionDays = 180,
      subType,
      seedListType,
      seedList,
      ...others
    } = json as Record<string, unknown>
    const isWell =
      typeof accountId === 'number' &&
      kinds.includes(String(seedListType)) &&
      (isNew ? typeof name === 'string' && subType === seedListType : name === undefined && subType === undefined) &&
      [30, 60, 90, 180].includes(Number(retentionDays)) &&
      Array.isArray(seedList) &&
      seedList.length > 0 &&
      seedList.length <= 50_000 &&
      seedList.every((seed) => /^[0-9a-f]{64}$/.test(seed)) &&
      Object.keys(others).length === 0
    return isWell ? { accountId, name, retentionDays, seedListType, seedList } : undefined
  }

  const server = await startPlatform((received) => {
    const { method, path, headers, text, query } = received
    const route = `${method} ${path}`
    if (route === 'GET /') return { status: 404, text: 'Yahoo' }
    if (route === 'POST /identity/oauth2/access_token') {
      const [, claims = ''] = (new URLSearchParams(text).get('client_assertion') ?? '').split('.')
      const { iss } = JSON.parse(Buffer.from(claims, 'base64url').toString())
      if (iss !== yahooSecrets.clientId) return { status: 401, json: { error: 'invalid_client' } }
      good = `yahoo-access-${++tokens}`
      return { json: { access_token: good, token_type: 'Bearer', expires_in: 3599 } }
    }
    if (headers['x-auth-token'] !== good || headers['x-auth-method'] !== 'OAuth2') return refused(401, 'Unauthorized')
    if (route === 'GET /traffic/advertisers') return ok([{ id: 1356341, name: 'Shop' }])
    const isCreation = route === 'POST /traffic/audiences/customsegments'
    const [, verb, id] = /^(GET|PUT) \/traffic\/audiences\/customsegments\/(\d+)$/.exec(route) ?? []
    const isChange = isCreation || verb === 'PUT'
    const account = isChange ? (received.json as { accountId: unknown }).accountId : query.get('accountId')
    if (String(account) !== '1356341') return refused(403, 'Access denied')
    if (route === 'GET /traffic/audiences') {
      const [limit, page] = [Number(query.get('limit') ?? 10), Number(query.get('page') ?? 1)]
      const search = query.get('query')?.toLowerCase() ?? ''
      const all = audiences.filter(({ name }) => name.toLowerCase().includes(search))
      const found = all.slice((page - 1) * limit, page * limit).map(shown)
      return ok(found.map((one) => ({ ...one, segmentType: 'CUSTOM', audienceType: '1st Party' })))
    }
    const audience = audiences.find((one) => String(one.id) === id)
    if (!isCreation && !audience) return refused(404, 'Not found')
    if (verb === 'GET' && audience) return ok(shown(audience))
    const seeds = isChange ? seedsIn(received, isCreation) : undefined
    if (!seeds || (audience && audience.kind !== seeds.seedListType)) return refused(400, 'jane@example.com is invalid')
    const changed = audience ?? {
      id: 50_351_924 + audiences.length,
      name: String(seeds.name),
      kind: String(seeds.seedListType),
      retentionDays: Number(seeds.retentionDays),
      members: new Set<string>(),
    }
    if (!audience) audiences.push(changed)
    for (const seed of seeds.seedList as string[]) changed.members.add(seed)
    return ok(shown(changed))
  })
  return Object.assign(server, {
    audiences,
    expireTokens: () => {
      good = 'none'
    },
  })
}
