import { amazonSecrets, amazonTokens } from './amazon-server.ts'
import { type Asked, entityRoute, hasOnly, header, pageOf, startRoutes } from './platform-routes.ts'
import type { PlatformServer, Received, Reply } from './platform-server.ts'

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
  readonly uploading: { pending: number }
  /** Ends the access tokens that were given out. */
  expireTokens(): void
}

export const amazonManager = 'amzn1.ads1.ma1.abc123'
export const amazonEntity = 'ENTITY1ABCDEF'
const memberType = 'application/vnd.admAudiences.v1+json'
const audienceType = 'application/vnd.amcaudiences.v1+json'

export async function startAmazonAudiences(): Promise<AmazonAudienceServer> {
  const tokens = amazonTokens()
  const datasets: AmazonAudience[] = []
  const audiences: AmazonAudience[] = []
  const uploads: { id: string; invalid: unknown[] }[] = []
  const uploading = { pending: 0 }
  const missing = { status: 404, json: { code: '404', message: 'no such resource' } }
  return startRoutes(
    {
      open: { 'GET /': { status: 404, text: 'not found' }, ...tokens.routes },
      demands: [
        tokens.bearer({ status: 401, json: { code: '401', details: 'Not authorized', message: 'Not authorized' } }),
        header('amazon-advertising-api-clientid', amazonSecrets.clientId, { status: 401 }),
        ({ path, headers }) => {
          const account = headers['amazon-ads-manager-account-id'] ?? headers['amazon-ads-accountid']
          const isKnown = [amazonManager, amazonEntity].includes(String(account))
          return path.startsWith('/adm/') && !isKnown ? { status: 403, json: { code: '403' } } : undefined
        },
      ],
      routes: {
        'GET /v2/profiles': { json: [] },
        'GET /adm/audiences': ({ query }) => listed(datasets, query),
        'POST /adm/audiences': (asked) => makeDataset(asked, datasets),
        'GET /adm/audiences/{id}': entityRoute(datasets, missing, (dataset) => ({ json: viewOf(dataset) })),
        'POST /adm/audiences/{id}/members': entityRoute(datasets, missing, ingest),
        'POST /amc/audiences/metadata': (asked) => makeAudience(asked, audiences),
        'POST /amc/audiences/records': (asked) => upload(asked, audiences, uploads),
        'GET /amc/audiences/metadata/{id:\\w+}': entityRoute(audiences, missing, ({ id }) => ({
          text: `{"audienceId":${id}}`,
          headers: { 'content-type': audienceType },
        })),
        'GET /amc/audiences/records/{id:\\w+}': entityRoute(uploads, missing, ({ id, invalid }) =>
          uploading.pending-- > 0
            ? { json: { jobRequestId: id, jobState: 'PENDING' } }
            : { json: { jobRequestId: id, jobState: 'SUCCEEDED', invalidRecords: invalid } },
        ),
      },
      unknown: missing,
    },
    { datasets, audiences, uploading, expireTokens: tokens.expire },
  )
}

const viewOf = ({ id, name, country }: AmazonAudience) => ({
  dataSetId: id,
  name,
  countryCode: country,
  dataSetType: 'AUDIENCE',
  dateCreated: `2026-11-0${id.slice(-1)}T00:00:00Z`,
})

function listed(datasets: readonly AmazonAudience[], query: URLSearchParams): Reply {
  if (!/^(1|100)$/.test(query.get('limit') ?? '')) return { status: 400, json: { code: '400' } }
  const { page, next } = pageOf(datasets, query.get('nextToken'))
  return { json: { dataSets: page.map(viewOf), ...(next !== undefined && { nextToken: String(next) }) } }
}

function makeDataset({ body, headers }: Asked, datasets: AmazonAudience[]): Reply {
  const { name, countryCode, description } = body
  const isValid =
    headers['content-type'] === 'application/json' &&
    /^[A-Za-z][A-Za-z0-9_-]{4,99}$/.test(String(name)) &&
    /^[A-Z]{2}$/.test(String(countryCode)) &&
    typeof description === 'string' &&
    hasOnly(body, 'name countryCode description')
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
function ingest(dataset: AmazonAudience, { body, headers }: Asked): Reply {
  if (headers.accept !== memberType || headers['content-type'] !== memberType) return { status: 415 }
  const { members } = body as { members?: Member[] }
  const isList = Array.isArray(members) && members.length > 0 && members.length <= 10_000
  if (!isList || !hasOnly(body, 'members') || !members.every(isMember)) return badRequest
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

function makeAudience(received: Asked, audiences: AmazonAudience[]): Reply {
  const { name, description, metadata, targetResource } = received.body
  const isTargeted = /"advertiserId":\d+\b/.test(received.text) && typeof targetResource === 'object'
  const isNamed = typeof name === 'string' && name.length >= 10 && name.length <= 128 && typeof description === 'string'
  const isExternal = typeof (metadata as Record<string, unknown>)?.externalAudienceId === 'string'
  if (!isAudienceKind(received)) return { status: 415 }
  if (!isTargeted || !isNamed || !isExternal || !hasOnly(received.body, 'name description metadata targetResource')) {
    return badRequest
  }
  const id = String(413642381039213536n + BigInt(audiences.length))
  audiences.push({ id, name, country: '', members: new Map() })
  return { status: 201, text: `{"audienceId":${id},"externalAudienceId":"x"}` }
}

function upload(received: Received, audiences: AmazonAudience[], uploads: { id: string; invalid: unknown[] }[]): Reply {
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
  const job = `job${uploads.length}`
  uploads.push({ id: job, invalid })
  return { status: 202, json: { jobRequestId: job } }
}
