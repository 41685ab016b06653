import { objectIn } from '../src/platform-api/json.ts'
import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * Microsoft's token endpoint and the Campaign Management API of Microsoft Advertising, written from its documents and the
 * models of its SDK: refresh tokens that change, the four headers, errors of items in an answer with 200, and others of the whole request.
 */

type List = { id: string; name: string; members: Set<string> }

export type MicrosoftServer = PlatformServer & {
  readonly lists: List[]
  /** Offline conversions that were kept, by what makes one the same: the first of each. */
  readonly conversions: Map<string, Record<string, unknown>>
  readonly refreshTokens: Set<string>
  /** Whether a refresh token is good for one use. */
  rotation: { oneUse: boolean }
  terms: { accepted: boolean }
  expireTokens(): void
}

export const microsoftSecrets = {
  authType: 'oauth2',
  clientId: 'microsoft-client',
  clientSecret: 'microsoft-client-secret',
  refreshToken: 'microsoft-refresh-token',
  appDeveloperToken: 'microsoft-developer-token',
}
export const microsoftSettings = { customerId: '7001', accountId: '9001' }
export const microsoftRoutes = (url: string) => ({
  'https://campaign.api.bingads.microsoft.com': url,
  'https://clientcenter.api.bingads.microsoft.com': url,
  'https://login.microsoftonline.com': url,
})

export const fault = (status: number, code: number, kind: 'Errors' | 'OperationErrors' = 'Errors'): Reply => ({
  status,
  json: {
    TrackingId: 'b2b50cf5-6b5f-4a55-a9b7-1f4a6f2a2c11',
    Type: kind === 'Errors' ? 'AdApiFaultDetail' : 'ApiFaultDetail',
    [kind]: [{ Code: code, ErrorCode: 'SomeName', Message: 'may quote jane@example.com' }],
  },
})
export const partial = (...errors: readonly [index: number | null, code: number, name: string][]) => ({
  PartialErrors: errors.map(([Index, Code, ErrorCode]) => ({
    Index,
    Code,
    ErrorCode,
    Message: 'may quote jane@example.com',
    Details: null,
    FieldPath: null,
    Type: 'BatchError',
    ForwardCompatibilityMap: null,
  })),
})

/** The customers of the user, and the accounts of one of them. */
function manageCustomers(what: string, { CustomerId, TopN, CustomerNameFilter }: Record<string, unknown>): Reply {
  const named = (...ids: number[]) => ids.map((id) => ({ Id: String(id), Name: `Name ${id}` }))
  if (what === 'CustomersInfo' && TopN && CustomerNameFilter === '')
    return { json: { CustomersInfo: named(7001, 7002) } }
  if (what !== 'AccountsInfo') return fault(400, 100)
  return { json: { AccountsInfo: CustomerId === '7001' ? named(9001, 9002) : [] } }
}

