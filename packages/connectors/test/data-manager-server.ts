import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * Google's token endpoint and its Data Manager API, as strict as they are known to be: tokens that end, one kind of data
 * to a request, digests, consent and terms; one bad member, and nothing of a request is taken.
 */

type List = { id: string; displayName: string; uploadKeyTypes: string[]; members: Set<string>; info: unknown }

export type DataManagerServer = PlatformServer & {
  readonly lists: List[]
  /** Every access token that was given out ends. */
  expireTokens(): void
  /** Bad members that one answer blames at most. */
  blame: { most: number; path: (index: number) => string }
}

export const googleSecrets = { clientId: 'client-1', clientSecret: 'client-secret', refreshToken: 'refresh-token' }
const scope = 'https://www.googleapis.com/auth/datamanager'
const parent = '/v1/accountTypes/GOOGLE_ADS/accounts/1234567890/userLists'

export const refusal = (status: number, name: string, details: readonly unknown[] = []): Reply => ({
  status,
  json: { error: { code: status, status: name, message: 'may quote jane@example.com', details } },
})
export const because = (reason: string): Reply =>
  refusal(400, 'INVALID_ARGUMENT', [
    { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'datamanager.googleapis.com' },
  ])
const violation = (field: string, reason: string) => ({ field, description: 'may quote a value', reason })
const violations = (fieldViolations: readonly unknown[]): Reply =>
  refusal(400, 'INVALID_ARGUMENT', [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations }])

export async function startDataManager(): Promise<DataManagerServer> {
  const lists: List[] = []
  const blame: DataManagerServer['blame'] = {
    most: 3,
    path: (index) => `audience_members.audience_members[${index}].user_data.user_identifiers[0]`,
  }
  let tokens = 0
  let good = ''
  const server = await startPlatform((received) => {
    const { method, path, query, headers } = received
    if (path === '/token') {
      const token = `access-token-${tokens + 1}`
      const reply = giveToken(received, token)
      if (reply.status === undefined) {
        good = token
        tokens++
      }
      return reply
    }
    if (path === '/') return { status: 404, text: 'not found' }
    if (headers.authorization !== `Bearer ${good}`) return refusal(401, 'UNAUTHENTICATED')
    if (method === 'GET' && path === parent) return listLists(lists, query)
    if (method === 'POST' && path === parent) return makeList(lists, received.json)
    if (method === 'GET' && path.startsWith(`${parent}/`)) {
      const list = lists.find(({ id }) => path === `${parent}/${id}`)
      return list ? { json: shown(list) } : refusal(404, 'NOT_FOUND')
    }
    if (method === 'POST' && path === '/v1/audienceMembers:ingest') return change(lists, received.json, 'ingest', blame)
    if (method === 'POST' && path === '/v1/audienceMembers:remove') return change(lists, received.json, 'remove', blame)
    return path.startsWith('/v1/accountTypes/') ? refusal(403, 'PERMISSION_DENIED') : refusal(404, 'NOT_FOUND')
  })
  const expireTokens = () => {
    good = ''
  }
  return Object.assign(server, { lists, blame, expireTokens })
}

function giveToken({ method, headers, text }: Received, token: string): Reply {
  if (method !== 'POST' || headers['content-type'] !== 'application/x-www-form-urlencoded')
    return { status: 405, text: '' }
  const form = Object.fromEntries(new URLSearchParams(text))
  if (form.client_id !== googleSecrets.clientId || form.client_secret !== googleSecrets.clientSecret) {
    return { status: 401, json: { error: 'invalid_client' } }
  }
  if (form.grant_type !== 'refresh_token' || form.refresh_token !== googleSecrets.refreshToken) {
    return { status: 400, json: { error: 'invalid_grant', error_description: 'Token has been expired or revoked.' } }
  }
  return { json: { access_token: token, expires_in: 3599, token_type: 'Bearer', scope } }
}

const shown = ({ id, displayName, uploadKeyTypes }: List) => ({
  ...{ name: `${parent.slice(4)}/${id}`, id, displayName },
  ingestedUserListInfo: { uploadKeyTypes },
})

