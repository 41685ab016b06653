import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform, type PlatformClient } from '../platform-api/client.ts'
import { numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { type AccessTokens, openTokens } from '../platform-api/oauth.ts'
import { linkedinVersion } from './version.ts'

export const linkedinOrigin = 'https://api.linkedin.com'

/** LinkedIn's versioned marketing API, signed in with the refresh token of the connector. */
export type LinkedIn = PlatformClient & { readonly tokens: AccessTokens }

export function openLinkedIn(context: ConnectorContext): LinkedIn {
  const { clientId, clientSecret } = context.secrets
  const tokens = openTokens(context, {
    platform: 'LinkedIn',
    renewal: 'authorize the connector again, or sign in to LinkedIn again and save what it gives in the connector',
    url: 'https://www.linkedin.com/oauth/v2/accessToken',
    // The refresh token lives for a year from the sign-in on, and stays the same.
    grant: { type: 'refresh_token' },
    client: { id: String(clientId ?? ''), secret: String(clientSecret ?? '') },
  })
  const client = openPlatform(context, {
    name: 'LinkedIn',
    baseUrl: `${linkedinOrigin}/rest`,
    headers: { 'linkedin-version': linkedinVersion, 'x-restli-protocol-version': '2.0.0' },
    credentials: tokens,
    errorOf,
  })
  return { ...client, tokens }
}

/** How many elements a request may have that creates several at once. */
export const elementsMax = 5_000

/** Creates elements in one request. Resolves with the answer where it says what became of each, or is expected. */
export function createAll(
  linkedin: LinkedIn,
  path: string,
  elements: readonly unknown[],
  expects?: (answer: Answer) => boolean,
): Promise<Answer> {
  return linkedin.ask({
    method: 'POST',
    path,
    headers: { 'x-restli-method': 'BATCH_CREATE' },
    body: { elements },
    ...(expects ? { expects } : {}),
  })
}

/** What LinkedIn said of one element of a request. */
export type ElementResult = { readonly status: number; readonly code: string }

/**
 * What became of each element that was sent, in that order; `undefined` where LinkedIn does not say. Throws
 * `malformed_response` where the answer has no results at all.
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

/** Throws where the result of an element means that all of them have to come again, or that none can succeed. */
export function assertFinal(results: readonly (ElementResult | undefined)[]): void {
  for (const result of results) {
    if (!result) continue
    const { status, code } = result
    if (status === 429)
      throw new ConnectorError('rate_limited', `LinkedIn limits how often it may be called (${code}).`)
    if (status >= 500) throw new ConnectorError('platform_error', `LinkedIn has an internal error (${code}).`)
    if (status === 401) throw new ConnectorError('invalid_credentials', `${signInAgain} (${code}).`)
  }
}

export const isAccepted = (result: ElementResult | undefined): boolean =>
  result !== undefined && result.status >= 200 && result.status < 300

const signInAgain =
  'LinkedIn does not accept the access; sign in at LinkedIn again and save the new refresh token in the connector'

/** The name of an error, such as `REVOKED_ACCESS_TOKEN`; what is no name could be anything. */
export function codeIn(json: unknown): string | undefined {
  const code = textIn(objectIn(json).code)
  return code !== undefined && /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? code : undefined
}

/** What LinkedIn's own codes mean. Its words are left out: they may quote what was sent. */
function errorOf({ status, json }: Answer): ConnectorError | undefined {
  const code = codeIn(json)
  const number = numberIn(objectIn(json).serviceErrorCode)
  const named = [code, number].filter((part) => part !== undefined).join(', ')
  const shown = named === '' ? '' : ` (${named})`
  if (status === 426 || code === 'NONEXISTENT_VERSION' || code === 'VERSION_DEPRECATED') {
    const message = `LinkedIn has retired version ${linkedinVersion} of its API${shown}; update this service.`
    return new ConnectorError('version_retired', message)
  }
  if (status === 401) {
    if (number === 65601 || code === 'REVOKED_ACCESS_TOKEN') {
      const message = `The access to LinkedIn was revoked${shown}; sign in at LinkedIn again and save the new refresh token in the connector.`
      return new ConnectorError('invalid_credentials', message)
    }
    return new ConnectorError('expired_credentials', `${signInAgain}${shown}.`)
  }
  if (status === 403) {
    const message = `LinkedIn denies access${shown}; its app needs the product that this connector uses, and its user a role on the ad account other than viewer.`
    return new ConnectorError('permission_denied', message)
  }
  if (status === 409) return new ConnectorError('conflict', `LinkedIn has another change in progress${shown}.`)
  return undefined
}
