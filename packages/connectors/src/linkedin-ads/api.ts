import { ConnectorError } from '@penstock/connector'
import { type ErrorFact, restApi } from '../kit/api.ts'
import type { Answer } from '../platform-api/call.ts'
import { numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { linkedinVersion } from './version.ts'

export const linkedinOrigin = 'https://api.linkedin.com'

const isRetired: ErrorFact = ['version_retired', `It was version ${linkedinVersion}; update this service.`]
const isRevoked: ErrorFact = [
  'invalid_credentials',
  'Sign in at LinkedIn again and save the new refresh token in the connector.',
]

/** LinkedIn's versioned marketing API. */
export const linkedinMarketing = restApi({
  name: 'LinkedIn',
  baseUrl: `${linkedinOrigin}/rest`,
  headers: { 'linkedin-version': linkedinVersion, 'x-restli-protocol-version': '2.0.0' },
  errors: {
    codeAt: 'code',
    codes: {
      NONEXISTENT_VERSION: isRetired,
      VERSION_DEPRECATED: isRetired,
      REVOKED_ACCESS_TOKEN: isRevoked,
    },
    statuses: {
      401: ['expired_credentials', 'Sign in at LinkedIn again and save the new refresh token in the connector.'],
      403: [
        'permission_denied',
        'The app at LinkedIn needs the product that this connector uses, and its user a role on the ad account other than viewer.',
      ],
      409: 'conflict',
      426: isRetired,
    },
    special: ({ status, json }) =>
      status === 401 && numberIn(objectIn(json).serviceErrorCode) === 65601 ? isRevoked : undefined,
  },
})

/** The result of one element of a request that creates several. */
export type ElementResult = { readonly status: number; readonly code: string }

/**
 * The result of each sent element, in that order. `undefined` if LinkedIn does not report it. Throws `malformed_response` if
 * the answer has no results at all.
 */
export function resultsOf({ json }: Answer, sent: number): (ElementResult | undefined)[] {
  const { elements } = objectIn(json)
  if (!Array.isArray(elements)) {
    throw new ConnectorError('malformed_response', 'LinkedIn answered without the results of the elements.')
  }
  return Array.from({ length: sent }, (_, at) => {
    const element = objectIn(elements[at])
    const status = numberIn(element.status)
    if (status === undefined) return undefined
    const error = objectIn(element.error)
    const code = numberIn(error.serviceErrorCode) ?? codeIn(error)
    return { status, code: code === undefined ? `status ${status}` : `status ${status}, code ${code}` }
  })
}

/** Throws if the result of an element means that all of them must be sent again, or that no element can succeed. */
export function assertFinal(results: readonly (ElementResult | undefined)[]): void {
  for (const result of results) {
    if (!result) continue
    const { status, code } = result
    if (status === 429)
      throw new ConnectorError('rate_limited', `LinkedIn limits how often it may be called (${code}).`)
    if (status >= 500) throw new ConnectorError('platform_error', `LinkedIn has an internal error (${code}).`)
    if (status === 401) {
      const message = `LinkedIn does not accept the credentials (${code}). Sign in at LinkedIn again and save the new refresh token in the connector.`
      throw new ConnectorError('invalid_credentials', message)
    }
  }
}

export const isAccepted = (result: ElementResult | undefined): boolean =>
  result !== undefined && result.status >= 200 && result.status < 300

/** The name of an error, such as `INVALID_VALUE`. Any other text could quote what was sent. */
function codeIn(json: unknown): string | undefined {
  const code = textIn(objectIn(json).code)
  return code !== undefined && /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? code : undefined
}
