import { type Tokens, tokenRefusal, tokensOf } from './oauth-tokens.ts'
import { type Asked, type Demand, hasOnly, header, keepFirst, onlyAt, startRoutes } from './platform-routes.ts'
import type { PlatformServer, Received, Reply } from './platform-server.ts'

/**
 * Login with Amazon and the Events API of Amazon Ads, as strict as their models: the keys and the enumerations of an event,
 * one value to a match key, digests, 500 events. Each event is listed by its place as taken or refused; what is no event at
 * all makes the whole request a bad one. Beside it the older import of conversions of Amazon DSP, with its definitions.
 */

export type AmazonServer = PlatformServer & {
  /** The stored events, by ID: the latest event with each ID. */
  readonly events: Map<string, Record<string, unknown>>
  readonly tokens: Tokens
}

export const amazonSecrets = {
  clientId: 'amzn1.application-oa2-client.1',
  clientSecret: 'amzn-client-secret',
  refreshToken: 'Atzr|refresh-token',
}
export const amazonAdvertiser = '590000000000000001'
export const amazonConversionSecrets = {
  accountId: amazonAdvertiser,
  apiClientId: amazonSecrets.clientId,
  apiScope: '1234567890123456',
  clientSecret: amazonSecrets.clientSecret,
  refreshToken: amazonSecrets.refreshToken,
}
export const amazonRoutes = (url: string): Record<string, string> =>
  Object.fromEntries(
    ['api.amazon.com', ...['', '-eu', '-fe'].map((region) => `advertising-api${region}.amazon.com`)].map((host) => [
      `https://${host}`,
      url,
    ]),
  )

/** The token endpoint of Login with Amazon. */
export const amazonTokens = (): Tokens =>
  tokensOf({
    path: '/auth/o2/token',
    secrets: amazonSecrets,
    prefix: 'Atza|access-token-of-many-',
    expiresIn: 3600,
    more: () => ({ refresh_token: amazonSecrets.refreshToken }),
    refuses: { grant: tokenRefusal('invalid_request') },
  })

export async function startAmazon(): Promise<AmazonServer> {
  const events: AmazonServer['events'] = new Map()
  const tokens = amazonTokens()
  const { apiClientId, apiScope, accountId } = amazonConversionSecrets
  const ofDefinitions =
    (demand: Demand): Demand =>
    (asked) =>
      asked.path.startsWith('/accounts/') ? demand(asked) : undefined
  const isClient = header('amazon-advertising-api-clientid', apiClientId, { status: 401 })
  const account = `/accounts/${amazonAdvertiser}/dsp/conversionDefinitions`
  return startRoutes(
    {
      open: { 'GET /': { status: 404, text: 'not found' }, ...tokens.routes },
      demands: [
        tokens.bearer({
          status: 401,
          json: { code: 'UNAUTHORIZED', message: 'Not authorized to access the resource' },
        }),
        onlyAt(/^\/accounts\/([^/]+)/, amazonAdvertiser, { status: 403, json: { message: 'may quote the account' } }),
        ofDefinitions(isClient),
        ofDefinitions(header('amazon-advertising-api-scope', apiScope, { status: 403 })),
        ofDefinitions(header('amazon-ads-accountid', accountId, { status: 403 })),
      ],
      routes: {
        'GET /v2/profiles': (asked) => isClient(asked) ?? { json: [] },
        'POST /adsApi/v1/create/events': (asked) => create(asked, events),
        [`POST ${account}/list`]: listDefinitions,
        [`POST ${account}/eventData`]: (asked) => importEvents(asked, events),
      },
      unknown: { status: 404, json: { code: 'NOT_FOUND', message: 'no such resource' } },
    },
    { events, tokens },
  )
}

function create({ headers, body }: Asked, events: AmazonServer['events']): Reply {
  if (headers['amazon-ads-clientid'] !== amazonSecrets.clientId) return { status: 401 }
  if (headers['amazon-ads-accountid'] !== amazonAdvertiser) return { status: 403, json: { code: 'FORBIDDEN' } }
  const { events: list } = body
  const isList = Array.isArray(list) && list.length > 0 && list.length <= 500 && hasOnly(body, 'events')
  if (!isList || headers['content-type'] !== 'application/json') return badRequest
  if (list.some((event) => strange(event, eventKeys) || strange(event.eventDescription, descriptionKeys))) {
    return badRequest
  }
  const success: unknown[] = []
  const error: unknown[] = []
  for (const [index, event] of list.entries()) {
    const wrong = wrongOf(event)
    if (wrong === undefined) {
      events.set(String(event.eventId), event)
      success.push({ index, event })
    } else {
      const errors = [{ code: 'INVALID_ARGUMENT', fieldLocation: wrong, message: 'may quote jane@example.com' }]
      error.push({ index, errors })
    }
  }
  return { status: 207, json: { success, error } }
}

