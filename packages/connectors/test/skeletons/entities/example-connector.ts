import { secret } from '@penstock/connector'
import { bearer, restApi } from '../../../src/kit/api.ts'
import { entitySource } from '../../../src/kit/entity-source.ts'
import { dimension, metric, ofAccount } from '../../../src/kit/report-columns.ts'
import { rowsIn } from '../../../src/kit/report-rows.ts'
import { objectIn, textIn } from '../../../src/platform-api/json.ts'
import { exampleAds } from '../platform.ts'

/** The campaigns and ads that Example Connector has now. */
export const exampleConnector = entitySource({
  slug: 'example-connector',
  name: 'Example Connector',
  platform: exampleAds,
  dataType: 'ads management',
  dataTypeCategory: 'campaign management',
  description: 'Reads the campaigns and ads of your accounts at Example Connector.',
  actions: ['get'],
  notes: 'Limits, delays, and agreements that a person must know of before use.',
  tested: 'Recorded answers that follow the published documentation of the platform; not the platform itself.',
  api: { version: 'v1', ends: 'No end is known.' },
  secrets: {
    accessToken: secret({ label: 'Access token', description: 'Token of the platform', required: true }),
  },
  platformApi: restApi({ name: 'Example Connector', baseUrl: 'https://api.example.com' }),
  auth: bearer('accessToken'),
  accounts: {
    label: 'Account IDs',
    id: /^\d{1,10}$/,
    example: '100',
    all: true,
    get: (account) => ({ path: `/accounts/${account}` }),
    about: ({ json }) => ({ currency: textIn(objectIn(json).currency), zone: textIn(objectIn(json).zone) }),
  },
  listed: {
    accountIds: {
      kind: 'account',
      page: () => ({ path: '/accounts' }),
      found: ({ json }) => (rowsIn(objectIn(json).accounts) ?? []).map(({ id }) => ({ id })),
    },
  },
  always: ['account_id', 'currency', 'zone'],
  levels: {
    campaign: { key: ['campaign_id'], columns: ['name', 'daily_budget'] },
    ad: { key: ['ad_id'], columns: ['name', 'campaign_id'] },
  },
  columns: {
    account_id: ofAccount('account', 'ID of the account'),
    currency: ofAccount('currency', 'Currency of the account'),
    zone: ofAccount('zone', 'Time zone of the account'),
    campaign_id: dimension('ID of the campaign', { at: 'campaign' }),
    ad_id: dimension('ID of the ad', { at: 'id' }),
    name: dimension('Name'),
    daily_budget: metric('micros', 'Budget of a day', { at: 'budget' }),
  },
  report: {
    form: 'pages',
    page: ({ account, level }, cursor) => ({ path: `/accounts/${account}/${level}s`, query: { cursor } }),
    rows: ({ json }) => rowsIn(objectIn(json).items),
    next: ({ json }) => objectIn(json).next,
  },
  check: { authentication: () => ({ path: '/accounts' }) },
})
