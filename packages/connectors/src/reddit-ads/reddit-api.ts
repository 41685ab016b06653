import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform, type PlatformClient } from '../platform-api/client.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { openTokens } from '../platform-api/oauth.ts'
import { waitMsOf } from '../platform-api/rate-limit.ts'

export const redditOrigin = 'https://ads-api.reddit.com'
export const basePath = '/api/v3'

/** Reddit's Ads API v3, signed in with the refresh token of the connector, which stays the same. */
export function openReddit(context: ConnectorContext): PlatformClient {
  const { clientId, clientSecret } = context.secrets
  const tokens = openTokens(context, {
    platform: 'Reddit',
    renewal: 'authorize the connector again, or sign in to Reddit again and save what it gives in the connector',
    url: 'https://www.reddit.com/api/v1/access_token',
    grant: { type: 'refresh_token' },
    client: { id: String(clientId ?? ''), secret: String(clientSecret ?? ''), in: 'header' },
  })
  return openPlatform(context, { name: 'Reddit', baseUrl: redditOrigin + basePath, credentials: tokens, errorOf })
}

/** The path of the ad account that a setting names. */
export function accountPath(advertiserId: unknown): string {
  const id = String(advertiserId ?? '').trim()
  if (/^[A-Za-z0-9_]{1,64}$/.test(id)) return `/ad_accounts/${id}`
  throw new ConnectorError(
    'invalid_setting',
    'Advertiser ID must be the ID of an ad account at Reddit, such as a2_abc.',
  )
}

/** An audience's ID as Reddit writes it, `ca.` and a number; `undefined` for a value that is not valid in a path. */
export function audienceIdIn(value: unknown): string | undefined {
  const id = textIn(value)
  return id !== undefined && /^[A-Za-z0-9][\w.-]{0,99}$/.test(id) ? id : undefined
}

/** The path of the page that an answer names as the next one; `undefined` where it names none, or one elsewhere. */
export function nextPath(json: unknown): string | undefined {
  const next = textIn(objectIn(objectIn(json).pagination).next_url)
  if (next === undefined || !URL.canParse(next, redditOrigin)) return undefined
  const { origin, pathname, search } = new URL(next, redditOrigin)
  return origin === redditOrigin && pathname.startsWith(`${basePath}/`)
    ? pathname.slice(basePath.length) + search
    : undefined
}

/** What Reddit's answers mean. Its words are left out: they may quote what was sent. */
export function errorOf(answer: Answer): ConnectorError | undefined {
  const { status, json } = answer
  if (status === 401) {
    const message = 'Reddit does not accept the access token; sign in at Reddit again and save the new refresh token.'
    return new ConnectorError('expired_credentials', message)
  }
  if (status === 403) {
    if (isAboutContent(json))
      return new ConnectorError('invalid_batch', 'Reddit cannot read what was sent (status 403).')
    const message =
      'Reddit denies access (status 403); grant the app the scopes adsread and adsedit, and its user a role on the ad account.'
    return new ConnectorError('permission_denied', message)
  }
  if (status === 429) {
    const message = 'Reddit limits how often it may be called (status 429).'
    return new ConnectorError('rate_limited', message, { afterMs: waitMsOf(answer) ?? exhaustedMs(answer) })
  }
  if (status === 400 || status === 422) {
    return new ConnectorError('invalid_batch', `Reddit does not accept what was sent (status ${status}).`)
  }
  if (status === 404) {
    const message = 'Reddit does not know the ad account or the audience; check its ID.'
    return new ConnectorError('object_not_found', message)
  }
  return undefined
}

/** Whether a refusal that looks like one of the credentials is about the JSON that was sent. */
function isAboutContent(json: unknown): boolean {
  const { explanation, message } = objectIn(objectIn(json).error)
  return [explanation, message].some((text) => /^JSON error\b/i.test(textIn(text) ?? ''))
}

/** How long until a limit that is used up is renewed: `RateLimit: "name";r=0;t=12` says 12 seconds. */
function exhaustedMs({ headers }: Answer): number | undefined {
  const policies = (headers.get('ratelimit') ?? '').slice(0, 4_000).split(',')
  const seconds = policies
    .filter((policy) => /;\s*r=0\b/.test(policy))
    .map((policy) => Number(/;\s*t=(\d{1,6})\b/.exec(policy)?.[1] ?? 0))
  const most = Math.max(0, ...seconds)
  return most > 0 ? most * 1000 : undefined
}