export async function startMicrosoft(): Promise<MicrosoftServer> {
  const lists: List[] = []
  const conversions: MicrosoftServer['conversions'] = new Map()
  const refreshTokens = new Set([microsoftSecrets.refreshToken])
  const rotation = { oneUse: false }
  const terms = { accepted: true }
  let tokens = 0
  let good = 'entered-token'

  function giveToken({ headers, text }: Received): Reply {
    const { grant_type, refresh_token, client_id, client_secret, scope, ...others } = Object.fromEntries(
      new URLSearchParams(text),
    )
    const refuse = (error: string): Reply => ({ status: 400, json: { error, error_description: 'may quote a secret' } })
    if (!headers['content-type']?.startsWith('application/x-www-form-urlencoded')) return refuse('invalid_request')
    if (grant_type !== 'refresh_token' || Object.keys(others).length > 0) return refuse('invalid_request')
    if (client_id !== microsoftSecrets.clientId || client_secret !== microsoftSecrets.clientSecret) {
      return { status: 401, json: { error: 'invalid_client' } }
    }
    if (scope !== 'https://ads.microsoft.com/msads.manage offline_access') return refuse('invalid_scope')
    if (!refreshTokens.has(String(refresh_token))) return refuse('invalid_grant')
    if (rotation.oneUse) refreshTokens.delete(String(refresh_token))
    good = `microsoft-access-${++tokens}`
    refreshTokens.add(`microsoft-refresh-${tokens}`)
    return {
      json: {
        token_type: 'Bearer',
        scope: 'https://ads.microsoft.com/msads.manage',
        expires_in: 3600,
        access_token: good,
        refresh_token: `microsoft-refresh-${tokens}`,
      },
    }
  }

  const server = await startPlatform((received) => {
    const { method, path, headers, json } = received
    if (`${method} ${path}` === 'GET /') return { status: 404, text: 'Microsoft' }
    if (`${method} ${path}` === 'POST /common/oauth2/v2.0/token') return giveToken(received)
    const customers = method === 'POST' && /^\/CustomerManagement\/v13\/(\w+)\/Query$/.exec(path)?.[1]
    if (!customers && (method !== 'POST' || !path.startsWith('/CampaignManagement/v13/')))
      return { status: 404, text: '' }
    // As the service has it that the API comes from: such errors have the status 500.
    if (headers.authorization !== `Bearer ${good}`) return fault(500, good === 'none' ? 105 : 109)
    if (headers.developertoken !== microsoftSecrets.appDeveloperToken) return fault(401, 105)
    if (customers) return manageCustomers(customers, (json ?? {}) as Record<string, unknown>)
    if (headers.customerid !== '7001' || headers.customeraccountid !== '9001') return fault(403, 106)
    if (headers['content-type'] !== 'application/json') return { status: 415, text: '' }
    const body = (json ?? {}) as Record<string, unknown>
    switch (path.slice('/CampaignManagement/v13'.length)) {
      case '/AccountProperties/Query':
        return { json: { AccountProperties: [{ Name: 'MSCLKIDAutoTaggingEnabled', Value: 'true' }] } }
      case '/Audiences/QueryByIds':
        return query(body, lists)
      case '/Audiences':
        return terms.accepted
          ? make(body, lists)
          : { json: { AudienceIds: [null], ...partial([0, 8003, 'CustomerListTermsAndConditionsNotAccepted']) } }
      case '/CustomerListUserData/Apply':
        return terms.accepted || objectIn(body.CustomerListUserData).AcceptCustomerMatchTerm === true
          ? apply(body, lists)
          : { json: partial([0, 8003, 'CustomerListTermsAndConditionsNotAccepted']) }
      case '/OfflineConversions/Apply':
        return applyConversions(body, conversions)
      default:
        return { status: 404, text: '' }
    }
  })
  return Object.assign(server, {
    lists,
    conversions,
    refreshTokens,
    rotation,
    terms,
    expireTokens: () => {
      good = 'none'
    },
  })
}

const hasOnly = (object: object, keys: readonly string[]): boolean =>
  Object.keys(object).every((key) => keys.includes(key))

function query(body: Record<string, unknown>, lists: readonly List[]): Reply {
  const { AudienceIds: ids, Type: type } = body
  if (!hasOnly(body, ['AudienceIds', 'Type']) || type !== 'CustomerList') return fault(400, 1000, 'OperationErrors')
  if (Array.isArray(ids) && (ids.length === 0 || ids.length > 100)) return fault(400, 1001, 'OperationErrors')
  const shown = ({ id, name }: List) => ({ Id: id, Name: name, Type: 'CustomerList', Scope: 'Customer' })
  if (ids === null || ids === undefined) return { json: { Audiences: lists.map(shown), PartialErrors: [] } }
  const found = (ids as string[]).map((id) => lists.find((list) => list.id === id))
  return { json: { Audiences: found.map((list) => (list ? shown(list) : null)), PartialErrors: null } }
}

function make(body: Record<string, unknown>, lists: List[]): Reply {
  const [audience, ...more] = (body.Audiences ?? []) as Record<string, unknown>[]
  if (!audience || more.length > 0 || !hasOnly(audience, ['Name', 'Type']) || audience.Type !== 'CustomerList') {
    return fault(400, 1000, 'OperationErrors')
  }
  const id = String(824_000_000_000_000 + lists.length)
  lists.push({ id, name: String(audience.Name), members: new Set() })
  return { json: { AudienceIds: [id], PartialErrors: [] } }
}