const badRequest: Reply = { status: 400, json: { code: 'BAD_REQUEST', message: 'may quote jane@example.com' } }

const eventKeys = `eventDescription countryCode eventTime matchKeys value currencyCode unitsSold eventId consent customData
  dataProcessingOptions`
const descriptionKeys = 'name conversionType eventSource eventIngestionMethod dataSetName'
const strange = (object: unknown, keys: string): boolean =>
  typeof object !== 'object' ||
  object === null ||
  Object.entries(object).some(
    ([key, value]) => !keys.split(/\s+/).includes(key) || value === null || value === '' || isEmpty(value),
  )
const isEmpty = (value: unknown): boolean => typeof value === 'object' && Object.keys(value ?? {}).length === 0

const currencies = 'AED AUD BRL CAD CNY EUR GBP INR JPY MXN SAR SEK SGD TRY USD DKK NOK NZD'.split(' ')
const types =
  `ADD_TO_SHOPPING_CART APPLICATION CHECKOUT CONTACT LEAD OFF_AMAZON_PURCHASES MOBILE_APP_FIRST_START PAGE_VIEW
  SEARCH SIGN_UP SUBSCRIBE OTHER`.split(/\s+/)
const digested = 'EMAIL PHONE FIRST_NAME LAST_NAME ADDRESS CITY STATE POSTAL'.split(' ')
const plain = 'MAID RAMP_ID MATCH_ID'.split(' ')

/** The place of the first thing that is wrong with an event. */
function wrongOf(event: Record<string, unknown>): string | undefined {
  const { eventDescription, eventTime, countryCode, matchKeys, value, currencyCode, unitsSold, consent } = event
  const { conversionType, eventSource, eventIngestionMethod } = eventDescription as Record<string, unknown>
  const isPurchase = conversionType === 'OFF_AMAZON_PURCHASES'
  const keys = Array.isArray(matchKeys) ? matchKeys : []
  const { amazonConsent } = (consent ?? {}) as Record<string, Record<string, unknown> | undefined>
  const wrong: [string, boolean][] = [
    ['$.eventDescription.conversionType', !types.includes(String(conversionType))],
    ['$.eventDescription.eventSource', !/^(WEBSITE|ANDROID|IOS|FIRE_TV|OFFLINE)$/.test(String(eventSource))],
    [
      '$.eventDescription.eventIngestionMethod',
      !/^(SERVER_TO_SERVER|AMAZON_AD_TAG)$/.test(String(eventIngestionMethod)),
    ],
    ['$.countryCode', !/^[A-Z]{2}$/.test(String(countryCode)) || countryCode === 'UK'],
    ['$.eventTime', !/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(String(eventTime))],
    ['$.matchKeys', keys.length === 0 || keys.length > 15 || !keys.every(isMatchKey)],
    ['$.value', value !== undefined && (typeof value !== 'number' || (isPurchase && value < 0))],
    ['$.currencyCode', currencyCode !== undefined && !(isPurchase && currencies.includes(String(currencyCode)))],
    ['$.unitsSold', unitsSold !== undefined && !(isPurchase && Number.isInteger(unitsSold))],
    [
      '$.consent.amazonConsent',
      amazonConsent !== undefined && !/^(GRANTED|DENIED)$/.test(String(amazonConsent.amznUserData)),
    ],
    ['$.customData', event.customData !== undefined && !isCustomData(event.customData)],
  ]
  return wrong.find(([, applies]) => applies)?.[0]
}

const isMatchKey = ({ type, values, ...rest }: Record<string, unknown>): boolean => {
  if (Object.keys(rest).length > 0 || !Array.isArray(values) || values.length !== 1) return false
  return digested.includes(String(type)) ? /^[0-9a-f]{64}$/.test(values[0]) : plain.includes(String(type))
}

const isCustomData = (data: unknown): boolean =>
  Array.isArray(data) &&
  data.length <= 13 &&
  data.every(({ name, dataType, value, ...rest }) => {
    const isTyped = ['STRING', 'INTEGER', 'TIMESTAMP'].includes(dataType) && typeof value === 'string'
    return isTyped && /^\w+$/.test(name) && Object.keys(rest).length === 0
  })

