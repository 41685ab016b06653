import { ConnectorError, type Values } from '@penstock/connector'
import { type Auth, type RestApi, restApi } from '../kit/api.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { waitMsOf } from '../platform-api/rate-limit.ts'

const badKey = ['invalid_credentials', 'Check the API key, and whether its user may manage contacts.'] as const

/** The API v3 of an account. Throws `invalid_address` if the connector does not name its address. */
export const activeCampaignApi = ({ secrets }: { readonly secrets: Values }): RestApi =>
  restApi({
    name: 'ActiveCampaign',
    baseUrl: `${originOf(secrets)}/api/3`,
    errors: {
      statuses: {
        400: 'invalid_batch',
        401: badKey,
        402: ['account_restricted', 'It does not serve the account, because of an unpaid bill.'],
        403: badKey,
        404: ['invalid_address', 'There is no account at the API URL; check it.'],
        422: 'invalid_batch',
      },
      special(answer) {
        const reasons = [400, 422].includes(answer.status) ? listIn(objectIn(answer.json).failureReasons) : []
        if (!reasons.some((reason) => /rate limit/i.test(textIn(reason) ?? ''))) return undefined
        const message = `ActiveCampaign limits how often may be imported (status ${answer.status}).`
        return new ConnectorError('rate_limited', message, { afterMs: waitMsOf(answer) ?? 60_000 })
      },
    },
  })

export const apiKey: Auth = { header: 'api-token', secret: 'apiKey' }

/** The address that the connector names, without its path. */
function originOf({ apiUrl }: Values): string {
  const url = URL.parse(String(apiUrl ?? '').trim())
  const isAddress = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.search === ''
  if (isAddress && /^\/?(api\/3\/?)?$/.test(url.pathname)) return url.origin
  const message =
    'API URL must be the address that the developer settings of ActiveCampaign show: https://your-account.api-us1.com'
  throw new ConnectorError('invalid_address', message)
}
