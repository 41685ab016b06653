import { secret } from '@penstock/connector'
import { bearer, restApi } from '../../../src/kit/api.ts'
import { day, dimension, metric, ofAccount } from '../../../src/kit/report-columns.ts'
import { rowsIn } from '../../../src/kit/report-rows.ts'
import { reportSource } from '../../../src/kit/report-source.ts'
import { objectIn, textIn } from '../../../src/platform-api/json.ts'
import { exampleAds } from '../platform.ts'

/** Result figures of Example Connector. */
export const exampleConnector = reportSource({
  slug: 'example-connector',
  name: 'Example Connector',
  platform: exampleAds,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads how your ads at Example Connector performed.',
  actions: ['get'],
  notes: 'Limits, delays, and how long the platform restates its figures.',
  tested: 'Recorded answers that follow the published documentation of the platform; not the platform itself.',
  api: { version: 'v1', ends: 'No end is known.' },
  platformApi: restApi({
    name: 'Example Connector',
    baseUrl: 'https://api.example.com/v1',
    errors: {
      statuses: {
        400: ['request_refused', 'Check the level and the days.'],
        401: ['invalid_credentials', 'Create a new access token and save it in the connector.'],
        403: ['permission_denied', 'Give the user of the token access to the ad account.'],
        404: ['object_not_found', 'Check the ID of the ad account.'],
      },
    },
  }),
  auth: bearer('accessToken'),
  secrets: {
    accessToken: secret({ label: 'Access token', description: 'Token of the platform', required: true }),
  },
  accounts: {
    label: 'Ad account IDs',
    id: /^\d{1,20}$/,
    example: '12345',
    get: (account) => ({ path: `/accounts/${account}` }),
    about({ json }) {
      const { name, currency, zone } = objectIn(json)
      return { name: textIn(name), currency: textIn(currency), zone: textIn(zone) }
    },
  },
  always: ['date', 'account_id', 'currency'],
  levels: { ad: { key: ['ad_id'], columns: ['ad_name'] }, campaign: { key: ['campaign_id'] } },
  breakdowns: ['country'],
  presets: { Delivery: { metrics: ['impressions', 'spend'] } },
  columns: {
    date: day('Day of the row', { at: 'day' }),
    account_id: ofAccount('account', 'ID of the ad account'),
    currency: ofAccount('currency', 'Currency of the ad account'),
    ad_id: dimension('ID of the ad'),
    ad_name: dimension('Name of the ad'),
    campaign_id: dimension('ID of the campaign'),
    country: dimension('Country'),
    impressions: metric('whole', 'Views'),
    spend: metric('money', 'Amount spent'),
  },
  days: { backMax: 365, lookBack: 3, chunk: 2 },
  report: {
    form: 'pages',
    page: ({ account, level, from, to, asks }, cursor) => ({
      path: `/accounts/${account}/report`,
      query: { level, from, to, fields: [...asks.level, ...asks.breakdowns, ...asks.metrics].join(), cursor },
    }),
    rows: ({ json }) => rowsIn(objectIn(json).rows),
    next: ({ json }) => objectIn(json).next,
  },
  check: { authentication: () => ({ path: '/me' }) },
})
