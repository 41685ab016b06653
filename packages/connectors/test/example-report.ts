import { definePlatform, secret } from '@penstock/connector'
import { bearer, restApi } from '../src/kit/api.ts'
import { day, dimension, metric, ofAccount } from '../src/kit/report-columns.ts'
import type { ReportSource } from '../src/kit/report-facts.ts'
import { rowsIn } from '../src/kit/report-rows.ts'
import { objectIn, textIn } from '../src/platform-api/json.ts'

/** A made-up platform with the clicks of campaigns by day, which is asked at `/report` for an account and its first day. */
export const exampleReport: ReportSource = {
  slug: 'example-days',
  name: 'Example days',
  platform: definePlatform({ slug: 'example-ads', name: 'Example Ads', type: 'Demand-Side Platform (DSP)' }),
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads the figures of a made-up platform.',
  secrets: { token: secret({ label: 'Token', description: 'Token of the platform', required: true }) },
  platformApi: restApi({ name: 'Example', baseUrl: 'https://api.example.com' }),
  auth: bearer('token'),
  accounts: {
    label: 'Account IDs',
    id: /^\d+$/,
    example: '100',
    get: (account) => ({ path: `/accounts/${account}` }),
    about: ({ json }) => ({ zone: textIn(objectIn(json).zone) }),
  },
  levels: { campaign: { key: ['campaign'] } },
  always: ['day', 'account'],
  breakdowns: [],
  presets: { usual: { metrics: ['clicks'] } },
  columns: {
    day: day('Day of the row'),
    account: ofAccount('account', 'ID of the account'),
    campaign: dimension('ID of the campaign'),
    clicks: metric('whole', 'Clicks'),
  },
  days: { backMax: 500, lookBack: 28, chunk: 1 },
  report: {
    form: 'pages',
    page: ({ account, from }) => ({ path: '/report', query: { account, from } }),
    rows: ({ json }) => rowsIn(objectIn(json).rows),
  },
  check: { authentication: () => ({ path: '/me' }) },
}
