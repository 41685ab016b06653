import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testContext } from '@penstock/connector/acceptance'
import type { Received } from '../../test/platform-server.ts'
import { type Exchange, testReportSource } from '../../test/test-report-source.ts'
import { linkedinAnalytics } from './linkedin-analytics.ts'

const dateOf = (day: string): string => {
  const [year, month, date] = day.split('-').map(Number)
  return `(year:${year},month:${month},day:${date})`
}
const account = (id: string, answer: Exchange['answer']): Exchange => ({ path: `/rest/adAccounts/${id}`, answer })
const analytics = (
  { from, to, pivot = 'CAMPAIGN', metrics }: { from: string; to: string; pivot?: string; metrics: string[] },
  answer: Exchange['answer'],
): Exchange => ({
  path: '/rest/adAnalytics',
  query: {
    q: 'analytics',
    pivot: `(value:${pivot})`,
    timeGranularity: '(value:DAILY)',
    accounts: 'List(urn:li:sponsoredAccount:512)',
    dateRange: `(start:${dateOf(from)},end:${dateOf(to)})`,
    fields: `dateRange,pivotValues,${metrics.join(',')}`,
  },
  headers: { 'linkedin-version': '202607', 'x-restli-protocol-version': '2.0.0' },
  answer,
})
const statistics = ({ from, to }: { from: string; to: string }, elements: unknown[]): Exchange => ({
  path: '/rest/adAnalytics',
  query: {
    q: 'statistics',
    pivots: 'List(CAMPAIGN,CREATIVE,MEMBER_SENIORITY)',
    timeGranularity: 'MONTHLY',
    accounts: 'List(urn:li:sponsoredAccount:512)',
    dateRange: `(start:${dateOf(from)},end:${dateOf(to)})`,
    fields: 'dateRange,pivotValues,impressions',
  },
  answer: { json: { elements } },
})
const element = (day: string, urn: string, figures: object) => {
  const [year, month, date] = day.split('-').map(Number)
  const at = { year, month, day: date }
  return { dateRange: { start: at, end: at }, pivotValues: [urn], ...figures }
}
const metrics = ['impressions', 'costInLocalCurrency']
const settings = { accountIds: 'urn:li:sponsoredAccount:512', startDate: '2026-03-01', endDate: '2026-03-08', metrics }
const nineteen = [
  ...['impressions', 'clicks', 'landingPageClicks', 'costInLocalCurrency', 'costInUsd', 'totalEngagements', 'likes'],
  ...['comments', 'shares', 'follows', 'externalWebsiteConversions', 'externalWebsitePostClickConversions'],
  ...['externalWebsitePostViewConversions', 'conversionValueInLocalCurrency', 'oneClickLeads'],
  ...['oneClickLeadFormOpens', 'videoStarts', 'videoViews', 'videoCompletions'],
]
const one = { from: '2026-03-01', to: '2026-03-01', pivot: 'MEMBER_JOB_TITLE' }

