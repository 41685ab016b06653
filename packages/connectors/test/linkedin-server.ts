import { tokenRefusal, tokensOf } from './oauth-tokens.ts'
import {
  type Asked,
  entityRoute,
  hasOnly,
  header,
  keepFirst,
  pageOf,
  type Route,
  startRoutes,
} from './platform-routes.ts'
import type { PlatformServer, Reply } from './platform-server.ts'

/**
 * LinkedIn's token endpoint and its marketing API, written from its documents and from what other clients have recorded:
 * tokens that end, the two headers of versions, no key that a schema does not have, the results of a batch by place.
 */

export type Segment = {
  id: string
  name: string
  account: string
  /** USER unless said otherwise. */
  type?: 'USER' | 'COMPANY'
  members: Map<string, Record<string, unknown>>
  /** So many requests for its members are answered as if it were not there yet. */
  unreadyRequests: number
}

export type LinkedInServer = PlatformServer & {
  /** The stored conversions, by event ID: the first conversion with each ID. */
  readonly conversions: Map<string, Record<string, unknown>>
  readonly segments: Segment[]
  /** The roles of the user that signed in, by ad account. */
  readonly roles: Map<string, string>
  /** Every access token that was given out ends. */
  expireTokens(): void
  /** How often a token was asked for. */
  tokensGiven(): number
  /** How many requests for its members a new segment does not answer. */
  newSegments: { unreadyRequests: number }
}

export const linkedinSecrets = {
  clientId: 'linkedin-client',
  clientSecret: 'linkedin-client-secret',
  refreshToken: 'linkedin-refresh-token',
}
export const linkedinRoutes = (url: string) => ({ 'https://api.linkedin.com': url, 'https://www.linkedin.com': url })

export const refusal = (status: number, code: string, serviceErrorCode?: number): Reply => ({
  status,
  json: { status, code, message: 'may quote jane@example.com', ...(serviceErrorCode ? { serviceErrorCode } : {}) },
})
const said = (status: number, message: string): Reply => ({ status, json: { status, message } })

export async function startLinkedIn(): Promise<LinkedInServer> {
  const conversions: LinkedInServer['conversions'] = new Map()
  const segments: Segment[] = []
  const roles: LinkedInServer['roles'] = new Map([['urn:li:sponsoredAccount:500', 'ACCOUNT_MANAGER']])
  const newSegments = { unreadyRequests: 0 }
  const tokens = tokensOf({
    path: '/oauth/v2/accessToken',
    secrets: linkedinSecrets,
    prefix: 'access-token-',
    expiresIn: 5_184_000,
    more: () => ({ refresh_token: linkedinSecrets.refreshToken }),
    refuses: { grant: tokenRefusal('invalid_request') },
  })
  const missing: Reply = { status: 404, text: '<html>' }
  const ofSegment = (answer: (segment: Segment, asked: Asked) => Reply): Route =>
    entityRoute(segments, refusal(404, 'NOT_FOUND'), answer)
  return startRoutes(
    {
      open: { 'GET /': { text: 'LinkedIn' }, ...tokens.routes },
      demands: [
        ({ path }) => (path.startsWith('/rest/') ? undefined : missing),
        tokens.bearer(refusal(401, 'INVALID_ACCESS_TOKEN', 65600)),
        header('linkedin-version', '202607', refusal(426, 'NONEXISTENT_VERSION')),
        header('x-restli-protocol-version', '2.0.0', said(400, 'Protocol version')),
      ],
      routes: {
        'GET /rest/adAccountUsers': finder('authenticatedUser', () => {
          const elements = [...roles].map(([account, role]) => ({ account, role, user: 'urn:li:person:1' }))
          return { json: { elements, paging: { start: 0, count: 10, total: elements.length } } }
        }),
        'GET /rest/adAccounts': finder('search', ({ query }) => {
          if (query.has('start')) return said(400, 'No such finder')
          const accounts = [500, 501, 502].map((id) => ({ id, name: `Account ${id}`, status: 'ACTIVE', test: false }))
          const { page: elements, next } = pageOf(accounts, query.get('pageToken'))
          return { json: { elements, metadata: next === undefined ? {} : { nextPageToken: String(next) } } }
        }),
        'GET /rest/conversions': finder('account', (asked) =>
          asked.query.get('account') === 'urn:li:sponsoredAccount:500'
            ? listed(conversionRules, asked)
            : refusal(403, 'ACCESS_DENIED', 100),
        ),
        'POST /rest/conversionEvents': (asked) => addConversions(asked, conversions),
        'GET /rest/dmpSegments': finder('account', (asked) => listSegments(asked, segments)),
        'POST /rest/dmpSegments': (asked) => addSegment(asked, segments, newSegments.unreadyRequests),
        'GET /rest/dmpSegments/{id:\\d+}': ofSegment(({ id, name }) => ({ json: { id: Number(id), name } })),
        'POST /rest/dmpSegments/{id:\\d+}': said(405, 'Method'),
        'POST /rest/dmpSegments/{id:\\d+}/{members:users|companies}': ofSegment(changeSegment),
      },
      unknown: missing,
    },
    {
      conversions,
      segments,
      roles,
      newSegments,
      expireTokens: tokens.expire,
      tokensGiven: () => tokens.given,
    },
  )
}

