import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform, type PlatformClient } from '../platform-api/client.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { type AccessTokens, openTokens } from '../platform-api/oauth.ts'
import { waitMsOf } from '../platform-api/rate-limit.ts'
import { criteoVersion } from './version.ts'

export const criteoOrigin = 'https://api.criteo.com'

/** Criteo's API for Commerce Growth (Marketing Solutions), signed in with the refresh token of the connector. */
export type Criteo = PlatformClient & { readonly tokens: AccessTokens }

export function openCriteo(context: ConnectorContext): Criteo {
  const { clientId, clientSecret } = context.secrets
  const tokens = openTokens(context, {
    platform: 'Criteo',
    url: `${criteoOrigin}/oauth2/token`,
    // Where an answer has a new refresh token, that is the one that counts.
    grant: { type: 'refresh_token', rotates: true },
    client: { id: String(clientId ?? ''), secret: String(clientSecret ?? '') },
  })
  const client = openPlatform(context, {
    name: 'Criteo',
    baseUrl: `${criteoOrigin}/${criteoVersion}/marketing-solutions`,
    credentials: tokens,
    errorOf,
  })
  return { ...client, tokens }
}

/** The codes of the errors in an answer; what is no code could be anything. */
export const codesOf = (json: unknown): string[] =>
  listIn(objectIn(json).errors).map((error) => {
    const code = textIn(objectIn(error).code)
    return code !== undefined && /^[a-z0-9-]{1,80}$/.test(code) ? code : 'without a code'
  })

/** What an answer means; errors come with the status 200, too. Its words are left out: they may quote what was sent. */
function errorOf(answer: Answer): ConnectorError | undefined {
  const { status, json } = answer
  const codes = codesOf(json)
  const shown = [`status ${status}`, ...codes.slice(0, 3)].join(', ')
  if (status === 410) {
    const message = `Criteo has retired version ${criteoVersion} of its API (${shown}); update this service.`
    return new ConnectorError('version_retired', message)
  }
  if (status === 401) {
    const message = `Criteo does not accept the access token (${shown}); sign in at Criteo again and save the new refresh token.`
    return new ConnectorError('expired_credentials', message)
  }
  if (status === 403) {
    const message = `Criteo denies access (${shown}); the app needs the right to manage audiences, and the consent of the advertiser.`
    return new ConnectorError('permission_denied', message)
  }
  if (status === 404) {
    const message = `Criteo does not know an audience that is named, or the app may not see it (${shown}); check its ID.`
    return new ConnectorError('object_not_found', message)
  }
  if (status === 429 || codes.includes('quota-exceeded')) {
    const message = `Criteo limits how often it may be called (${shown}).`
    return new ConnectorError('rate_limited', message, { afterMs: waitMsOf(answer) })
  }
  if (status === 400 || status === 422)
    return new ConnectorError('invalid_batch', `Criteo refuses what was sent (${shown}).`)
  if (status < 300 && codes.length > 0) {
    return new ConnectorError('request_refused', `Criteo refused the request (${shown}).`)
  }
  return undefined
}
