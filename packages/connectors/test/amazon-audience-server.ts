import { amazonSecrets, tokenOf } from './amazon-server.ts'
import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * Audiences of Amazon Ads, as strict as their models: datasets and members of Ads data manager, for a manager account or one of
 * the DSP, and the older Advertiser audiences, whose IDs are numbers of 64 bits. An e-mail digest that begins with 99999999 is one
 * that Amazon does not accept.
 */

type Member = Record<string, unknown>
export type AmazonAudience = { id: string; name: string; country: string; members: Map<string, Member> }
export type AmazonAudienceServer = PlatformServer & {
  readonly datasets: AmazonAudience[]
  readonly audiences: AmazonAudience[]
  /** How many times the status of an upload is asked for until it is done. */
  pending: number
  /** Ends the access tokens that were given out. */
  expireTokens(): void
}

export const amazonManager = 'amzn1.ads1.ma1.abc123'
export const amazonEntity = 'ENTITY1ABCDEF'
const memberType = 'application/vnd.admAudiences.v1+json'
const audienceType = 'application/vnd.amcaudiences.v1+json'

export async function startAmazonAudiences(): Promise<AmazonAudienceServer> {
  const accessTokens: string[] = []
  const datasets: AmazonAudience[] = []
  const audiences: AmazonAudience[] = []
  const uploads: { invalid: unknown[] }[] = []
  const state = { pending: 0 }
  const server = await startPlatform((received) => {
    const { method, path, headers, query } = received
    if (path === '/') return { status: 404, text: 'not found' }
    if (path === '/auth/o2/token') return tokenOf(received, accessTokens)
    if (headers.authorization !== `Bearer ${accessTokens.at(-1)}`) {
      return { status: 401, json: { code: '401', details: 'Not authorized', message: 'Not authorized' } }
    }
    if (headers['amazon-advertising-api-clientid'] !== amazonSecrets.clientId) return { status: 401 }
    const asked = `${method} ${path}`
    if (asked === 'GET /v2/profiles') return { json: [] }
    if (path.startsWith('/adm/')) {
      const account = headers['amazon-ads-manager-account-id'] ?? headers['amazon-ads-accountid']
      if (![amazonManager, amazonEntity].includes(String(account))) return { status: 403, json: { code: '403' } }
      const [, id = '', rest] = /^\/adm\/audiences\/([^/]+)(\/members)?$/.exec(path) ?? []
      const dataset = datasets.find((one) => one.id === id)
      if (asked === 'GET /adm/audiences') return listed(datasets, query)
      if (asked === 'POST /adm/audiences') return makeDataset(received, datasets)
      if (id === '' || dataset === undefined) return { status: 404, json: { code: '404' } }
      if (method === 'GET' && !rest) return { json: viewOf(dataset) }
      if (method === 'POST' && rest) return ingest(received, dataset)
    }
    if (asked === 'POST /amc/audiences/metadata') return makeAudience(received, audiences)
    if (asked === 'POST /amc/audiences/records') return upload(received, audiences, uploads)
    const [, kind, id] = /^\/amc\/audiences\/(metadata|records)\/(\w+)$/.exec(path) ?? []
    if (method === 'GET' && kind === 'metadata') {
      return audiences.some((one) => one.id === id)
        ? { text: `{"audienceId":${id}}`, headers: { 'content-type': audienceType } }
        : { status: 404, json: { message: 'no audience' } }
    }
    if (method === 'GET' && kind === 'records') {
      if (state.pending-- > 0) return { json: { jobRequestId: id, jobState: 'PENDING' } }
      return {
        json: { jobRequestId: id, jobState: 'SUCCEEDED', invalidRecords: uploads[Number(id?.slice(3))]?.invalid },
      }
    }
    return { status: 404, json: { code: '404', message: 'no such resource' } }
  })
  return Object.assign(server, {
    datasets,
    audiences,
    get pending() {
      return state.pending
    },
    set pending(count: number) {
      state.pending = count
    },
    expireTokens: () => accessTokens.push('ended'),
  })
}

const viewOf = ({ id, name, country }: AmazonAudience) => ({
  dataSetId: id,
  name,
  countryCode: country,
  dataSetType: 'AUDIENCE',
  dateCreated: `2026-11-0${id.slice(-1)}T00:00:00Z`,
})

/** Two to a page. */
function listed(datasets: readonly AmazonAudience[], query: URLSearchParams): Reply {
  if (!/^(1|100)$/.test(query.get('limit') ?? '')) return { status: 400, json: { code: '400' } }
  const from = Number(query.get('nextToken') ?? 0)
  const nextToken = from + 2 < datasets.length ? String(from + 2) : undefined
  return { json: { dataSets: datasets.slice(from, from + 2).map(viewOf), nextToken } }
}

function makeDataset({ json, headers }: Received, datasets: AmazonAudience[]): Reply {
  const { name, countryCode, description, ...rest } = (json ?? {}) as Record<string, unknown>
  const isValid =
    headers['content-type'] === 'application/json' &&
    /^[A-Za-z][A-Za-z0-9_-]{4,99}$/.test(String(name)) &&
    /^[A-Z]{2}$/.test(String(countryCode)) &&
    typeof description === 'string' &&
    Object.keys(rest).length === 0
  if (!isValid) return { status: 400, json: { code: '400', details: 'may quote the name' } }
  const same = datasets.find((one) => one.name === name)
  if (same) return { status: 400, json: { code: 'DuplicateDatasetName', datasetId: same.id } }
  const made = { id: `ds-${datasets.length + 1}`, name: String(name), country: String(countryCode), members: new Map() }
  datasets.push(made)
  return { status: 201, json: viewOf(made) }
}

