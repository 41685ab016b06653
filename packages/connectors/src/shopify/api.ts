import { ConnectorError } from '@penstock/connector'
import { restApi } from '../kit/api.ts'
import type { Answer } from '../platform-api/call.ts'
import { type JsonObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'

/** Shopify releases a version each quarter and supports it for 12 months. The version is defined only here. */
export const shopifyVersion = '2026-10'

/** The header with the access token. */
export const tokenHeader = 'x-shopify-access-token'

/** A request of more points than the bucket has never fits, so no wait is longer. */
const throttleMsMax = 60_000

/** The codes of the errors of GraphQL in an answer. Other texts of Shopify can quote what was sent. */
export const codesOf = (errors: readonly JsonObject[]): readonly string[] =>
  errors
    .flatMap(({ extensions, code }) => textIn(objectIn(extensions).code) ?? textIn(code) ?? [])
    .filter((code) => /^[A-Za-z_]{2,60}$/.test(code))

/** The access scopes that an error names, such as `read_customers`. */
export function scopesIn(errors: readonly JsonObject[]): string {
  const texts = errors.flatMap(({ message, extensions }) => [message, objectIn(extensions).requiredAccess])
  const scopes = texts.flatMap((text) => (textIn(text) ?? '').match(/\b(?:read|write)_[a-z_]{1,60}\b/g) ?? [])
  return [...new Set(scopes)].slice(0, 5).join(', ')
}

/** How long until the bucket of points has what a request costs (shopify.dev, API limits). */
function throttleMs(json: unknown): number {
  const { requestedQueryCost, throttleStatus } = objectIn(objectIn(objectIn(json).extensions).cost)
  const { currentlyAvailable, restoreRate } = objectIn(throttleStatus)
  const missing = (numberIn(requestedQueryCost) ?? 100) - (numberIn(currentlyAvailable) ?? 0)
  const rate = Math.max(1, numberIn(restoreRate) ?? 50)
  return Math.min(throttleMsMax, Math.max(1_000, Math.ceil((missing / rate) * 1_000)))
}

/** The error of an answer with the errors of GraphQL, which have the status 200. */
function errorOfGraphql(answer: Answer): ConnectorError | undefined {
  const errors = listIn(objectIn(answer.json).errors).map(objectIn)
  if (errors.length === 0) return undefined
  const codes = codesOf(errors)
  const shown = codes.length === 0 ? '' : ` (${[...new Set(codes)].slice(0, 3).join(', ')})`
  const has = (...wanted: readonly string[]) => codes.some((code) => wanted.includes(code))
  if (has('THROTTLED')) {
    const message = 'Shopify limits how many points of queries an app may use at once (THROTTLED).'
    return new ConnectorError('rate_limited', message, { afterMs: throttleMs(answer.json) })
  }
  if (has('ACCESS_DENIED')) return accessDenied(scopesIn(errors))
  if (has('SHOP_INACTIVE')) {
    return new ConnectorError(
      'account_restricted',
      'The shop is not active (SHOP_INACTIVE); look at its plan in Shopify.',
    )
  }
  if (has('INTERNAL_SERVER_ERROR', 'TIMEOUT', 'SERVICE_UNAVAILABLE')) {
    return new ConnectorError('platform_error', `Shopify has an internal error${shown}.`)
  }
  if (has('MAX_COST_EXCEEDED')) {
    return new ConnectorError('request_refused', `Shopify finds the query too costly${shown}.`)
  }
  const message = `Shopify does not accept the query${shown}. It was written for version ${shopifyVersion}; update this service if Shopify has retired it.`
  return new ConnectorError('request_refused', message)
}

/** @param scopes that the token lacks, if Shopify names them */
export function accessDenied(scopes: string): ConnectorError {
  const which = scopes === '' ? 'the access scopes of this data' : scopes
  const message = `Shopify denies access (ACCESS_DENIED). Grant the app ${which} and install it again. For data about customers, the app also needs access to protected customer data.`
  return new ConnectorError('permission_denied', message)
}

/** The GraphQL Admin API. Its host belongs to the shop. */
export const shopifyApi = restApi({
  name: 'Shopify',
  baseUrl: '',
  errors: {
    special: errorOfGraphql,
    statuses: {
      401: [
        'expired_credentials',
        'Save a valid token, or the client ID and secret of an app that the shop has installed.',
      ],
      402: ['account_restricted', 'The shop is frozen until its owner pays the outstanding balance.'],
      403: ['permission_denied', 'Grant the app the access scopes of this data, and install it again.'],
      404: ['object_not_found', 'Check that “Shop” is the myshopify.com name of a shop that is there.'],
      423: ['account_restricted', 'The shop is locked; its owner can ask Shopify why.'],
      430: ['request_refused', 'Shopify took the request for an attack.'],
    },
  },
})
