import { type ErrorFact, restApi } from '../kit/api.ts'
import type { ReportAccounts } from '../kit/report-facts.ts'
import type { Answer } from '../platform-api/call.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { nextOf, pageOf } from './pages.ts'

const refused: ErrorFact = ['request_refused', 'Check the level and the metrics.']
const busy: ErrorFact = ['platform_error', 'If it persists, check the level and the metrics.']
const aboutRequest = /invalid|column|parameter|metric|level|required|supported|must/i
const unknown: ErrorFact = ['object_not_found', 'Check the IDs of the ad accounts.']

/** Pinterest's API, for connectors that read. */
export const pinterestReads = restApi({
  name: 'Pinterest',
  baseUrl: 'https://api.pinterest.com/v5',
  errors: {
    codeAt: 'code',
    // Codes 1 and 12 have the status 400, also while Pinterest cannot create a report. Code 1 is a refusal if its message names
    // what is wrong.
    codes: { '1': busy, '8': 'rate_limited', '12': busy },
    special: ({ status, json }) => {
      const { code, message } = objectIn(json)
      return status === 400 && textIn(code) === '1' && aboutRequest.test(textIn(message) ?? '') ? refused : undefined
    },
    statuses: {
      400: refused,
      401: ['expired_credentials', 'Sign in at Pinterest again and save the new tokens in the connector.'],
      403: ['permission_denied', 'The token needs the scope ads:read, and its user a role on the ad account.'],
      404: unknown,
    },
  },
})

/** The ad accounts of Pinterest. */
export const pinterestAccounts: ReportAccounts = {
  label: 'Ad account IDs',
  id: /^\d{1,20}$/,
  example: '549755885175',
  all: true,
  get: (account) => ({ path: `/ad_accounts/${account}` }),
  about({ json }) {
    const { name, currency, time_zone } = objectIn(json)
    return { name: textIn(name), currency: textIn(currency), zone: textIn(time_zone) }
  },
}

/** The list of the ad accounts. */
export const pinterestListed = {
  accountIds: {
    kind: 'account',
    page: (bookmark: string | undefined) => pageOf('/ad_accounts', bookmark),
    found: ({ json }: Answer) =>
      listIn(objectIn(json).items)
        .map(objectIn)
        .map(({ id, name }) => ({ id, name })),
    next: nextOf,
  },
} as const