const kindOf = ({ headers }: Received, kind: string): boolean =>
  headers.accept === kind && headers['content-type'] === kind

const definition = (id: string, name: string, conversionType: string, source = 'SERVER_TO_SERVER') => ({
  conversionDefinitionId: id,
  name,
  conversionType,
  source,
  sourceType: 'WEBSITE',
  countingMethod: 'EVERY',
  value: 1,
})
const definitions = [
  definition('581000000000000001', 'Orders', 'OFF_AMAZON_PURCHASES'),
  definition('581000000000000002', 'Leads of the shop', 'LEAD'),
  definition('581000000000000003', 'Leads of the fair', 'LEAD'),
  definition('581000000000000004', 'Orders by the tag', 'OFF_AMAZON_PURCHASES', 'AMAZON_AD_TAG'),
]

/** Two definitions to a page. */
function listDefinitions(asked: Asked): Reply {
  if (!kindOf(asked, 'application/vnd.dspconversiondefinition.v1+json')) return { status: 415 }
  const { maxResults, nextToken } = asked.body
  if (!hasOnly(asked.body, 'maxResults nextToken') || maxResults !== 100) return badRequest
  if (nextToken !== undefined && nextToken !== 'page 2') return badRequest
  return nextToken === undefined
    ? { json: { conversionDefinitions: definitions.slice(0, 2), nextToken: 'page 2' } }
    : { json: { conversionDefinitions: definitions.slice(2) } }
}

const importKeys = `name conversionDefinitionId timestamp matchKeys countryCode value currencyCode unitsSold clientDedupeId
  dataProcessingOptions`

/** Keeps the first of the events with the same ID, and counts them from 1. */
function importEvents(asked: Asked, events: AmazonServer['events']): Reply {
  if (!kindOf(asked, 'application/vnd.dspconversioneventimport.v1+json')) return { status: 415 }
  const { source, eventData } = asked.body
  const isSource = source === 'SERVER_TO_SERVER' || source === 'AMAZON_AD_TAG'
  if (!isSource || !hasOnly(asked.body, 'source eventData') || !Array.isArray(eventData)) return badRequest
  if (eventData.length === 0 || eventData.length > 100) return badRequest
  if (eventData.some((event) => strange(event, importKeys))) return badRequest
  const success: unknown[] = []
  const error: unknown[] = []
  for (const [place, event] of eventData.entries()) {
    const index = place + 1
    const wrong = wrongOfImport(event, source)
    if (wrong !== undefined) {
      const errors = [{ errorType: 'INVALID_VALUE', fieldName: wrong, message: 'may quote jane@example.com' }]
      error.push({ index, code: 'BAD_REQUEST', errors, message: 'may quote jane@example.com' })
      continue
    }
    keepFirst(events, String(event.clientDedupeId), { ...event, source })
    success.push({ index, message: 'ok' })
  }
  return { status: 207, json: { success, error } }
}

function wrongOfImport(event: Record<string, unknown>, source: unknown): string | undefined {
  const { conversionDefinitionId, timestamp, countryCode, matchKeys, value, currencyCode, unitsSold } = event
  const defined = definitions.find((one) => one.conversionDefinitionId === conversionDefinitionId)
  const keys = Array.isArray(matchKeys) ? matchKeys : []
  const isPurchase = defined?.conversionType === 'OFF_AMAZON_PURCHASES'
  const ageMs = Date.now() - Date.parse(String(timestamp))
  const wrong: [string, boolean][] = [
    ['name', typeof event.name !== 'string'],
    ['conversionDefinitionId', defined?.source !== source],
    ['timestamp', !(ageMs >= 0 && ageMs <= 7 * 86_400_000)],
    ['countryCode', !/^[A-Z]{2}$/.test(String(countryCode)) || countryCode === 'UK'],
    ['matchKeys', keys.length === 0 || !keys.every(isMatchKey)],
    ['value', value !== undefined && (typeof value !== 'number' || (isPurchase && value < 0))],
    ['currencyCode', currencyCode !== undefined && !(isPurchase && currencies.includes(String(currencyCode)))],
    ['unitsSold', unitsSold !== undefined && !(isPurchase && Number.isInteger(unitsSold))],
    ['dataProcessingOptions', !['undefined', 'LIMITED_DATA_USE'].includes(String(event.dataProcessingOptions))],
  ]
  return wrong.find(([, applies]) => applies)?.[0]
}
