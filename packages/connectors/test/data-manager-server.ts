import assert from 'node:assert/strict'
import { keyOfEvent, readEventsRequest, type TakenEvent } from './data-manager-events.ts'
import { type TokenFacts, type Tokens, tokensOf } from './oauth-tokens.ts'
import { type Asked, startRoutes } from './platform-routes.ts'
import type { PlatformServer, Reply } from './platform-server.ts'

/**
 * Google's token endpoint and its Data Manager API, written from the published protos (google/ads/datamanager/v1): tokens
 * that expire, only fields that the API has, one kind of data in a request, digests, consent and terms. If one member
 * is bad, the whole request is rejected. Errors of the account or the list are reported at the first member.
 */

type List = {
  id: string
  displayName: string
  uploadKeyTypes: string[]
  members: Set<string>
  /** When each member was last added, in milliseconds of the server's clock. */
  added: Map<string, number>
  /** The consents of members that arrived with their own consent. */
  consents: Map<string, unknown>
  info: unknown
  membershipDuration: string | undefined
  description: string | undefined
}

/** Whose lists and conversion actions the server has. */
export type DataManagerAccount = { readonly accountType: string; readonly accountId: string }

/** The result for the members of a request, as `requestStatus:retrieve` reports it. */
export type RequestStatus = {
  requestStatus: 'SUCCESS' | 'PROCESSING' | 'FAILED' | 'PARTIAL_SUCCESS'
  errorCounts?: { recordCount: string; reason: string; recordIndices?: readonly unknown[] }[]
}

export type DataManagerServer = PlatformServer & {
  readonly lists: List[]
  /** The conversion actions of the account, and the events that they count, each once. */
  readonly actions: Set<string>
  readonly events: Map<string, TakenEvent>
  /** Every access token that was given out ends. */
  expireTokens(): void
  /** The refusal of every request that changes members, whatever its content; absent for no refusal. */
  refusing: { reply?: Reply }
  /** The result of each request, by its ID; by default a success. */
  readonly statuses: Map<string, RequestStatus>
  /** The server's clock, in milliseconds. */
  clock: { now: number }
  /** Bad members that one answer blames at most. */
  blame: { most: number; path: (index: number) => string }
}

export const googleSecrets = { clientId: 'client-1', clientSecret: 'client-secret', refreshToken: 'refresh-token' }
const googleAdsAccount: DataManagerAccount = { accountType: 'GOOGLE_ADS', accountId: '1234567890' }

export const refusal = (status: number, name: string, details: readonly unknown[] = []): Reply => ({
  status,
  json: { error: { code: status, status: name, message: 'may quote jane@example.com', details } },
})
/**
 * As Google refuses a request: a generic reason for the whole, and the real one at a field. Of what is wrong with the
 * account or the list, that field is the first member.
 */
export const because = (reason: string, field = 'audience_members[0]'): Reply => violations([violation(field, reason)])
const violation = (field: string, reason: string | undefined) => ({
  field,
  description: 'may quote a value',
  ...(reason === undefined ? {} : { reason }),
})
const requestInfo = { '@type': 'type.googleapis.com/google.rpc.RequestInfo', requestId: 't-1' }
const violations = (fieldViolations: readonly unknown[]): Reply =>
  refusal(400, 'INVALID_ARGUMENT', [
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'INVALID_ARGUMENT',
      domain: 'datamanager.googleapis.com',
      metadata: { requestId: 't-1' },
    },
    requestInfo,
    { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations },
  ])
/** A field that the API does not have; no reason of the API's own comes with it. */
const unknownField = (name: string): Reply =>
  refusal(400, 'INVALID_ARGUMENT', [
    {
      '@type': 'type.googleapis.com/google.rpc.BadRequest',
      fieldViolations: [{ field: '', description: `Invalid JSON payload received. Unknown name "${name}"` }],
    },
  ])

