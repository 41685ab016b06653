import { digest, each, listOf, nonEmptyText, objectOf, oneOf } from './body-schema.ts'
import { googleReportSignIn } from './google-reports.ts'
import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * The conversion adjustments of the Google Ads API v25, written from its protocol buffers: it takes the valid adjustments of a
 * request and names the others by their places. It knows every conversion but those of the order `unknown`.
 */
export type GoogleAdsServer = PlatformServer & {
  /** The recorded adjustments. */
  readonly adjustments: Adjustment[]
  /** The tokens that it has given; without them, no request is accepted. */
  readonly tokens: Set<string>
  /** An error of every adjustment from now on: `CONVERSION_EXPIRED`. */
  refuse(code: string | undefined): void
}

export const googleAdsSecrets = {
  clientId: 'ads-client',
  clientSecret: 'ads-client-secret',
  refreshToken: 'ads-refresh-token',
}
export const googleAdsCustomer = '1234567890'
/** A conversion action of a website, and one of phone calls. */
export const webAction = '1234'
export const callAction = '5678'

type Adjustment = {
  readonly adjustmentType: string
  readonly conversionAction: string
  readonly orderId?: string
  readonly adjustmentDateTime?: string
  readonly gclidDateTimePair?: object
  readonly restatementValue?: object
  readonly userIdentifiers?: readonly object[]
}

const dateTime = (value: unknown) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d$/.test(value)
const number = (value: unknown) => typeof value === 'number'
const currencyCode = (value: unknown) => typeof value === 'string' && /^[A-Z]{3}$/.test(value)
const address = objectOf(
  {
    ...each('hashedFirstName hashedLastName', digest),
    countryCode: (value) => typeof value === 'string' && /^[A-Z]{2}$/.test(value),
    postalCode: nonEmptyText,
  },
  ['hashedFirstName', 'hashedLastName', 'countryCode', 'postalCode'],
)
const identifier = (value: unknown) =>
  objectOf({ ...each('hashedEmail hashedPhoneNumber', digest), addressInfo: address })(value) &&
  Object.keys(value as object).length === 1
const schema = objectOf(
  {
    adjustmentType: oneOf('RETRACTION RESTATEMENT ENHANCEMENT'),
    ...each('conversionAction orderId userAgent', nonEmptyText),
    adjustmentDateTime: dateTime,
    gclidDateTimePair: objectOf({ gclid: nonEmptyText, conversionDateTime: dateTime }, ['gclid', 'conversionDateTime']),
    restatementValue: objectOf({ adjustedValue: number, currencyCode }, ['adjustedValue']),
    userIdentifiers: (value) => listOf(identifier)(value) && (value as unknown[]).length <= 5,
  },
  ['adjustmentType', 'conversionAction'],
)

const conversionOf = ({ conversionAction, orderId, gclidDateTimePair }: Adjustment) =>
  JSON.stringify([conversionAction, orderId ?? gclidDateTimePair])

/** The error of an adjustment; `undefined` if Google records it. */
function errorOf(one: Adjustment, recorded: readonly Adjustment[]): string | undefined {
  const { adjustmentType: type, orderId, gclidDateTimePair, restatementValue, userIdentifiers } = one
  const action = one.conversionAction.split('/').at(-1)
  if (action === callAction) return 'INVALID_CONVERSION_ACTION_TYPE'
  if (action !== webAction) return 'NO_CONVERSION_ACTION_FOUND'
  const isEnhancement = type === 'ENHANCEMENT'
  if (isEnhancement !== (userIdentifiers !== undefined)) return 'UNSUPPORTED_USER_IDENTIFIER'
  if ((type === 'RESTATEMENT') !== (restatementValue !== undefined)) return 'UNKNOWN'
  if (isEnhancement ? orderId === undefined : one.adjustmentDateTime === undefined) return 'UNKNOWN'
  if (!isEnhancement && orderId !== undefined && gclidDateTimePair) return 'GCLID_DATE_TIME_PAIR_AND_ORDER_ID_BOTH_SET'
  if (orderId === 'unknown' || (orderId ?? gclidDateTimePair) === undefined) return 'CONVERSION_NOT_FOUND'
  const earlier = recorded.filter((other) => conversionOf(other) === conversionOf(one))
  const isKnown = (kind: string) => earlier.some(({ adjustmentType }) => adjustmentType === kind)
  if (isKnown('RETRACTION')) return 'CONVERSION_ALREADY_RETRACTED'
  if (isEnhancement) return isKnown(type) ? 'CONVERSION_ALREADY_ENHANCED' : undefined
  const isRepeated = earlier.some(({ adjustmentDateTime: time }) => time === one.adjustmentDateTime)
  return type === 'RESTATEMENT' && isRepeated ? 'RESTATEMENT_ALREADY_EXISTS' : undefined
}