const finder =
  (name: string, answer: (asked: Asked) => Reply): Route =>
  (asked) =>
    asked.query.get('q') === name ? answer(asked) : said(400, 'No such finder')

function listed(all: readonly object[], { query }: Asked): Reply {
  const start = Number(query.get('start') ?? 0)
  return { json: { elements: pageOf(all, start).page, paging: { start, count: 2, total: all.length, links: [] } } }
}

const conversionRules = [
  { id: 104, name: 'Purchase', conversionMethod: 'CONVERSIONS_API' },
  { id: 777, name: 'Thank-you page', conversionMethod: 'INSIGHT_TAG' },
  { id: 105, name: 'Lead', conversionMethod: 'CONVERSIONS_API' },
]

/** The elements of a request that creates several; a refusal for other requests. */
function elementsOf({ headers, body }: Asked): Record<string, unknown>[] | Reply {
  if (headers['x-restli-method'] !== 'BATCH_CREATE') return said(400, 'X-RestLi-Method')
  if (headers['content-type'] !== 'application/json') return said(415, 'Content-Type')
  const { elements } = body
  if (!Array.isArray(elements) || !hasOnly(body, 'elements')) return said(400, 'elements')
  if (elements.length > 5_000) return said(400, 'Batch too large')
  return elements
}

/** `777` is a rule whose method is another one; others are not there. */
const rules = ['urn:lla:llaPartnerConversion:104', 'urn:lla:llaPartnerConversion:105']

function addConversions(received: Asked, conversions: LinkedInServer['conversions']): Reply {
  const elements = elementsOf(received)
  if (!Array.isArray(elements)) return elements
  const wrong = elements.flatMap((element, at) => {
    const problems = problemsOf(element)
    return problems.length > 0 ? [`Index: ${at}, ${problems.map((problem) => `ERROR :: ${problem}\n`).join('')}`] : []
  })
  if (wrong.length > 0) return said(422, wrong.join(''))
  const foreign = elements.flatMap(({ conversion }, at) => (rules.includes(String(conversion)) ? [] : [at]))
  if (foreign.length > 0) {
    const places = foreign.join(', ')
    return said(
      400,
      `Incorrect conversions information provided. Conversion's method should be CONVERSIONS_API, indices [${places}] (0-indexed)`,
    )
  }
  const results = elements.map((element) => {
    const id = String(element.eventId)
    // Of these LinkedIn alone knows what is wrong.
    if (id.startsWith('refuse')) return { status: 400, error: { status: 400, code: 'INVALID_VALUE', message: 'jane' } }
    keepFirst(conversions, id, element)
    return { status: 201 }
  })
  return { json: { elements: results } }
}

const idTypes = ['SHA256_EMAIL', 'LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID', 'ACXIOM_ID', 'ORACLE_MOAT_ID', 'GOOGLE_AID']

function problemsOf(element: Record<string, unknown>): string[] {
  const problems: string[] = []
  const check = (well: boolean, path: string) => {
    if (!well) problems.push(`${path} :: is not what it should be`)
  }
  const { conversion, conversionHappenedAt, conversionValue, eventId, user, ...others } = element
  check(Object.keys(others).length === 0, '/')
  check(typeof conversion === 'string' && /^urn:lla:llaPartnerConversion:\d+$/.test(conversion), '/conversion')
  const happened = Number(conversionHappenedAt)
  const now = Date.now()
  check(Number.isInteger(conversionHappenedAt) && happened > now - 90.01 * 86_400_000, '/conversionHappenedAt')
  check(happened < now + 120_000, '/conversionHappenedAt')
  check(eventId === undefined || typeof eventId === 'string', '/eventId')
  if (conversionValue !== undefined) {
    const { currencyCode, amount, ...rest } = conversionValue as Record<string, unknown>
    check(Object.keys(rest).length === 0, '/conversionValue')
    check(typeof currencyCode === 'string' && /^[A-Z]{3}$/.test(currencyCode), '/conversionValue/currencyCode')
    check(typeof amount === 'string' && /^\d+(\.\d+)?$/.test(amount), '/conversionValue/amount')
  }
  const { userIds, userInfo, externalIds, ...rest } = (user ?? {}) as Record<string, unknown>
  check(Object.keys(rest).length === 0, '/user')
  check(Array.isArray(userIds), '/user/userIds')
  for (const each of Array.isArray(userIds) ? userIds : []) check(isUserId(each), '/user/userIds')
  if (userInfo !== undefined) {
    const { firstName, lastName, title, companyName, countryCode, ...strange } = userInfo as Record<string, unknown>
    check(Object.keys(strange).length === 0, '/user/userInfo')
    check(typeof firstName === 'string', '/user/userInfo/firstName')
    check(typeof lastName === 'string', '/user/userInfo/lastName')
    for (const text of [title, companyName, countryCode]) check(['string', 'undefined'].includes(typeof text), '/user')
  }
  check(externalIds === undefined || (Array.isArray(externalIds) && externalIds.length === 1), '/user/externalIds')
  return problems
}

