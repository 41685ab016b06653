import { objectIn } from '../src/platform-api/json.ts'
import { tokenRefusal, tokensOf } from './oauth-tokens.ts'
import { type Asked, changeMembers, hasOnly, header, jsonBodies, keepFirst, startRoutes } from './platform-routes.ts'
import type { PlatformServer, Reply } from './platform-server.ts'

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
function manageCustomers(what: string, { CustomerId, TopN, CustomerNameFilter }: Asked['body']): Reply {
  const named = (...ids: number[]) => ids.map((id) => ({ Id: String(id), Name: `Name ${id}` }))
  if (what === 'CustomersInfo' && TopN && CustomerNameFilter === '')
    return { json: { CustomersInfo: named(7001, 7002) } }
  if (what !== 'AccountsInfo') return fault(400, 100)
  return { json: { AccountsInfo: CustomerId === '7001' ? named(9001, 9002) : [] } }
}

export async function startMicrosoft(): Promise<MicrosoftServer> {
  const lists: List[] = []
  const conversions: MicrosoftServer['conversions'] = new Map()
  const terms = { accepted: true }
  const scope = 'https://ads.microsoft.com/msads.manage'
  const tokens = tokensOf({
    path: '/common/oauth2/v2.0/token',
    secrets: microsoftSecrets,
    prefix: 'microsoft-access-',
    expiresIn: 3600,
    scope: `${scope} offline_access`,
    more: (number) => ({ scope, refresh_token: `microsoft-refresh-${number}` }),
    refuses: { grant: tokenRefusal('invalid_request') },
    entered: 'entered-token',
  })
  const notAccepted = partial([0, 8003, 'CustomerListTermsAndConditionsNotAccepted'])
  const ofAccount = ({ path }: { path: string }) => path.startsWith('/CampaignManagement/')
  const [isCustomer, isAccount] = [
    header('customerid', microsoftSettings.customerId, fault(403, 106)),
    header('customeraccountid', microsoftSettings.accountId, fault(403, 106)),
  ]
  return startRoutes(
    {
      open: { 'GET /': { status: 404, text: 'Microsoft' }, ...tokens.routes },
      demands: [
        // As the service has it that the API comes from: such errors have the status 500.
        (asked) => (tokens.isGood(asked) ? undefined : fault(500, tokens.good === '' ? 105 : 109)),
        header('developertoken', microsoftSecrets.appDeveloperToken, fault(401, 105)),
        (asked) => (ofAccount(asked) ? (isCustomer(asked) ?? isAccount(asked)) : undefined),
        jsonBodies({ status: 415, text: '' }),
      ],
      routes: {
        'POST /CustomerManagement/v13/{what}/Query': ({ params, body }) => manageCustomers(params.what ?? '', body),
        'POST /CampaignManagement/v13/AccountProperties/Query': {
          json: { AccountProperties: [{ Name: 'MSCLKIDAutoTaggingEnabled', Value: 'true' }] },
        },
        'POST /CampaignManagement/v13/Audiences/QueryByIds': ({ body }) => query(body, lists),
        'POST /CampaignManagement/v13/Audiences': ({ body }) =>
          terms.accepted ? make(body, lists) : { json: { AudienceIds: [null], ...notAccepted } },
        'POST /CampaignManagement/v13/CustomerListUserData/Apply': ({ body }) =>
          terms.accepted || objectIn(body.CustomerListUserData).AcceptCustomerMatchTerm === true
            ? apply(body, lists)
            : { json: notAccepted },
        'POST /CampaignManagement/v13/OfflineConversions/Apply': ({ body }) => applyConversions(body, conversions),
      },
      unknown: { status: 404, text: '' },
    },
    {
      lists,
      conversions,
      refreshTokens: tokens.refreshTokens,
      rotation: tokens.rotation,
      terms,
      expireTokens: tokens.expire,
    },
  )
}

