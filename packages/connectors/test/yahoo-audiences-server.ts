import { type Asked, entityRoute, hasOnly, type Route, startRoutes } from './platform-routes.ts'
import type { PlatformServer, Reply } from './platform-server.ts'
import { yahooSecrets } from './yahoo-events-server.ts'

/**
 * The custom audiences of Yahoo's Traffic API, written from excerpts of its documentation and published clients: audiences of one
 * kind of identifiers that are made with their first ones, lists of up to 50,000, answers with a response or errors.
 */

export type YahooAudience = { id: string; name: string; kind: string; retentionDays: number; members: Set<string> }

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
    id: Number(id),
    name,
    accountId: 1356341,
    createdAt: '2026-11-26',
    retentionDays,
  })
  /** The seeds of a body, or a refusal. */
  function seedsIn(body: Asked['body'], isNew: boolean): Record<string, unknown> | undefined {
    const { accountId, name, retentionDays = 180, subType, seedListType, seedList } = body
    const isWell =
      typeof accountId === 'number' &&
      kinds.includes(String(seedListType)) &&
      (isNew ? typeof name === 'string' && subType === seedListType : name === undefined && subType === undefined) &&
      [30, 60, 90, 180].includes(Number(retentionDays)) &&
      Array.isArray(seedList) &&
      seedList.length > 0 &&
      seedList.length <= 50_000 &&
      seedList.every((seed) => /^[0-9a-f]{64}$/.test(seed)) &&
      hasOnly(body, 'accountId name retentionDays subType seedListType seedList')
    return isWell ? { name, retentionDays, seedListType, seedList } : undefined
  }

  const invalid = refused(400, 'jane@example.com is invalid')
  const add = (audience: YahooAudience, seeds: Record<string, unknown>): Reply => {
    for (const seed of seeds.seedList as string[]) audience.members.add(seed)
    return ok(shown(audience))
  }
  const make: Route = ({ body }) => {
    const seeds = seedsIn(body, true)
    if (!seeds) return invalid
    const made = {
      id: String(50_351_924 + audiences.length),
      name: String(seeds.name),
      kind: String(seeds.seedListType),
      retentionDays: Number(seeds.retentionDays),
      members: new Set<string>(),
    }
    audiences.push(made)
    return add(made, seeds)
  }
  const list: Route = ({ query }) => {
    const [limit, page] = [Number(query.get('limit') ?? 10), Number(query.get('page') ?? 1)]
    const search = query.get('query')?.toLowerCase() ?? ''
    const all = audiences.filter(({ name }) => name.toLowerCase().includes(search))
    const found = all.slice((page - 1) * limit, page * limit).map(shown)
    return ok(found.map((one) => ({ ...one, segmentType: 'CUSTOM', audienceType: '1st Party' })))
  }
  const missing = refused(404, 'Not found')
  const segments = '/traffic/audiences/customsegments'
  return startRoutes(
    {
      open: {
        'GET /': { status: 404, text: 'Yahoo' },
        'POST /identity/oauth2/access_token': ({ text }) => {
          const [, claims = ''] = (new URLSearchParams(text).get('client_assertion') ?? '').split('.')
          const { iss } = JSON.parse(Buffer.from(claims, 'base64url').toString())
          if (iss !== yahooSecrets.clientId) return { status: 401, json: { error: 'invalid_client' } }
          good = `yahoo-access-${++tokens}`
          return { json: { access_token: good, token_type: 'Bearer', expires_in: 3599 } }
        },
      },
      demands: [
        ({ headers }) =>
          headers['x-auth-token'] === good && headers['x-auth-method'] === 'OAuth2'
            ? undefined
            : refused(401, 'Unauthorized'),
        ({ method, path, query, body }) => {
          const account = method === 'GET' ? query.get('accountId') : body.accountId
          return path === '/traffic/advertisers' || String(account) === '1356341'
            ? undefined
            : refused(403, 'Access denied')
        },
      ],
      routes: {
        'GET /traffic/advertisers': ok([{ id: 1356341, name: 'Shop' }]),
        'GET /traffic/audiences': list,
        [`POST ${segments}`]: make,
        [`GET ${segments}/{id}`]: entityRoute(audiences, missing, (audience) => ok(shown(audience))),
        [`PUT ${segments}/{id}`]: entityRoute(audiences, missing, (audience, { body }) => {
          const seeds = seedsIn(body, false)
          return seeds && audience.kind === seeds.seedListType ? add(audience, seeds) : invalid
        }),
      },
      unknown: missing,
    },
    {
      audiences,
      expireTokens: () => {
        good = 'none'
      },
    },
  )
}
