import type { ErrorFact } from '../kit/api.ts'
import type { Answer } from '../platform-api/call.ts'
import { type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'

const denied: ErrorFact = [
  'permission_denied',
  'Check that the user may read this account, and the ID of the manager account through which they reach it.',
]
const restricted: ErrorFact = ['account_restricted', 'The account is not enabled, or was cancelled or suspended.']
const app: ErrorFact = [
  'invalid_credentials',
  'The Google Cloud project of the OAuth client has no access to this account; apply for it on the page of the Google Ads API in the Google Cloud console.',
]
const isRetired: ErrorFact = ['version_retired', 'Update this service.']

/** Codes of the Google Ads API that concern one account, the app, or limits. Any other is about the request. */
const codes: Readonly<Record<string, ErrorFact>> = {
  USER_PERMISSION_DENIED: denied,
  CUSTOMER_NOT_FOUND: ['object_not_found', 'Check the ID of the account.'],
  CUSTOMER_NOT_ENABLED: restricted,
  NOT_ADS_USER: denied,
  ACTION_NOT_PERMITTED_FOR_SUSPENDED_ACCOUNT: restricted,
  REQUESTED_METRICS_FOR_MANAGER: [
    'account_restricted',
    'It is a manager account, which has no figures: enter the IDs of its client accounts.',
  ],
  DEVELOPER_TOKEN_NOT_APPROVED: app,
  DEVELOPER_TOKEN_PROHIBITED: app,
  DEVELOPER_TOKEN_INVALID: app,
  CLOUD_PROJECT_NOT_APPROVED_FOR_PRODUCTION: app,
  OAUTH_TOKEN_INVALID: ['expired_credentials', 'Authorize the connector again, or save a new refresh token.'],
  OAUTH_TOKEN_EXPIRED: ['expired_credentials', 'Authorize the connector again, or save a new refresh token.'],
  OAUTH_TOKEN_REVOKED: ['invalid_credentials', 'Authorize the connector again, or save a new refresh token.'],
  UNSUPPORTED_VERSION: isRetired,
  RESOURCE_EXHAUSTED: 'rate_limited',
  RESOURCE_TEMPORARILY_EXHAUSTED: 'rate_limited',
  EXCESSIVE_SHORT_TERM_QUERY_RESOURCE_CONSUMPTION: 'rate_limited',
  EXCESSIVE_LONG_TERM_QUERY_RESOURCE_CONSUMPTION: 'rate_limited',
  CONCURRENT_MODIFICATION: 'platform_error',
  INTERNAL_ERROR: 'platform_error',
  TRANSIENT_ERROR: 'platform_error',
}

/** Codes of queries that are refused because of fields, which the message has in quotes. */
const ofFields = /FIELD|METRIC|SEGMENT|RESOURCE_TYPE_IN_(SELECT|WHERE)/
const quotedField = /'([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*)'/g

/**
 * The meaning of a refused query. `undefined` if the answer is not about the query. It names up to five fields. Names consist
 * of lower-case letters, digits, `_` and dots, so no value is quoted.
 */
function meaningOfQuery(errors: readonly JsonObject[]): ErrorFact | undefined {
  for (const { errorCode, message } of errors) {
    const [code = ''] = /^[A-Z_]{3,80}$/.exec(textIn(objectIn(errorCode).queryError) ?? '') ?? []
    if (code === '') continue
    const found = ofFields.test(code) ? [...(textIn(message) ?? '').matchAll(quotedField)].map(([, name]) => name) : []
    const names = [...new Set(found)].slice(0, 5).join(', ')
    if (names === '') return ['request_refused', `Check the query or the fields that are read: ${code}.`]
    const refused = code === 'UNRECOGNIZED_FIELD' ? `does not know ${names}` : `cannot combine ${names} with the rest`
    return ['request_refused', `Google Ads ${refused}. Choose other fields.`]
  }
}

/**
 * The meaning of a refusal of the Google Ads API, by the codes of its details. `undefined` leaves the decision to the status.
 */
export function meaningOfRefusal({ json }: Answer): ErrorFact | undefined {
  const errors = listIn(objectIn(objectIn(json).error).details)
    .flatMap((detail) => listIn(objectIn(detail).errors))
    .map(objectIn)
  const found = errors.flatMap(({ errorCode }) => Object.values(objectIn(errorCode))).map((code) => textIn(code) ?? '')
  return found.map(meaningOfCode).find((fact) => fact !== undefined) ?? meaningOfQuery(errors)
}

/** The meaning of one code of an error. `undefined` if it is about the request or something in it. */
export const meaningOfCode = (code: string): ErrorFact | undefined =>
  Object.hasOwn(codes, code) ? codes[code] : undefined