function apply(body: Record<string, unknown>, lists: readonly List[]): Reply {
  const data = (body.CustomerListUserData ?? {}) as Record<string, unknown>
  const keys = ['ActionType', 'AudienceId', 'CustomerListItemSubType', 'CustomerListItems', 'AcceptCustomerMatchTerm']
  const { ActionType: action, AudienceId: id, CustomerListItemSubType: kind, CustomerListItems: items } = data
  if (!hasOnly(body, ['CustomerListUserData']) || !hasOnly(data, keys)) return fault(400, 1000, 'OperationErrors')
  if (!['Add', 'Remove', 'Replace'].includes(String(action)) || kind !== 'Email' || typeof id !== 'string') {
    return fault(400, 1000, 'OperationErrors')
  }
  if (!Array.isArray(items) || items.length === 0 || items.length > 1000) return fault(400, 1002, 'OperationErrors')
  const list = lists.find((one) => one.id === id)
  if (!list) return { json: partial([null, 8000, 'InvalidCustomerListId']) }
  if (action === 'Replace') list.members.clear()
  // Digests that begin with `99999999` are those of which Microsoft alone knows what is wrong.
  const bad = (items as string[]).flatMap((item, at) => (/^(?!99999999)[0-9a-f]{64}$/.test(item) ? [] : [at]))
  for (const [at, item] of (items as string[]).entries()) {
    if (bad.includes(at)) continue
    if (action === 'Remove') list.members.delete(item)
    else list.members.add(item)
  }
  return {
    json:
      bad.length === 0
        ? { PartialErrors: null }
        : partial(...bad.map((at): [number, number, string] => [at, 8010, 'InvalidItem'])),
  }
}

const conversionKeys = [
  'MicrosoftClickId',
  'ConversionName',
  'ConversionTime',
  'ConversionValue',
  'ConversionCurrencyCode',
  'HashedEmailAddress',
  'HashedPhoneNumber',
  'ExternalAttributionCredit',
  'ExternalAttributionModel',
]

function applyConversions(body: Record<string, unknown>, conversions: MicrosoftServer['conversions']): Reply {
  const { OfflineConversions: all } = body
  if (!hasOnly(body, ['OfflineConversions']) || !Array.isArray(all)) return fault(400, 5600, 'OperationErrors')
  if (all.length === 0 || all.length > 1000) return fault(400, 5601, 'OperationErrors')
  const errors: [number, number, string][] = []
  for (const [at, conversion] of (all as Record<string, unknown>[]).entries()) {
    if (!hasOnly(conversion, conversionKeys)) return fault(400, 1000, 'OperationErrors')
    const problem = problemOf(conversion)
    if (problem) errors.push([at, ...problem])
    else {
      const {
        MicrosoftClickId: click,
        HashedEmailAddress: email,
        ConversionTime: time,
        ConversionName: name,
      } = conversion
      const key = JSON.stringify([click ?? email, time, name])
      if (!conversions.has(key)) conversions.set(key, conversion)
    }
  }
  return { json: errors.length === 0 ? { PartialErrors: [] } : partial(...errors) }
}

function problemOf(conversion: Record<string, unknown>): [code: number, name: string] | undefined {
  const { MicrosoftClickId: click, ConversionName: name, ConversionTime: time, ConversionValue: value } = conversion
  const { ConversionCurrencyCode: currency, HashedEmailAddress: email, HashedPhoneNumber: phone } = conversion
  const digests = [email, phone].filter((digest) => digest !== undefined)
  if (!click && digests.length === 0) return [5603, 'OfflineConversionMicrosoftClickIdNullOrEmpty']
  if (click !== undefined && !/^[0-9a-f]{32}$/.test(String(click)))
    return [5604, 'OfflineConversionMicrosoftClickIdInvalid']
  if (!digests.every((digest) => /^[0-9a-f]{64}$/.test(String(digest)))) return [5620, 'InvalidDigest']
  if (name === 'Too new') return [5615, 'OfflineConversionNotAcceptedForGoal']
  if (name !== 'Offline sale') return [5606, 'OfflineConversionNameInvalid']
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(String(time))) return [5607, 'OfflineConversionTimeInvalid']
  if (Date.parse(String(time)) < Date.now() - 90.01 * 86_400_000) return [5609, 'OfflineConversionTimeOutOfWindow']
  if (value !== undefined && typeof value !== 'number') return [5610, 'OfflineConversionValueInvalid']
  if (currency !== undefined && !/^[A-Z]{3}$/.test(String(currency)))
    return [5611, 'OfflineConversionCurrencyCodeInvalid']
  return undefined
}