export async function startDataManager(account = googleAdsAccount): Promise<DataManagerServer> {
  const parent = `/v1/accountTypes/${account.accountType}/accounts/${account.accountId}/userLists`
  const lists: List[] = []
  const blame: DataManagerServer['blame'] = {
    most: 3,
    path: (index) => `audience_members.audience_members[${index}].user_data.user_identifiers[0]`,
  }
  const refusing: DataManagerServer['refusing'] = {}
  const statuses: DataManagerServer['statuses'] = new Map()
  const clock = { now: Date.parse('2026-11-21T12:00:00Z') }
  const requests = new Set<string>()
  const actions: DataManagerServer['actions'] = new Set(['1234', '5678'])
  const events: DataManagerServer['events'] = new Map()
  const tokens = googleTokens('datamanager')
  const takenIn = (): Reply => {
    const requestId = `request-${requests.size + 1}`
    requests.add(requestId)
    return { json: { requestId } }
  }
  const changeMembers = (json: unknown, verb: Verb): Reply =>
    refusing.reply ?? change(lists, json, verb, { account, blame, now: clock.now }) ?? takenIn()
  const ingestEvents = (json: unknown): Reply => {
    if (refusing.reply) return refusing.reply
    const refused = refusalOfAccount(json, account)
    if (refused) return refused
    const read = readEventsRequest(json, actions, clock.now)
    if ('stranger' in read && read.stranger !== undefined) return unknownField(read.stranger)
    if ('violations' in read) {
      return violations(read.violations.slice(0, blame.most).map(({ field, reason }) => violation(field, reason)))
    }
    const { action, events: taken, validateOnly } = read.request
    if (!validateOnly) for (const event of taken) events.set(keyOfEvent(action, event), event)
    return takenIn()
  }
  const dated = (reply: Reply): Reply => ({
    ...reply,
    headers: { date: new Date(clock.now).toUTCString(), ...reply.headers },
  })
  const answer = ({ method, path, query, json, params }: Asked): Reply => {
    if (method === 'GET' && path === parent) return listLists(lists, query, parent)
    if (method === 'POST' && path === parent) return makeList(lists, json, parent)
    if (method === 'GET' && path.startsWith(`${parent}/`)) {
      const list = lists.find(({ id }) => path === `${parent}/${id}`)
      return list ? { json: shown(list, parent) } : refusal(404, 'NOT_FOUND')
    }
    if (params.verb) return changeMembers(json, params.verb as Verb)
    return path.startsWith('/v1/accountTypes/') ? refusal(403, 'PERMISSION_DENIED') : refusal(404, 'NOT_FOUND')
  }
  return startRoutes(
    {
      open: { 'GET /': { status: 404, text: 'not found' }, ...tokens.routes },
      demands: [(asked) => (tokens.isGood(asked) ? undefined : dated(refusal(401, 'UNAUTHENTICATED')))],
      routes: {
        'POST /v1/audienceMembers:{verb:ingest|remove|removeAll}': (asked) => dated(answer(asked)),
        'POST /v1/events:ingest': ({ json }) => dated(ingestEvents(json)),
        'GET /v1/requestStatus:retrieve': ({ query }) => {
          const id = query.get('requestId') ?? ''
          return dated(requests.has(id) ? statusOf(statuses.get(id)) : because('INVALID_REQUEST_ID', 'request_id'))
        },
      },
      unknown: (asked) => dated(answer(asked)),
    },
    { lists, actions, events, blame, refusing, statuses, clock, expireTokens: tokens.expire },
  )
}

/** The facts of all destinations that send to Google by way of Data Manager. */
export const dataManagerFacts = {
  testServer: 'a server that keeps to what is known of Google',
  start: (): Promise<DataManagerServer> => startDataManager(),
  routes: (url: string) => ({ 'https://datamanager.googleapis.com': url, 'https://oauth2.googleapis.com': url }),
  secrets: googleSecrets,
  wrongSecrets: { ...googleSecrets, refreshToken: 'revoked-token' },
} as const
/** The rows of the members of the only list: its name, the action, and the digest of each member. */
export function dataManagerMembers({ lists }: Pick<DataManagerServer, 'lists'>): string[][] {
  assert.ok(lists.length < 2, 'a second list was made')
  return [...(lists[0]?.members ?? [])].map((text) => ['Loyal', 'add', digestIn(text)])
}
/** The first digest in a text, such as that of a member. */
export const digestIn = (text: string): string => /[0-9a-f]{64}/.exec(text)?.[0] ?? ''

/** Google's token endpoint, with tokens of one scope. @param scope the last part of its name */
export function googleTokens(scope: string, facts: Partial<TokenFacts> = {}): Tokens {
  const name = `https://www.googleapis.com/auth/${scope}`
  return tokensOf({
    path: '/token',
    secrets: googleSecrets,
    prefix: 'access-token-',
    expiresIn: 3599,
    more: () => ({ scope: name }),
    allowsScope: name,
    ...facts,
  })
}

const statusOf = ({ requestStatus, errorCounts }: RequestStatus = { requestStatus: 'SUCCESS' }): Reply => ({
  json: {
    requestStatusPerDestination: [{ requestStatus, ...(errorCounts ? { errorInfo: { errorCounts } } : {}) }],
  },
})

