import { googleReportSignIn, googleToken, googleTokens } from '../../test/google-reports.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { googleAdsReporting } from './google-ads-reporting.ts'

const search = (account: string, query: string, answer: Exchange['answer'], pageToken?: string): Exchange => ({
  method: 'POST',
  path: `/v25/customers/${account}/googleAds:search`,
  body: { query, ...(pageToken !== undefined && { pageToken }) },
  headers: { 'developer-token': 'developer', 'login-customer-id': '9998887777' },
  answer,
})
const aboutAccount =
  'SELECT customer.descriptive_name, customer.currency_code, customer.time_zone FROM customer LIMIT 1'
const select = (fields: string, from: string, days: [string, string]) =>
  `SELECT ${fields} FROM ${from} WHERE segments.date BETWEEN '${days[0]}' AND '${days[1]}'`
const campaigns =
  'segments.date, campaign.id, campaign.name, campaign.status, campaign.advertising_channel_type, segments.device, metrics.impressions, metrics.cost_micros, metrics.average_cpc'
const row = (day: string, id: string, metrics: object) => ({
  campaign: {
    resourceName: `customers/1112223333/campaigns/${id}`,
    id,
    name: `Campaign ${id}`,
    status: 'ENABLED',
    advertisingChannelType: 'SEARCH',
  },
  segments: { date: day, device: 'MOBILE' },
  metrics,
})
const settings = {
  accountIds: '111-222-3333',
  managerAccountId: '999-888-7777',
  startDate: '2026-03-01',
  endDate: '2026-03-15',
  breakdowns: ['device'],
  metrics: ['impressions', 'cost', 'average_cpc'],
}
const refusal = (status: number, errorCode: object) => ({
  status,
  json: { error: { code: status, details: [{ errors: [{ errorCode }] }] } },
})
const own = {
  accountIds: '111-222-3333',
  managerAccountId: '999-888-7777',
  startDate: '2026-03-15',
  endDate: '2026-03-15',
}
const clickFields =
  'segments.date, click_view.gclid, click_view.ad_group_ad, click_view.keyword_info.text, click_view.location_of_presence.country, click_view.location_of_presence.city, click_view.page_number, ad_group.id, ad_group.name, campaign.id, campaign.name, metrics.clicks'
const fieldMask = 'segments.date,campaign.id'