function listLists(lists: readonly List[], query: URLSearchParams): Reply {
  const filter = query.get('filter')
  const wanted = filter === null ? undefined : /^display_name = (".*")$/s.exec(filter)?.[1]
  if (filter !== null && wanted === undefined) return because('INVALID_ARGUMENT')
  const found = wanted === undefined ? lists : lists.filter(({ displayName }) => displayName === JSON.parse(wanted))
  return { json: found.length > 0 ? { userLists: found.map(shown) } : {} }
}

function makeList(lists: List[], json: unknown): Reply {
  const { displayName, ingestedUserListInfo } = json as Record<string, Record<string, unknown>>
  const info = ingestedUserListInfo ?? {}
  const [kind] = (info.uploadKeyTypes ?? []) as string[]
  const details = (kind === 'MOBILE_ID' ? info.mobileIdInfo : info.contactIdInfo) as Record<string, unknown> | undefined
  if (typeof displayName !== 'string' || !details) return because('REQUIRED_FIELD_MISSING')
  if (!/^DATA_SOURCE_TYPE_(FIRST_PARTY|THIRD_PARTY_\w+)$/.test(String(details.dataSourceType)))
    return because('INVALID_ENUM')
  if (kind === 'MOBILE_ID' && (!details.appId || !/^(IOS|ANDROID)$/.test(String(details.keySpace)))) {
    return because('REQUIRED_FIELD_MISSING')
  }
  if (lists.some((list) => list.displayName === displayName)) return because('DISPLAY_NAME_ALREADY_USED')
  const id = String(8_000_000_001 + lists.length)
  const list = { id, displayName, uploadKeyTypes: [String(kind)], members: new Set<string>(), info: details }
  lists.push(list)
  return { json: shown(list) }
}

function change(
  lists: readonly List[],
  json: unknown,
  verb: 'ingest' | 'remove',
  blame: DataManagerServer['blame'],
): Reply {
  const { destinations, audienceMembers: members, encoding, consent, termsOfService } = json as Record<string, unknown>
  const [destination] = (destinations ?? []) as Record<string, unknown>[]
  const account = destination?.operatingAccount as Record<string, unknown> | undefined
  if (account?.accountType !== 'GOOGLE_ADS' || account.accountId !== '1234567890')
    return refusal(403, 'PERMISSION_DENIED')
  const list = lists.find(({ id }) => id === destination?.productDestinationId)
  if (!list) return because('INVALID_USER_LIST_ID')
  if (!Array.isArray(members) || members.length === 0) return because('REQUIRED_FIELD_MISSING')
  if (members.length > 10_000) return because('TOO_MANY_AUDIENCE_MEMBERS')
  const all = members as Record<string, unknown>[]
  const kinds = new Set(all.flatMap((member) => Object.keys(member)))
  if (kinds.size !== 1) return because('MULTIPLE_DATA_TYPES_NOT_ALLOWED')
  if (kinds.has('mobileData') !== list.uploadKeyTypes.includes('MOBILE_ID')) return because('INVALID_USER_LIST_TYPE')
  if (kinds.has('userData') && encoding !== 'HEX') return because('INVALID_HEX_ENCODING')
  if (verb === 'ingest') {
    const terms = (termsOfService as Record<string, unknown> | undefined)?.customerMatchTermsOfServiceStatus
    if (terms !== 'ACCEPTED') return because('TERMS_AND_CONDITIONS_NOT_SIGNED')
  } else if (termsOfService !== undefined || consent !== undefined) return because('UNKNOWN_FIELD')
  for (const value of Object.values((consent ?? {}) as Record<string, string>)) {
    if (!/^CONSENT_(GRANTED|DENIED)$/.test(value)) return because('INVALID_ENUM')
  }
  const bad = all.flatMap((member, index) => {
    const reason = reasonOf(member)
    return reason ? [violation(blame.path(index), reason)] : []
  })
  if (bad.length > 0) return violations(bad.slice(0, blame.most))
  for (const member of all) {
    if (verb === 'ingest') list.members.add(JSON.stringify(member))
    else list.members.delete(JSON.stringify(member))
  }
  return { json: { requestId: 'request-1' } }
}

/** What is wrong with a member. `99999999…` stands for digests of which Google alone knows what is wrong. */
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
