import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform, type PlatformClient } from '../platform-api/client.ts'
import { enteredToken } from '../platform-api/entered-token.ts'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { openTokens } from '../platform-api/oauth.ts'
import { type Page, pagesOf } from '../platform-api/polling.ts'

export const pinterestOrigin = 'https://api.pinterest.com'

/** Pinterest's API v5, signed in with a token that was entered or with the refresh token of the connector. */
export function openPinterest(context: ConnectorContext): PlatformClient {
  const { authType, clientId, clientSecret, accessToken } = context.secrets
  const tokens = openTokens(context, {
    platform: 'Pinterest',
    renewal: 'authorize the connector again, or sign in to Pinterest again and save what it gives in the connector',
    url: `${pinterestOrigin}/v5/oauth/token`,
    // Each answer has a new refresh token, which is good for 60 days.
    grant: { type: 'refresh_token', rotates: true },
    client: { id: String(clientId ?? ''), secret: String(clientSecret ?? ''), in: 'header' },
  })
  const entered = authType === 'api-token' ? textIn(accessToken) : undefined
  return openPlatform(context, {
    name: 'Pinterest',
    baseUrl: `${pinterestOrigin}/v5`,
    credentials: entered === undefined ? tokens : enteredToken(entered, tokens),
    errorOf,
  })
}

/** The path of the ad account that a setting names. */
export function accountPath(adAccountId: unknown): string {
  const id = String(adAccountId ?? '').trim()
  if (/^\d+$/.test(id)) return `/ad_accounts/${id}`
  throw new ConnectorError('invalid_setting', 'Ad account ID must be the number of an ad account at Pinterest.')
}

/** Goes through a list at Pinterest, page by page. */
export async function* itemsOf(
  pinterest: PlatformClient,
  path: string,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  const readPage = async (bookmark: string | undefined): Promise<Page<unknown>> => {
    const { json } = await pinterest.askObject({ path, query: { page_size: '250', bookmark } })
    return { items: listIn(json.items), next: textIn(json.bookmark) }
  }
  for await (const { items } of pagesOf(readPage)) yield* items.map(objectIn)
}

/** An ID as Pinterest writes it; `undefined` for anything else. */
export function idIn(value: unknown): string | undefined {
  const id = textIn(value)
  return id !== undefined && /^\d+$/.test(id) ? id : undefined
}

/** Codes with which Pinterest refuses records: a list that is malformed, or in which no record is valid. */
const recordCodes = [2740, 2741]
/** Codes of a customer list or an audience that is not there, or was deleted. */
const missingCodes = [1000, 1001, 1018, 1020]

/** What Pinterest's own codes mean. Its words are left out: they may quote what was sent. */
function errorOf({ status, json }: Answer): ConnectorError | undefined {
  if (status < 400) return undefined
  const code = numberIn(objectIn(json).code)
  const shown = code === undefined ? `status ${status}` : `status ${status}, code ${code}`
  if (status === 401) {
    const message = `Pinterest does not accept the access token (${shown}); sign in at Pinterest again and save the new tokens in the connector.`
    return new ConnectorError('expired_credentials', message)
  }
  if (status === 403) {
    const message = `Pinterest denies access (${shown}); the token needs the scopes ads:read and ads:write, and its user a role on the ad account that manages audiences.`
    return new ConnectorError('permission_denied', message)
  }
  if (status === 429 || status >= 500 || code === undefined) return undefined
  if (recordCodes.includes(code)) {
    return new ConnectorError('invalid_batch', `Pinterest does not accept the records (${shown}).`)
  }
  if (status === 404 || missingCodes.includes(code)) {
    const message = `Pinterest does not know the ad account, list or audience, or these credentials may not see it (${shown}); check its ID.`
    return new ConnectorError('object_not_found', message)
  }
  return new ConnectorError('request_refused', `Pinterest refused the request (${shown}).`)
}