await testReportSource({
  connector: googleAdsReporting,
  ...googleReportSignIn,
  secrets: { ...googleReportSignIn.secrets, developerToken: 'developer' },
  wrongSecrets: { ...googleReportSignIn.wrongSecrets, developerToken: 'developer' },
  now: '2026-03-20T12:00:00Z',
  origins: ['https://googleads.googleapis.com', googleTokens],
  common: [
    googleToken,
    {
      path: '/v25/customers:listAccessibleCustomers',
      answer: { json: { resourceNames: ['customers/1112223333'] } },
    },
    search('1112223333', aboutAccount, {
      json: {
        results: [{ customer: { descriptiveName: 'Shop', currencyCode: 'EUR', timeZone: 'America/New_York' } }],
        fieldMask: 'customer.descriptiveName,customer.currencyCode,customer.timeZone',
      },
    }),
  ],
  reads: /googleAds:search$/,
  failures: [
    [refusal(400, { queryError: 'UNRECOGNIZED_FIELD' }), 'fail', 'request_refused'],
    [refusal(400, { requestError: 'UNSUPPORTED_VERSION' }), 'fail', 'version_retired'],
  ],
  refused: {
    account: '4445556666',
    exchanges: [search('4445556666', aboutAccount, refusal(403, { authorizationError: 'CUSTOMER_NOT_ENABLED' }))],
  },
  refusals: [
    refusal(403, { authorizationError: 'USER_PERMISSION_DENIED' }),
    refusal(400, { queryError: 'REQUESTED_METRICS_FOR_MANAGER' }),
    refusal(400, { requestError: 'INVALID_CUSTOMER_ID' }),
  ],
  transient: [
    refusal(429, { quotaError: 'RESOURCE_TEMPORARILY_EXHAUSTED' }),
    refusal(400, { quotaError: 'RESOURCE_EXHAUSTED' }),
    refusal(400, { databaseError: 'CONCURRENT_MODIFICATION' }),
    refusal(500, { internalError: 'TRANSIENT_ERROR' }),
  ],
  nextPage: { at: 'nextPageToken', rowsAt: 'results', is: 'token', emptyEnds: true },
  examples: [
    {
      title: 'reads two weeks at a time in pages; costs are in units, and counts that Google leaves out are zero',
      settings,
      exchanges: [
        search('1112223333', select(campaigns, 'campaign', ['2026-03-01', '2026-03-14']), {
          json: {
            results: [
              row('2026-03-01', '1', { impressions: '1200', costMicros: '1234567890123456789', averageCpc: 1500000.5 }),
            ],
            nextPageToken: 'more',
            fieldMask,
          },
        }),
        search(
          '1112223333',
          select(campaigns, 'campaign', ['2026-03-01', '2026-03-14']),
          { json: { results: [row('2026-03-14', '1', { impressions: '1' })], fieldMask } },
          'more',
        ),
        search('1112223333', select(campaigns, 'campaign', ['2026-03-15', '2026-03-15']), { json: { fieldMask } }),
      ],
      columns: [
        ...['date', 'customer_id', 'customer_name', 'currency', 'campaign_id', 'campaign_name', 'campaign_status'],
        ...['campaign_type', 'device', 'impressions', 'cost', 'average_cpc'],
      ],
      rows: [
        [
          ...['2026-03-01', '1112223333', 'Shop', 'EUR', '1', 'Campaign 1', 'ENABLED', 'SEARCH', 'MOBILE'],
          ...[1200, '1234567890123.456789', '1.5000005'],
        ],
        [
          ...['2026-03-14', '1112223333', 'Shop', 'EUR', '1', 'Campaign 1', 'ENABLED', 'SEARCH', 'MOBILE'],
          ...[1, '0', null],
        ],
      ],
    },
    {
      title: 'reads keywords with fields that are entered by their names',
      settings: {
        ...settings,
        endDate: '2026-03-01',
        level: 'keyword',
        breakdowns: [],
        otherBreakdowns: 'segments.hour',
        metrics: ['clicks'],
        otherMetrics: 'metrics.phone_calls',
      },
      exchanges: [
        search(
          '1112223333',
          select(
            'segments.date, ad_group.id, ad_group_criterion.criterion_id, ad_group_criterion.keyword.text, ad_group_criterion.keyword.match_type, ad_group.name, campaign.id, campaign.name, segments.hour, metrics.clicks, metrics.phone_calls',
            'keyword_view',
            ['2026-03-01', '2026-03-01'],
          ),
          {
            json: {
              results: [
                {
                  adGroup: { id: '5', name: 'Group' },
                  adGroupCriterion: { criterionId: '77', keyword: { text: 'shoes', matchType: 'EXACT' } },
                  campaign: { id: '1', name: 'Campaign 1' },
                  segments: { date: '2026-03-01', hour: 13 },
                  metrics: { clicks: '2', phoneCalls: '1' },
                },
              ],
              fieldMask,
            },
          },
        ),
      ],
      columns: [
        ...['date', 'customer_id', 'customer_name', 'currency', 'ad_group_id', 'criterion_id', 'keyword_text'],
        ...['keyword_match_type', 'ad_group_name', 'campaign_id', 'campaign_name', 'segments.hour', 'clicks'],
        'metrics.phone_calls',
      ],
      rows: [
        [
          ...['2026-03-01', '1112223333', 'Shop', 'EUR', '5', '77', 'shoes', 'EXACT', 'Group', '1', 'Campaign 1'],
          ...['13', 2, '1'],
        ],
      ],
    },
    {
      title: 'reads the clicks of one day at a time',
      settings: { ...settings, startDate: '2026-03-14', breakdowns: [], metrics: [], preset: 'Clicks' },
      exchanges: [
        search('1112223333', select(clickFields, 'click_view', ['2026-03-14', '2026-03-14']), {
          json: {
            results: [
              {
                clickView: {
                  gclid: 'Cj0',
                  adGroupAd: 'customers/1112223333/adGroupAds/5~9',
                  keywordInfo: { text: 'shoes' },
                  locationOfPresence: { country: 'geoTargetConstants/2276' },
                  pageNumber: '1',
                },
                adGroup: { id: '5', name: 'Group' },
                campaign: { id: '1', name: 'Campaign 1' },
                segments: { date: '2026-03-14' },
                metrics: { clicks: '1' },
              },
            ],
            fieldMask,
          },
        }),
        search('1112223333', select(clickFields, 'click_view', ['2026-03-15', '2026-03-15']), { json: { fieldMask } }),
      ],
      columns: [
        ...['date', 'customer_id', 'customer_name', 'currency', 'gclid', 'click_ad', 'click_keyword', 'click_country'],
        ...[
          'click_city',
          'click_page_number',
          'ad_group_id',
          'ad_group_name',
          'campaign_id',
          'campaign_name',
          'clicks',
        ],
      ],
      rows: [
        [
          ...['2026-03-14', '1112223333', 'Shop', 'EUR', 'Cj0', 'customers/1112223333/adGroupAds/5~9', 'shoes'],
          ...['geoTargetConstants/2276', null, '1', '5', 'Group', '1', 'Campaign 1', 1],
        ],
      ],
    },
    {
      title: 'reads products with their titles',
      settings: { ...settings, endDate: '2026-03-01', breakdowns: [], metrics: ['clicks'], preset: 'Products' },
      exchanges: [
        search(
          '1112223333',
          select(
            'segments.date, campaign.id, segments.product_item_id, campaign.name, segments.product_title, metrics.clicks',
            'shopping_performance_view',
            ['2026-03-01', '2026-03-01'],
          ),
          {
            json: {
              results: [
                {
                  campaign: { id: '1', name: 'Campaign 1' },
                  segments: { date: '2026-03-01', productItemId: 'sku-1', productTitle: 'Shoe' },
                  metrics: { clicks: '3' },
                },
              ],
              fieldMask,
            },
          },
        ),
      ],
      columns: [
        ...['date', 'customer_id', 'customer_name', 'currency', 'campaign_id', 'product_item_id', 'campaign_name'],
        ...['product_title', 'clicks'],
      ],
      rows: [['2026-03-01', '1112223333', 'Shop', 'EUR', '1', 'sku-1', 'Campaign 1', 'Shoe', 3]],
    },
    {
      title: 'reads a query of one’s own, to which it adds the days',
      settings: {
        ...own,
        gaqlQuery:
          "SELECT segments.date, asset.id, metrics.cost_micros,\n metrics.clicks FROM ad_group_ad_asset_view where asset.name = 'order by' ORDER BY asset.id;",
      },
      exchanges: [
        search(
          '1112223333',
          `${select('segments.date, asset.id, metrics.cost_micros, metrics.clicks', 'ad_group_ad_asset_view', [
            '2026-03-15',
            '2026-03-15',
          ])} AND asset.name = 'order by' ORDER BY asset.id`,
          {
            json: {
              results: [{ asset: { id: '8' }, segments: { date: '2026-03-15' }, metrics: { costMicros: '1500000' } }],
              fieldMask,
            },
          },
        ),
      ],
      columns: [
        ...['segments.date', 'customer_id', 'customer_name', 'currency', 'asset.id', 'metrics.cost_micros'],
        'metrics.clicks',
      ],
      rows: [['2026-03-15', '1112223333', 'Shop', 'EUR', '8', '1500000', '0']],
    },
    {
      title: 'reads a query without days whole, as it is entered',
      settings: { ...own, gaqlQuery: 'SELECT campaign.id, campaign.labels FROM campaign LIMIT 5' },
      exchanges: [
        search('1112223333', 'SELECT campaign.id, campaign.labels FROM campaign LIMIT 5', {
          json: { results: [{ campaign: { id: '1', labels: ['customers/1/labels/2'] } }], fieldMask },
        }),
      ],
      columns: ['customer_id', 'customer_name', 'currency', 'campaign.id', 'campaign.labels'],
      rows: [['1112223333', 'Shop', 'EUR', '1', '["customers/1/labels/2"]']],
    },
  ],
})
