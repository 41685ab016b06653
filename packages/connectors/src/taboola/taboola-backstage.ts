import { secret, text } from '@penstock/connector'
import { restApi } from '../kit/api.ts'
import { day, dimension, metric, ofAccount } from '../kit/report-columns.ts'
import { rowsIn } from '../kit/report-rows.ts'
import { reportSource } from '../kit/report-source.ts'
import { listIn, objectIn } from '../platform-api/json.ts'
import { taboola } from './platform.ts'

/** The dimension of Taboola by which a level is read: it is its own report. */
const reports: Readonly<Record<string, string>> = {
  campaign: 'campaign_day_breakdown',
  campaign_site: 'campaign_site_day_breakdown',
  account: 'day',
}
const usual = ['clicks', 'impressions', 'visible_impressions', 'spent', 'ctr', 'cpc', 'cpa', 'cpa_actions_num']

/** Result figures of Taboola's campaigns. */
export const taboolaBackstage = reportSource({
  slug: 'taboola-backstage',
  name: 'Taboola Backstage',
  platform: taboola,
  dataType: 'Campaign',
  dataTypeCategory: 'campaign management',
  description: 'Reads how your campaigns at Taboola performed.',
  actions: ['get'],
  notes:
    'Reads the campaign summary of each account by day, 30 days at a time. Conversions are restated for about two weeks. ctr and cpa_conversion_rate are percentages at Taboola, and fractions here. Days are those of Taboola’s reports, read in the time zone of the settings.',
  tested:
    'Recorded answers that follow Taboola’s published client for Java and the code of public clients; not Taboola itself.',
  api: { version: 'Backstage API 1.0', ends: 'no end is announced' },
  platformApi: restApi({
    name: 'Taboola',
    baseUrl: 'https://backstage.taboola.com/backstage/api/1.0',
    errors: {
      statuses: {
        400: ['request_refused', 'Check the level and the days.'],
        401: ['expired_credentials', 'Check the client ID and the secret key.'],
        403: ['permission_denied', 'Check the ID of the account, and that the client may read it.'],
        404: ['object_not_found', 'Check the ID of the account.'],
      },
    },
  }),
  auth: { open: async (context) => (await import('./tokens.ts')).openTaboolaTokens(context) },
  secrets: {
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'ID of your client, found in your Taboola account',
      required: true,
    }),
    clientSecret: secret({ label: 'Secret key', description: 'Secret that belongs to the client ID', required: true }),
  },
  settings: {
    timezone: text({
      label: 'Time zone',
      description: 'Time zone of the accounts at Taboola, which determines the current day: America/New_York',
      default: 'UTC',
    }),
  },
  accounts: { label: 'Account IDs', id: /^[a-z0-9][\w.-]{0,99}$/i, example: 'example-advertiser', all: true },
  listed: {
    accountIds: {
      kind: 'account',
      page: () => ({ path: '/users/current/allowed-accounts/' }),
      found: ({ json }) =>
        listIn(objectIn(json).results)
          .map(objectIn)
          .map(({ account_id: id, name }) => ({ id, name })),
    },
  },
  always: ['date', 'account_id', 'currency'],
  levels: {
    campaign: { key: ['campaign_id'], columns: ['campaign_name'] },
    campaign_site: { key: ['campaign_id', 'site_id'], columns: ['campaign_name', 'site_name'] },
    account: { key: [] },
  },
  breakdowns: [],
  presets: {
    Campaigns: { metrics: usual },
    Sites: { level: 'campaign_site', metrics: usual },
    Totals: { level: 'account', metrics: usual },
  },
  columns: {
    date: day('Day that the row covers'),
    account_id: ofAccount('account', 'ID of the account'),
    currency: dimension('Currency of the row, in which money is', { ask: null, at: 'currency' }),
    campaign_id: dimension('ID of the campaign', { ask: null, at: 'campaign' }),
    campaign_name: dimension('Name of the campaign', { ask: null, at: 'campaign_name' }),
    site_id: dimension('Site on which the ads were shown', { ask: null, at: 'site_id' }),
    site_name: dimension('Name of the site', { ask: null, at: 'site_name' }),
    clicks: metric('whole', 'Number of clicks'),
    impressions: metric('whole', 'How often ads were shown'),
    visible_impressions: metric('whole', 'How often ads were visible'),
    spent: metric('money', 'Money spent'),
    ctr: metric('percent', 'Share of impressions that were clicked, as a fraction'),
    vctr: metric('percent', 'Share of visible impressions that were clicked, as a fraction'),
    cpm: metric('money', 'Cost of a thousand impressions'),
    vcpm: metric('money', 'Cost of a thousand visible impressions'),
    cpc: metric('money', 'Average cost of a click'),
    cpa: metric('money', 'Average cost of an action'),
    cpa_actions_num: metric('whole', 'Number of actions'),
    cpa_actions_num_from_clicks: metric('whole', 'Actions after a click'),
    cpa_actions_num_from_views: metric('whole', 'Actions after a view'),
    cpa_conversion_rate: metric('percent', 'Share of clicks that led to an action, as a fraction'),
    conversions_value: metric('money', 'Value of the actions'),
    roas: metric('decimal', 'Value of the actions for each unit of money spent'),
  },
  days: { backMax: 730, lookBack: 14, chunk: 30, zone: { setting: 'timezone' } },
  report: {
    form: 'pages',
    page: ({ account, from, to, level }) => ({
      path: `/${account}/reports/campaign-summary/dimensions/${reports[level] ?? 'campaign_day_breakdown'}`,
      query: { start_date: from, end_date: to },
    }),
    rows: ({ json }) => rowsIn(objectIn(json).results),
  },
  check: { authentication: () => ({ path: '/users/current/account/' }) },
})