/** A failure as the API has it. @param places of the adjustments to blame, each with its code */
export const googleAdsFailure = (...errors: readonly (readonly [place: number | undefined, code: string])[]) => ({
  code: 3,
  message: 'Multiple errors, which may quote jane@example.com',
  details: [
    {
      '@type': 'type.googleapis.com/google.ads.googleads.v25.errors.GoogleAdsFailure',
      errors: errors.map(([index, code]) => ({
        errorCode: { conversionAdjustmentUploadError: code },
        message: 'may quote jane@example.com',
        ...(index !== undefined && {
          location: { fieldPathElements: [{ fieldName: 'conversion_adjustments', index }] },
        }),
      })),
      requestId: 'AbC-123',
    },
  ],
})

/** An answer that refuses a request as a whole. */
export const googleAdsRefusal = (status: number, code: string): Reply => ({
  status,
  json: { error: { code: status, status: 'INVALID', details: [{ errors: [{ errorCode: { requestError: code } }] }] } },
})

export async function startGoogleAds(): Promise<GoogleAdsServer> {
  const adjustments: Adjustment[] = []
  const tokens = new Set<string>()
  let refused: string | undefined
  let given = 0
  const server = await startPlatform((received: Received): Reply => {
    const { method, path, headers, json } = received
    if (`${method} ${path}` === 'GET /') return { text: 'Google' }
    if (path === '/token') {
      const isGood = new URLSearchParams(received.text).get('refresh_token') === googleAdsSecrets.refreshToken
      if (!isGood) return { status: 400, json: { error: 'invalid_grant' } }
      const token = `access-${given++}`
      tokens.add(token)
      return { json: { access_token: token, expires_in: 3599, token_type: 'Bearer' } }
    }
    if (!tokens.has(headers.authorization?.replace('Bearer ', '') ?? '')) return googleReportSignIn.revoked
    const [, customer, verb] =
      /^\/v25\/customers\/(\d+)(:uploadConversionAdjustments|\/googleAds:search)$/.exec(path) ?? []
    if (method !== 'POST' || verb === undefined) return { status: 404, json: {} }
    if (customer !== googleAdsCustomer) return googleAdsRefusal(403, 'USER_PERMISSION_DENIED')
    if (verb.endsWith('search')) {
      const conversionAction = { resourceName: 'r', id: webAction, name: 'Purchase' }
      return { json: { results: [{ conversionAction }], fieldMask: 'conversionAction.id' } }
    }
    const { conversionAdjustments: all, partialFailure, validateOnly, ...more } = json as Record<string, unknown>
    const isValid = Array.isArray(all) && all.length > 0 && all.length <= 2000 && all.every(schema)
    if (!isValid || partialFailure !== true || Object.keys(more).length > 0) return googleAdsRefusal(400, 'UNKNOWN')
    const codes = (all as Adjustment[]).map((one) => {
      const code = refused ?? errorOf(one, adjustments)
      if (code === undefined && validateOnly !== true) adjustments.push(one)
      return code
    })
    const errors = codes.flatMap((code, place): [number, string][] => (code === undefined ? [] : [[place, code]]))
    return {
      json: {
        ...(errors.length > 0 && { partialFailureError: googleAdsFailure(...errors) }),
        ...(validateOnly !== true && {
          results: all.map((one, place) => (codes[place] ? {} : { adjustmentType: one.adjustmentType })),
        }),
        jobId: '2147483648',
      },
    }
  })
  const refuse = (code: string | undefined) => {
    refused = code
  }
  return Object.assign(server, { adjustments, tokens, refuse })
}
