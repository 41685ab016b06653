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
  ],
})