function query(body: Asked['body'], lists: readonly List[]): Reply {
  const { AudienceIds: ids, Type: type } = body
  if (!hasOnly(body, 'AudienceIds Type') || type !== 'CustomerList') return fault(400, 1000, 'OperationErrors')
  if (Array.isArray(ids) && (ids.length === 0 || ids.length > 100)) return fault(400, 1001, 'OperationErrors')
  const shown = ({ id, name }: List) => ({ Id: id, Name: name, Type: 'CustomerList', Scope: 'Customer' })
  if (ids === null || ids === undefined) return { json: { Audiences: lists.map(shown), PartialErrors: [] } }
  const found = (ids as string[]).map((id) => lists.find((list) => list.id === id))
  return { json: { Audiences: found.map((list) => (list ? shown(list) : null)), PartialErrors: null } }
}

function make(body: Asked['body'], lists: List[]): Reply {
  const [audience, ...more] = (body.Audiences ?? []) as Record<string, unknown>[]
  if (!audience || more.length > 0 || !hasOnly(audience, 'Name Type') || audience.Type !== 'CustomerList') {
    return fault(400, 1000, 'OperationErrors')
  }
  const id = String(824_000_000_000_000 + lists.length)
  lists.push({ id, name: String(audience.Name), members: new Set() })
  return { json: { AudienceIds: [id], PartialErrors: [] } }
}

function apply(body: Asked['body'], lists: readonly List[]): Reply {
  const data = (body.CustomerListUserData ?? {}) as Record<string, unknown>
  const keys = 'ActionType AudienceId CustomerListItemSubType CustomerListItems AcceptCustomerMatchTerm'
  const { ActionType: action, AudienceId: id, CustomerListItemSubType: kind, CustomerListItems: items } = data
  if (!hasOnly(body, 'CustomerListUserData') || !hasOnly(data, keys)) return fault(400, 1000, 'OperationErrors')
  if (!['Add', 'Remove', 'Replace'].includes(String(action)) || kind !== 'Email' || typeof id !== 'string') {
    return fault(400, 1000, 'OperationErrors')
  }
  if (!Array.isArray(items) || items.length === 0 || items.length > 1000) return fault(400, 1002, 'OperationErrors')
  const list = lists.find((one) => one.id === id)
  if (!list) return { json: partial([null, 8000, 'InvalidCustomerListId']) }
  if (action === 'Replace') list.members.clear()
  // Digests that begin with `99999999` are those of which Microsoft alone knows what is wrong.
  const bad = (items as string[]).flatMap((item, at) => (/^(?!99999999)[0-9a-f]{64}$/.test(item) ? [] : [at]))
  const good = (items as string[]).filter((_, at) => !bad.includes(at))
  changeMembers(list.members, action !== 'Remove', good)
  const errors = bad.map((at): [number, number, string] => [at, 8010, 'InvalidItem'])
  return { json: errors.length === 0 ? { PartialErrors: null } : partial(...errors) }
}

const conversionKeys = `MicrosoftClickId ConversionName ConversionTime ConversionValue ConversionCurrencyCode HashedEmailAddress
  HashedPhoneNumber ExternalAttributionCredit ExternalAttributionModel`

function applyConversions(body: Asked['body'], conversions: MicrosoftServer['conversions']): Reply {
  const { OfflineConversions: all } = body
  if (!hasOnly(body, 'OfflineConversions') || !Array.isArray(all)) return fault(400, 5600, 'OperationErrors')
  if (all.length === 0 || all.length > 1000) return fault(400, 5601, 'OperationErrors')
  const errors: [number, number, string][] = []
  for (const [at, conversion] of (all as Record<string, unknown>[]).entries()) {
    if (!hasOnly(conversion, conversionKeys)) return fault(400, 1000, 'OperationErrors')
    const problem = problemOf(conversion)
    const {
      MicrosoftClickId: click,
      HashedEmailAddress: email,
      ConversionTime: time,
      ConversionName: name,
    } = conversion
    if (problem) errors.push([at, ...problem])
    else keepFirst(conversions, [click ?? email, time, name], conversion)
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