const piiKeys = 'em ph fn ln ad cty st zip'.split(' ')
const partnerKeys = 'maId liveRampId transunionId neustarId merkleId experianId kantarId realId sambaTvId'.split(' ')
const hex = /^[0-9a-f]{64}$/
const isDigests = (one: unknown, keys: readonly string[]): boolean =>
  Object.entries(one ?? {}).every(([key, value]) => keys.includes(key) && hex.test(String(value))) &&
  Object.keys(one ?? {}).length > 0

/** Members that are malformed make the request a bad one; members that Amazon does not accept are named by their places. */
function ingest({ json, headers }: Received, dataset: AmazonAudience): Reply {
  if (headers.accept !== memberType || headers['content-type'] !== memberType) return { status: 415 }
  const { members, ...rest } = (json ?? {}) as { members?: Member[] }
  const isList = Array.isArray(members) && members.length > 0 && members.length <= 10_000
  if (!isList || Object.keys(rest).length > 0 || !members.every(isMember)) return badRequest
  const errors: unknown[] = []
  for (const [index, { action, externalUserId, ...about }] of members.entries()) {
    if (JSON.stringify(about).includes('"99999999')) {
      errors.push({ index, code: '400', details: 'may quote', errors: [{ errorCode: 1003, errorType: 'INVALID_PII' }] })
    } else if (action === 'CREATE') dataset.members.set(String(externalUserId), about)
    else dataset.members.delete(String(externalUserId))
  }
  return { json: { ingressId: 'ingress-1', ...(errors.length > 0 && { errors }) } }
}

const badRequest: Reply = { status: 400, json: { code: '400', details: 'may quote jane@example.com' } }

function isMember({ action, externalUserId, userIdentity, userConsent, ...rest }: Member): boolean {
  const { hashedPiis = [], externalIdentities = [], ...others } = userIdentity as Record<string, Member[]>
  const isPartner = (one: Member) => Object.keys(one).length === 1 && partnerKeys.includes(Object.keys(one)[0] ?? '')
  return (
    /^(CREATE|DELETE)$/.test(String(action)) &&
    typeof externalUserId === 'string' &&
    Object.keys({ ...rest, ...others }).length === 0 &&
    hashedPiis.length + externalIdentities.length > 0 &&
    hashedPiis.every((one) => isDigests(one, piiKeys)) &&
    externalIdentities.every(isPartner) &&
    isConsent(userConsent)
  )
}

function isConsent(given: unknown): boolean {
  const { geo, consent, ...rest } = (given ?? {}) as Record<string, Record<string, unknown>>
  const { amzn, tcf, gpp, ...others } = consent ?? {}
  return (
    Object.keys({ ...rest, ...others }).length === 0 &&
    /^[A-Z]{2}$/.test(String(geo?.countryCode)) &&
    (amzn === undefined || (tcf === undefined && gpp === undefined)) &&
    Object.values((amzn ?? {}) as object).every((one) => /^(GRANTED|DENIED|NOT_APPLICABLE|UNKNOWN)$/.test(String(one)))
  )
}

const isAudienceKind = ({ headers }: Received) =>
  headers.accept === audienceType && headers['content-type'] === audienceType

function makeAudience(received: Received, audiences: AmazonAudience[]): Reply {
  const { name, description, metadata, targetResource, ...rest } = (received.json ?? {}) as Record<string, unknown>
  const isTargeted = /"advertiserId":\d+\b/.test(received.text) && typeof targetResource === 'object'
  const isNamed = typeof name === 'string' && name.length >= 10 && name.length <= 128 && typeof description === 'string'
  const isExternal = typeof (metadata as Record<string, unknown>)?.externalAudienceId === 'string'
  if (!isAudienceKind(received)) return { status: 415 }
  if (!isTargeted || !isNamed || !isExternal || Object.keys(rest).length > 0) return badRequest
  const id = String(413642381039213536n + BigInt(audiences.length))
  audiences.push({ id, name, country: '', members: new Map() })
  return { status: 201, text: `{"audienceId":${id},"externalAudienceId":"x"}` }
}

function upload(received: Received, audiences: AmazonAudience[], uploads: { invalid: unknown[] }[]): Reply {
  if (!isAudienceKind(received)) return { status: 415 }
  const [, id] = /^\{"audienceId":(\d+),/.exec(received.text) ?? []
  const audience = audiences.find((one) => one.id === id)
  if (audience === undefined) return { status: 404, json: { message: 'no audience' } }
  const { records = [] } = received.json as { records?: Member[] }
  const keys = 'email phone firstname lastname address city state postal'.split(' ')
  const isRecord = ({ action, externalUserId, countryCode, hashedPII, userConsent, ...rest }: Member) =>
    /^(CREATE|DELETE)$/.test(String(action)) &&
    /^[0-9A-Za-z_-]{1,128}$/.test(String(externalUserId)) &&
    /^[A-Z]{2}$/.test(String(countryCode)) &&
    (hashedPII as unknown[]).every((one) => isDigests(one, keys)) &&
    isConsent(userConsent) &&
    Object.keys(rest).length === 0
  if (records.length === 0 || records.length > 10_000 || !records.every(isRecord)) return badRequest
  const invalid: unknown[] = []
  for (const { action, externalUserId, ...about } of records) {
    if (JSON.stringify(about).includes('"99999999'))
      invalid.push({ audienceId: id, externalId: externalUserId, error: 'x' })
    else if (action === 'CREATE') audience.members.set(String(externalUserId), about)
    else audience.members.delete(String(externalUserId))
  }
  uploads.push({ invalid })
  return { status: 202, json: { jobRequestId: `job${uploads.length - 1}` } }
}