function isUserId(value: unknown): boolean {
  const { idType, idValue, ...others } = (value ?? {}) as Record<string, unknown>
  if (Object.keys(others).length > 0 || typeof idValue !== 'string') return false
  if (idType === 'SHA256_EMAIL') return /^[0-9a-f]{64}$/.test(idValue)
  if (idType === 'PLAINTEXT_IP_ADDRESS') return /^\d+(\.\d+){3}$/.test(idValue)
  return idTypes.includes(String(idType)) && idValue !== ''
}

function listSegments(asked: Asked, segments: readonly Segment[]): Reply {
  const wanted = asked.query.get('account')
  if (!wanted) return said(400, 'No such finder')
  const ofAccount = segments.filter(({ account }) => account === wanted)
  const shown = ofAccount.map(({ id, name, account, type = 'USER' }) => ({
    id: Number(id),
    name,
    account,
    type,
    destinations: [{ destination: 'LINKEDIN', status: 'READY' }],
  }))
  return listed(shown, asked)
}

function addSegment({ body }: Asked, segments: Segment[], unreadyRequests: number): Reply {
  const { name, sourcePlatform, account, accessPolicy, type, destinations } = body
  const well =
    typeof name === 'string' &&
    sourcePlatform === 'PENSTOCK_TEST' &&
    accessPolicy === 'PRIVATE' &&
    (type === 'USER' || type === 'COMPANY') &&
    JSON.stringify(destinations) === '[{"destination":"LINKEDIN"}]'
  const keys = 'name sourcePlatform account accessPolicy type destinations'
  if (!well || !hasOnly(body, keys)) return said(400, 'Segment')
  if (account !== 'urn:li:sponsoredAccount:500') return refusal(403, 'ACCESS_DENIED', 100)
  const id = String(10_000 + segments.length)
  segments.push({ id, name, account, type, members: new Map(), unreadyRequests })
  return { status: 201, headers: { 'x-restli-id': id }, text: '' }
}

function changeSegment(segment: Segment, asked: Asked): Reply {
  const isOfCompanies = segment.type === 'COMPANY'
  if ((asked.params.members === 'companies') !== isOfCompanies) {
    return said(400, 'The type of the segment is another one')
  }
  const elements = elementsOf(asked)
  if (!Array.isArray(elements)) return elements
  if (segment.unreadyRequests > 0) {
    segment.unreadyRequests--
    return said(404, 'Could not find DMP segment with ID')
  }
  const results = elements.map((element) => {
    if (!(isOfCompanies ? isCompany : isUser)(element))
      return { status: 400, error: { status: 400, code: 'INVALID_VALUE', message: 'jane' } }
    const { action: _, ...person } = element
    const { userIds = [] } = element as { userIds?: unknown[] }
    const key = JSON.stringify(userIds.length > 0 ? userIds : person)
    if (element.action === 'ADD') segment.members.set(key, element)
    else segment.members.delete(key)
    return { status: 201 }
  })
  return { json: { elements: results } }
}

/** Companies at `refused.example` are those of which LinkedIn alone knows what is wrong. */
function isCompany(element: Record<string, unknown>): boolean {
  const { action, ...company } = element
  const known = ['companyName', 'companyWebsiteDomain', 'companyEmailDomain', 'organizationUrn', 'companyPageUrl']
  const values = Object.entries(company)
  if (action !== 'ADD' && action !== 'REMOVE') return false
  if (values.length === 0 || !values.every(([key, value]) => known.includes(key) && typeof value === 'string'))
    return false
  if (company.companyWebsiteDomain === 'refused.example') return false
  const { organizationUrn: urn } = company
  return urn === undefined || /^urn:li:organization:\d+$/.test(String(urn))
}

/** Digests that begin with `99999999` are those of which LinkedIn alone knows what is wrong. */
function isUser(element: Record<string, unknown>): boolean {
  const { action, userIds, firstName, lastName, title, company, country, ...others } = element
  if (Object.keys(others).length > 0 || (action !== 'ADD' && action !== 'REMOVE')) return false
  const texts = [firstName, lastName, title, company, country]
  if (!texts.every((text) => text === undefined || typeof text === 'string')) return false
  // A person without identifiers is found by both names.
  if (!Array.isArray(userIds) || (userIds.length === 0 && !(firstName && lastName))) return false
  return userIds.every((each) => {
    const { idType, idValue, ...strange } = each as Record<string, unknown>
    if (Object.keys(strange).length > 0 || typeof idValue !== 'string' || idValue.startsWith('99999999')) return false
    if (idType === 'SHA256_EMAIL') return /^[0-9a-f]{64}$/.test(idValue)
    if (idType === 'SHA512_EMAIL') return /^[0-9a-f]{128}$/.test(idValue)
    return idType === 'GOOGLE_AID' && /^[0-9a-f-]{36}$/i.test(idValue)
  })
}