const shown = ({ id, displayName, uploadKeyTypes }: List, parent: string) => ({
  name: `${parent.slice(4)}/${id}`,
  id,
  displayName,
  ingestedUserListInfo: { uploadKeyTypes },
})

function listLists(lists: readonly List[], query: URLSearchParams, parent: string): Reply {
  const filter = query.get('filter')
  const wanted = filter === null ? undefined : /^display_name = (".*")$/s.exec(filter)?.[1]
  if (filter !== null && wanted === undefined) return because('INVALID_FILTER', 'filter')
  const found = wanted === undefined ? lists : lists.filter(({ displayName }) => displayName === JSON.parse(wanted))
  return { json: found.length > 0 ? { userLists: found.map((list) => shown(list, parent)) } : {} }
}

const listFields = ['displayName', 'description', 'membershipDuration', 'ingestedUserListInfo']

function makeList(lists: List[], json: unknown, parent: string): Reply {
  const odd = Object.keys(json as object).find((field) => !listFields.includes(field))
  if (odd !== undefined) return unknownField(odd)
  const { membershipDuration, description } = json as Record<string, string | undefined>
  if (membershipDuration !== undefined && !isWholeDays(membershipDuration))
    return because('INVALID_ARGUMENT', 'user_list.membership_duration')
  const { displayName, ingestedUserListInfo } = json as Record<string, Record<string, unknown>>
  const info = ingestedUserListInfo ?? {}
  const [kind] = (info.uploadKeyTypes ?? []) as string[]
  const details = (kind === 'MOBILE_ID' ? info.mobileIdInfo : info.contactIdInfo) as Record<string, unknown> | undefined
  if (typeof displayName !== 'string' || !details) return because('REQUIRED_FIELD_MISSING', 'user_list')
  if (!/^DATA_SOURCE_TYPE_(FIRST_PARTY|THIRD_PARTY_\w+)$/.test(String(details.dataSourceType)))
    return because('INVALID_ENUM_VALUE', 'user_list.ingested_user_list_info')
  if (kind === 'MOBILE_ID' && (!details.appId || !/^(IOS|ANDROID)$/.test(String(details.keySpace)))) {
    return because('REQUIRED_FIELD_MISSING', 'user_list.ingested_user_list_info')
  }
  if (lists.some((list) => list.displayName === displayName))
    return because('DISPLAY_NAME_ALREADY_USED', 'user_list.display_name')
  const id = String(8_000_000_001 + lists.length)
  const made = { id, displayName, uploadKeyTypes: [String(kind)], info: details, membershipDuration, description }
  const list = { ...made, members: new Set<string>(), added: new Map(), consents: new Map() }
  lists.push(list)
  return { json: shown(list, parent) }
}

/** A duration as JSON has it, of whole days and no more than Google keeps members. */
function isWholeDays(duration: string): boolean {
  const seconds = Number(/^(\d+)s$/.exec(duration)?.[1])
  return seconds > 0 && seconds % 86_400 === 0 && seconds <= 540 * 86_400
}

type Verb = 'ingest' | 'remove' | 'removeAll'

/** The fields of each request, and of a member. */
const fieldsOf: Readonly<Record<Verb, readonly string[]>> = {
  ingest: ['destinations', 'audienceMembers', 'consent', 'encoding', 'termsOfService', 'validateOnly'],
  remove: ['destinations', 'audienceMembers', 'encoding', 'validateOnly'],
  removeAll: ['destinations', 'removeAsOfTime', 'validateOnly'],
}
const memberFields = ['destinationReferences', 'consent', 'userData', 'mobileData']

/** Refuses requests that name another account. */
function refusalOfAccount(json: unknown, own: DataManagerAccount): Reply | undefined {
  const { destinations } = json as { destinations?: { operatingAccount?: DataManagerAccount }[] }
  const account = destinations?.[0]?.operatingAccount
  const isOwn = account?.accountType === own.accountType && account.accountId === own.accountId
  return isOwn ? undefined : refusal(403, 'PERMISSION_DENIED')
}