await testReportSource({
  connector: linkedinAnalytics,
  now: '2026-03-20T12:00:00Z',
  origins: ['https://api.linkedin.com', 'https://www.linkedin.com'],
  secrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'good' },
  wrongSecrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'bad' },
  denies: ({ path, headers, text }: Received) => {
    if (path === '/oauth/v2/accessToken') {
      const isGood = new URLSearchParams(text).get('refresh_token') === 'good'
      return isGood ? undefined : { status: 400, json: { error: 'invalid_grant' } }
    }
    return headers.authorization === 'Bearer access' ? undefined : { status: 401, json: {} }
  },
  common: [
    {
      method: 'POST',
      path: '/oauth/v2/accessToken',
      answer: { json: { access_token: 'access', expires_in: 5_184_000 } },
    },
    { path: '/rest/adAccountUsers', query: { q: 'authenticatedUser' }, answer: { json: { elements: [] } } },
    account('512', { json: { id: 512, name: 'Shop', currency: 'EUR' } }),
  ],
  reads: /adAnalytics$/,
  revoked: { status: 401, json: {} },
  failures: [
    [{ status: 400, json: { code: 'ILLEGAL_ARGUMENT' } }, 'fail', 'request_refused'],
    [{ status: 426, json: { code: 'NONEXISTENT_VERSION' } }, 'fail', 'version_retired'],
    [{ json: {} }, 'retry', 'malformed_response'],
  ],
  refused: { account: '513', exchanges: [account('513', { status: 403, json: {} })] },
  refusals: [{ status: 403, json: { code: 'ACCESS_DENIED' } }],
  transient: [],
  nextPage: 'none',
  examples: [
    {
      title: 'reads campaigns a week at a time, by an address that LinkedIn can read',
      settings,
      exchanges: [
        analytics(
          { from: '2026-03-01', to: '2026-03-07', metrics },
          {
            json: {
              elements: [
                element('2026-03-01', 'urn:li:sponsoredCampaign:7', { impressions: 10, costInLocalCurrency: '1.23' }),
                element('2026-03-02', 'urn:li:sponsoredCampaign:7', { impressions: 0 }),
              ],
            },
          },
        ),
        analytics(
          { from: '2026-03-08', to: '2026-03-08', metrics },
          { json: { elements: [element('2026-03-08', 'urn:li:sponsoredCampaign:8', { impressions: 1 })] } },
        ),
      ],
      columns: ['day', 'account_id', 'account_name', 'account_currency', 'campaign_id', ...metrics],
      rows: [
        ['2026-03-01', '512', 'Shop', 'EUR', '7', 10, '1.23'],
        ['2026-03-02', '512', 'Shop', 'EUR', '7', 0, null],
        ['2026-03-08', '512', 'Shop', 'EUR', '8', 1, null],
      ],
    },
    {
      title: 'joins the rows of several requests by what they are about',
      settings: { ...settings, level: 'job_title', endDate: '2026-03-01', metrics: nineteen },
      exchanges: [
        analytics(
          { ...one, metrics: nineteen.slice(0, 18) },
          { json: { elements: [element('2026-03-01', 'urn:li:title:100', { impressions: 4, videoViews: 2 })] } },
        ),
        analytics(
          { ...one, metrics: nineteen.slice(18) },
          { json: { elements: [element('2026-03-01', 'urn:li:title:100', { videoCompletions: 1 })] } },
        ),
      ],
      columns: ['day', 'account_id', 'account_name', 'account_currency', 'pivot_urn', 'pivot_id', ...nineteen],
      rows: [
        [
          ...['2026-03-01', '512', 'Shop', 'EUR', 'urn:li:title:100', '100'],
          ...nineteen.map((name) => ({ impressions: 4, videoViews: 2, videoCompletions: 1 })[name] ?? null),
        ],
      ],
    },
    {
      title: 'splits campaigns by two further pivots, month by month, in whole months',
      settings: {
        ...settings,
        startDate: '2026-02-10',
        endDate: '2026-03-08',
        granularity: 'Month',
        breakdowns: ['by_creative', 'by_seniority'],
        metrics: ['impressions'],
      },
      exchanges: [
        statistics({ from: '2026-02-01', to: '2026-02-28' }, [
          {
            ...element('2026-02-01', 'urn:li:sponsoredCampaign:7', { impressions: 9 }),
            pivotValues: ['urn:li:sponsoredCampaign:7', 'urn:li:sponsoredCreative:1', 'urn:li:seniority:4'],
          },
        ]),
        statistics({ from: '2026-03-01', to: '2026-03-20' }, []),
      ],
      columns: [
        ...['day', 'account_id', 'account_name', 'account_currency', 'campaign_id', 'by_creative', 'by_seniority'],
        'impressions',
      ],
      rows: [[...['2026-02-01', '512', 'Shop', 'EUR', '7', 'urn:li:sponsoredCreative:1', 'urn:li:seniority:4'], 9]],
    },
  ],
})

test('refuses breakdowns that LinkedIn refuses', async () => {
  for (const [breakdowns, message] of [
    [['by_campaign'], /The level campaign and the breakdown by_campaign are the same/],
    [['by_creative', 'by_device', 'by_country'], /takes at most 2 breakdowns; 3 are chosen/],
  ] as const) {
    const secrets = { clientId: 'app', clientSecret: 'secret', refreshToken: 'good' }
    const context = testContext({ secrets, settings: { ...settings, breakdowns } })
    await assert.rejects(async () => await linkedinAnalytics.source?.open?.(context), {
      code: 'invalid_setting',
      message,
    })
  }
})
