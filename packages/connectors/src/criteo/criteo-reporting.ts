import { text } from '@penstock/connector'
import { restApi } from '../kit/api.ts'
import { day, dimension, metric, ofAccount } from '../kit/report-columns.ts'
import { rowsIn } from '../kit/report-rows.ts'
import { reportSource } from '../kit/report-source.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { criteo } from './platform.ts'
import { signIn } from './sign-in.ts'
import { criteoApi, criteoVersion } from './version.ts'

/** Criteo's API for statistics. */
const api = restApi({
  name: 'Criteo',
  baseUrl: `https://api.criteo.com/${criteoVersion}`,
  errors: {
    codeAt: 'errors.code',
    codes: { 'quota-exceeded': 'rate_limited' },
    statuses: {
      400: ['request_refused', 'Check the breakdowns, the metrics, the currency and the time zone.'],
      401: ['expired_credentials', 'Sign in at Criteo again and save the new refresh token.'],
      403: ['permission_denied', 'The app needs the right to read analytics, and the consent of the advertiser.'],
      404: ['object_not_found', 'Check the IDs of the advertisers.'],
      410: ['version_retired', `It was version ${criteoVersion}; update this service.`],
      413: 'batch_too_large',
    },
  },
})

const usual = ['displays', 'clicks', 'advertiser_cost', 'click_through_rate', 'sales_pc30d', 'revenue_generated_pc30d']
const figure = (type: Parameters<typeof metric>[0], name: string, description: string) =>
  metric(type, description, { ask: name })

/** Result figures of Criteo's campaigns. */
export const criteoReporting = reportSource({
  slug: 'criteo-reporting',
  name: 'Criteo Reporting',
  platform: criteo,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads the delivery and the results of campaigns at Criteo.',
  actions: ['get'],
  notes:
    'Reads the statistics of each advertiser by day, four days at a time, as Criteo advises. Criteo attributes a day within three days and corrects it for up to five. Days are those of the time zone in the settings, UTC by default, and money is in its currency. Criteo allows 40 reports a minute, or 10 for each advertiser that consented. Other metrics of Criteo are entered by their names, such as SalesPv24h.',
  tested: 'Recorded answers that follow the OpenAPI document that Criteo publishes; not Criteo itself.',
  api: criteoApi,
  platformApi: api,
  auth: { open: async (context) => (await import('./tokens.ts')).openCriteoTokens(context) },
  secrets: signIn,
  settings: {
    currency: text({ label: 'Currency', description: 'Currency of the figures, as ISO 4217: EUR', default: 'EUR' }),
    timezone: text({
      label: 'Time zone',
      description: 'Time zone in which days begin: Europe/Paris',
      default: 'UTC',
    }),
  },
  accounts: { label: 'Advertiser IDs', id: /^\d{1,15}$/, example: '12345', all: true },
  listed: {
    accountIds: {
      kind: 'account',
      page: () => ({ path: '/advertisers/me' }),
      found: ({ json }) =>
        listIn(objectIn(json).data)
          .map(objectIn)
          .map(({ id, attributes }) => ({ id, name: objectIn(attributes).advertiserName })),
    },
  },
  always: ['day', 'advertiser_id', 'currency'],
  levels: {
    adset: { key: ['adset_id'], columns: ['adset_name', 'campaign_id', 'campaign_name'] },
    campaign: { key: ['campaign_id'], columns: ['campaign_name'] },
    advertiser: { key: [] },
  },
  breakdowns: ['device', 'os', 'category'],
  free: { metrics: { label: 'Other metrics', pattern: /^[A-Z][A-Za-z0-9]{1,80}$/, example: 'SalesPv24h' } },
  presets: {
    'Ad sets': { metrics: usual },
    Campaigns: { level: 'campaign', metrics: usual },
    Devices: { breakdowns: ['device', 'os'], metrics: usual },
  },
  columns: {
    day: day('Day, in the time zone of the settings', { ask: 'Day' }),
    advertiser_id: ofAccount('account', 'ID of the advertiser'),
    currency: dimension('Currency of the figures', { ask: null, at: 'Currency' }),
    adset_id: dimension('ID of the ad set', { ask: 'AdsetId' }),
    adset_name: dimension('Name of the ad set', { ask: 'Adset' }),
    campaign_id: dimension('ID of the campaign', { ask: 'CampaignId' }),
    campaign_name: dimension('Name of the campaign', { ask: 'Campaign' }),
    device: dimension('Kind of device', { ask: 'Device' }),
    os: dimension('Operating system', { ask: 'Os' }),
    category: dimension('Category of the products', { ask: 'Category' }),
    displays: figure('whole', 'Displays', 'How often ads were shown'),
    clicks: figure('whole', 'Clicks', 'Number of clicks'),
    advertiser_cost: figure('money', 'AdvertiserCost', 'Money spent'),
    click_through_rate: figure('decimal', 'ClickThroughRate', 'Share of displays that were clicked, as a fraction'),
    ecpm: figure('money', 'ECpm', 'Cost of a thousand displays'),
    cpc: figure('money', 'Cpc', 'Average cost of a click'),
    sales_pc30d: figure('whole', 'SalesPc30d', 'Sales within 30 days after a click'),
    sales_all_pc30d: figure('whole', 'SalesAllPc30d', 'Sales on all devices within 30 days after a click'),
    revenue_generated_pc30d: figure('money', 'RevenueGeneratedPc30d', 'Revenue within 30 days after a click'),
    exposed_users: figure('whole', 'ExposedUsers', 'Number of people who saw an ad'),
  },
  days: { backMax: 730, lookBack: 5, chunk: 4, zone: { setting: 'timezone' } },
  report: {
    form: 'pages',
    page: ({ account, from, to, zone, asks, context: { settings } }) => ({
      method: 'POST',
      path: '/statistics/report',
      repeatable: true,
      body: {
        advertiserIds: account,
        dimensions: [...asks.always, ...asks.level, ...asks.breakdowns],
        metrics: asks.metrics,
        startDate: from,
        endDate: to,
        timezone: zone,
        currency: textIn(settings.currency) ?? 'EUR',
        format: 'json',
      },
    }),
    rows: ({ json }, { context: { settings } }) =>
      rowsIn(objectIn(json).Rows)?.map((row) => ({ Currency: textIn(settings.currency) ?? 'EUR', ...row })),
  },
  check: { authentication: () => ({ path: '/advertisers/me' }) },
})