/** Changes a list, or says why not. */
function change(
  lists: readonly List[],
  json: unknown,
  verb: Verb,
  { account: own, blame, now }: { account: DataManagerAccount; blame: DataManagerServer['blame']; now: number },
): Reply | undefined {
  const request = json as Record<string, unknown>
  const { destinations, audienceMembers: members, encoding, consent, termsOfService } = request
  const stranger = Object.keys(request).find((field) => !fieldsOf[verb].includes(field))
  if (stranger !== undefined) return unknownField(stranger)
  const [destination] = (destinations ?? []) as Record<string, unknown>[]
  const refused = refusalOfAccount(json, own)
  if (refused) return refused
  const list = lists.find(({ id }) => id === destination?.productDestinationId)
  if (!list) return because('INVALID_USER_LIST_ID')
  if (verb === 'removeAll') return removeAll(list, String(request.removeAsOfTime ?? new Date(now).toISOString()), now)
  if (!Array.isArray(members) || members.length === 0) return because('REQUIRED_FIELD_MISSING', 'audience_members')
  if (members.length > 10_000) return because('TOO_MANY_AUDIENCE_MEMBERS', 'audience_members')
  const all = members as Record<string, unknown>[]
  const odd = all.flatMap((member) => Object.keys(member)).find((field) => !memberFields.includes(field))
  if (odd !== undefined) return unknownField(odd)
  const kinds = new Set(all.flatMap((member) => Object.keys(member).filter((field) => field.endsWith('Data'))))
  if (kinds.size !== 1) return because('MULTIPLE_DATA_TYPES_NOT_ALLOWED')
  if (kinds.has('mobileData') !== list.uploadKeyTypes.includes('MOBILE_ID')) return because('INVALID_USER_LIST_TYPE')
  if (kinds.has('userData') && encoding !== 'HEX') return because('INVALID_HEX_ENCODING', 'encoding')
  if (verb === 'ingest') {
    const terms = (termsOfService as Record<string, unknown> | undefined)?.customerMatchTermsOfServiceStatus
    if (terms !== 'ACCEPTED') return because('TERMS_AND_CONDITIONS_NOT_SIGNED')
  }
  for (const value of [consent, ...all.map((member) => member.consent)].flatMap((each) => Object.values(each ?? {}))) {
    if (!/^CONSENT_(GRANTED|DENIED|STATUS_UNSPECIFIED)$/.test(String(value)))
      return because('INVALID_ENUM_VALUE', 'consent')
  }
  const bad = all.flatMap((member, index) => {
    const reason = reasonOf(member)
    return reason ? [violation(blame.path(index), reason)] : []
  })
  if (bad.length > 0) return violations(bad.slice(0, blame.most))
  for (const { consent: ofMember, ...member } of all) {
    const key = JSON.stringify(member)
    if (verb === 'ingest') {
      list.members.add(key)
      list.added.set(key, now)
      if (ofMember !== undefined) list.consents.set(key, ofMember)
    } else list.members.delete(key)
  }
  return undefined
}

/** Members who were added last before a time leave the list. */
function removeAll(list: List, time: string, now: number): Reply | undefined {
  const until = Date.parse(time)
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(time) || Number.isNaN(until))
    return because('INVALID_FORMAT', 'remove_as_of_time')
  if (until > now) return because('INVALID_REMOVE_AS_OF_TIME', 'remove_as_of_time')
  for (const member of [...list.members]) if ((list.added.get(member) ?? 0) < until) list.members.delete(member)
  return undefined
}

/** The error of a member. `99999999…` stands for digests with an error that only Google can find. */
function reasonOf({ userData, mobileData }: Record<string, unknown>): string | undefined {
  const { mobileIds } = (mobileData ?? {}) as { mobileIds?: string[] }
  if (mobileIds) return mobileIds.every((id) => /^[0-9A-Fa-f-]{36}$/.test(id)) ? undefined : 'INVALID_MOBILE_ID_FORMAT'
  const { userIdentifiers } = (userData ?? {}) as { userIdentifiers?: Record<string, never>[] }
  if (!userIdentifiers?.length) return 'NO_IDENTIFIERS_PROVIDED'
  if (userIdentifiers.length > 10) return 'TOO_MANY_USER_IDENTIFIERS'
  for (const { emailAddress, phoneNumber, address } of userIdentifiers) {
    const { givenName, familyName, regionCode, postalCode } = (address ?? {}) as Record<string, string>
    const digests = [emailAddress, phoneNumber, givenName, familyName].filter((digest) => digest !== undefined)
    if (!digests.every((digest) => /^[0-9a-f]{64}$/.test(digest))) return 'INVALID_SHA256_FORMAT'
    if (digests.some((digest) => String(digest).startsWith('99999999'))) return 'INVALID_SHA256_FORMAT'
    if (address && (!givenName || !familyName || !postalCode)) return 'INVALID_POSTAL_CODE'
    if (address && !/^[A-Z]{2}$/.test(regionCode ?? '')) return 'INVALID_COUNTRY_CODE'
  }
  return undefined
}
