import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform, type PlatformClient } from '../platform-api/client.ts'
import { listIn, objectIn } from '../platform-api/json.ts'
import { waitMsOf } from '../platform-api/rate-limit.ts'

/** The address that the connector names, without its path. Throws `invalid_address` where it is none. */
export function originOf({ secrets }: ConnectorContext): string {
  const text = String(secrets.apiUrl ?? '').trim()
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isAddress = url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.search === ''
  if (isAddress && /^\/?(api\/3\/?)?$/.test(url.pathname)) return url.origin
  const message =
    'API URL must be the address that the developer settings of ActiveCampaign show: https://your-account.api-us1.com'
  throw new ConnectorError('invalid_address', message)
}

/** ActiveCampaign's API v3, with the key of the connector. */
export function openActiveCampaign(context: ConnectorContext): PlatformClient {
  return openPlatform(context, {
    name: 'ActiveCampaign',
    baseUrl: `${originOf(context)}/api/3`,
    headers: { 'api-token': String(context.secrets.apiKey ?? '') },
    errorOf,
  })
}

/** What an answer means. Its words are left out: they may quote what was sent. */
function errorOf(answer: Answer): ConnectorError | undefined {
  const { status } = answer
  if (status === 401 || status === 403) {
    const message = `ActiveCampaign does not accept the API key (status ${status}), or its user may not manage contacts; check both.`
    return new ConnectorError('invalid_credentials', message)
  }
  if (status === 402) {
    const message = 'ActiveCampaign does not serve the account, because of an unpaid bill (status 402).'
    return new ConnectorError('account_restricted', message)
  }
  if (status === 404) {
    const message = 'There is no ActiveCampaign account at the API URL (status 404); check it.'
    return new ConnectorError('invalid_address', message)
  }
  if (status !== 400 && status !== 422) return undefined
  const reasons = listIn(objectIn(answer.json).failureReasons)
  if (reasons.some((reason) => typeof reason === 'string' && /rate limit/i.test(reason))) {
    const message = `ActiveCampaign limits how often may be imported (status ${status}).`
    return new ConnectorError('rate_limited', message, { afterMs: waitMsOf(answer) ?? 60_000 })
  }
  return new ConnectorError('invalid_batch', `ActiveCampaign refuses the contacts (status ${status}).`)
}
