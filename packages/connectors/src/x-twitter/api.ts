import { restApi } from '../kit/api.ts'
import type { ReportAccounts } from '../kit/report-facts.ts'
import type { Answer } from '../platform-api/call.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'

const unknown = ['object_not_found', 'Check the IDs of the ad accounts.'] as const
const unserved = ['account_restricted', 'X does not let this ad account use its Ads API.'] as const

/** X's Ads API, for connectors that read. */
export const xReads = restApi({
  name: 'X',
  baseUrl: 'https://ads-api.x.com/12',
  errors: {
    codeAt: 'errors.code',
    codes: {
      ACCOUNT_NOT_FOUND: unknown,
      INVALID_ACCOUNT_SERVICE_LEVEL: unserved,
      ACCOUNT_LOCKED_OUT: unserved,
      // The numbers belong to X's older API.
      '88': 'rate_limited',
      '130': 'platform_unavailable',
      '131': 'platform_error',
      TOO_MANY_REQUESTS: 'rate_limited',
      RATE_LIMIT_EXCEEDED: 'rate_limited',
      INTERNAL_ERROR: 'platform_error',
      INTERNAL_SERVER_ERROR: 'platform_error',
      OVER_CAPACITY: 'platform_unavailable',
      SERVICE_UNAVAILABLE: 'platform_unavailable',
    },
    statuses: {
      400: ['request_refused', 'Check the level, the breakdown and the metrics.'],
      401: [
        'invalid_credentials',
        'Create new keys and a new access token in the developer portal and save all four in the connector.',
      ],
      403: ['permission_denied', 'The app needs access to the Ads API, and its user a role in the ad account.'],
      404: unknown,
      420: 'rate_limited',
      410: ['version_retired', 'It was version 12 of the Ads API; update this service.'],
      423: 'conflict',
    },
  },
})

export const xReadsVersion = { version: 'Ads API v12', ends: 'No end is known.' }

/** The entries of a page that are not deleted. */
const entriesIn = ({ json }: Answer) =>
  listIn(objectIn(json).data)
    .map(objectIn)
    .filter(({ deleted }) => deleted !== true)

/** The cursor of the next page. Null on the last page. */
export const nextIn = ({ json }: Answer): unknown => objectIn(json).next_cursor

/** The ad accounts of X. A funding instrument has their currency. */
export const xAccounts: ReportAccounts = {
  label: 'Account IDs',
  id: /^[a-z0-9]{1,32}$/i,
  example: '18ce54d4x5t',
  all: true,
  get: (account) => ({ path: `/accounts/${account}` }),
  about({ json }) {
    const { name, timezone } = objectIn(objectIn(json).data)
    return { name: textIn(name), zone: textIn(timezone) }
  },
  async more(client, account) {
    const path = `/accounts/${account}/funding_instruments`
    const { json } = await client.askObject({ path, query: { count: '1', with_deleted: 'true' } })
    return { currency: textIn(objectIn(listIn(json.data)[0]).currency) }
  },
}

/** The list of the ad accounts. X answers it five times in 15 minutes. */
export const xListed = {
  accountIds: {
    kind: 'account',
    page: (cursor: string | undefined) => ({ path: '/accounts', query: { count: '1000', cursor } }),
    found: (answer: Answer) => entriesIn(answer).map(({ id, name }) => ({ id, name })),
    next: nextIn,
  },
} as const
