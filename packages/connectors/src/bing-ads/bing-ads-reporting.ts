import { ConnectorError, secret, text } from '@penstock/connector'
import { type ErrorFact, restApi } from '../kit/api.ts'
import { day, dimension, metric, ofAccount, type ReportColumn } from '../kit/report-columns.ts'
import type { ReportState } from '../kit/report-facts.ts'
import { reportSource } from '../kit/report-source.ts'
import type { Answer } from '../platform-api/call.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { bingAds } from './platform.ts'

/** The reports of Microsoft Advertising by level. */
const reports: Readonly<Record<string, string>> = {
  campaign: 'CampaignPerformanceReportRequest',
  account: 'AccountPerformanceReportRequest',
  ad_group: 'AdGroupPerformanceReportRequest',
  ad: 'AdPerformanceReportRequest',
  keyword: 'KeywordPerformanceReportRequest',
}
const states: Readonly<Record<string, ReportState>> = { Success: 'done', Error: 'failed' }
const denied: ErrorFact = [
  'permission_denied',
  'Check the IDs of the accounts, and that the user who signed in may read their reports.',
]

const unknownReport: ErrorFact = ['object_not_found', 'The report is gone.']

/** Meanings of codes of Microsoft, of the errors in its answer. */
const codes: Readonly<Record<string, ErrorFact | ConnectorError>> = {
  '0': 'platform_error',
  '105': ['invalid_credentials', 'Check the developer token and sign in to Microsoft again.'],
  '106': denied,
  '109': ['expired_credentials', 'Sign in to Microsoft again and save the new refresh token.'],
  // Microsoft counts calls by the minute.
  '117': new ConnectorError('rate_limited', 'Microsoft limits how often it may be called (code 117).', {
    afterMs: 60_000,
  }),
  '207': 'rate_limited',
  '2003': denied,
  '2004': 'platform_error',
  '2101': unknownReport,
}

function meaningOf({ json }: Answer): ErrorFact | ConnectorError | undefined {
  const { Errors, OperationErrors, BatchErrors } = objectIn(json)
  const found = [...listIn(Errors), ...listIn(OperationErrors), ...listIn(BatchErrors)]
    .map((one) => textIn(objectIn(one).Code) ?? '')
    .find((code) => Object.hasOwn(codes, code))
  return found === undefined ? undefined : codes[found]
}

const dateOf = (of: string) => {
  const [Year, Month, Day] = of.split('-').map(Number)
  return { Day, Month, Year }
}
/** A column that Microsoft names alike. */
const named = (name: string, description: string): ReportColumn => dimension(description, { ask: name })
const figure = (type: ReportColumn['type'], name: string, description: string): ReportColumn =>
  metric(type, description, { ask: name })
const usual = ['impressions', 'clicks', 'ctr', 'average_cpc', 'spend', 'conversions', 'revenue']

/** Reports of Microsoft Advertising, which was called Bing Ads. */
export const bingAdsReporting = reportSource({
  slug: 'bing-ads-reporting',
  name: 'Bing Ads Reporting',
  platform: bingAds,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads the cost and the performance of ads from Microsoft Advertising (Bing Ads).',
  actions: ['get'],
  notes:
    'Microsoft makes a report of up to 90 days of an account in the background; after a crash, reading continues with the report that is being made already. Days are in the time zone of London. Figures are restated for 30 days, conversions for up to 90. Each attribute that is read splits rows. Percentages are fractions here. Other columns are entered by their names, such as TopImpressionSharePercent. Microsoft requires a developer token.',
  tested:
    'Recorded answers that follow Microsoft’s published documentation of the Reporting API; not Microsoft itself.',
  api: { version: 'v13', ends: 'no end is announced' },
  platformApi: restApi({
    name: 'Microsoft',
    baseUrl: 'https://reporting.api.bingads.microsoft.com/Reporting/v13',
    errors: {
      statuses: {
        400: ['request_refused', 'Check the level, the breakdowns and the metrics.'],
        401: ['expired_credentials', 'Sign in to Microsoft again and save the new refresh token.'],
        403: denied,
      },
      special: meaningOf,
    },
  }),
  auth: {
    open: async (context) => {
      const { credentialsWith } = await import('../microsoft-advertising/microsoft-api.ts')
      return credentialsWith(context)
    },
  },
  secrets: {
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'ID of the application that you registered for Bing Ads',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret of that application',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Refresh token from the OAuth sign-in to Bing Ads',
      required: true,
    }),
    developerToken: secret({
      label: 'Developer token',
      description: 'Token from the developer portal of Microsoft Advertising',
      required: true,
      role: 'Source',
    }),
  },
  accounts: { label: 'Account IDs', id: /^\d{1,20}$/, example: '123456789' },
  always: ['date', 'account_id', 'account_name', 'currency'],
  levels: {
    campaign: { key: ['campaign_id'], columns: ['campaign_name', 'campaign_status'] },
    account: { key: [] },
    ad_group: { key: ['ad_group_id'], columns: ['ad_group_name', 'campaign_id', 'campaign_name'] },
    ad: { key: ['ad_id'], columns: ['ad_title', 'ad_group_id', 'ad_group_name', 'campaign_id', 'campaign_name'] },
    keyword: {
      key: ['keyword_id'],
      columns: ['keyword', 'ad_group_id', 'ad_group_name', 'campaign_id', 'campaign_name'],
    },
  },
  breakdowns: ['device_type', 'network'],
  free: {
    metrics: { label: 'Other columns', pattern: /^[A-Z][A-Za-z0-9]{1,80}$/, example: 'TopImpressionSharePercent' },
  },
  presets: {
    Campaigns: { metrics: usual },
    Keywords: { level: 'keyword', metrics: usual },
    Ads: { level: 'ad', metrics: usual },
    Devices: { breakdowns: ['device_type', 'network'], metrics: usual },
  },
  nulls: ['--'],
  columns: {
    date: day('Day, in the time zone of London', { ask: 'TimePeriod' }),
    account_id: ofAccount('account', 'ID of the account', { ask: 'AccountId' }),
    account_name: named('AccountName', 'Name of the account'),
    currency: named('CurrencyCode', 'Currency of the account, in which money is'),
    campaign_id: named('CampaignId', 'ID of the campaign'),
    campaign_name: named('CampaignName', 'Name of the campaign'),
    campaign_status: named('CampaignStatus', 'Status of the campaign'),
    ad_group_id: named('AdGroupId', 'ID of the ad group'),
    ad_group_name: named('AdGroupName', 'Name of the ad group'),
    ad_id: named('AdId', 'ID of the ad'),
    ad_title: named('AdTitle', 'Title of the ad'),
    keyword_id: named('KeywordId', 'ID of the keyword'),
    keyword: named('Keyword', 'Keyword'),
    device_type: named('DeviceType', 'Kind of device'),
    network: named('Network', 'Network on which the ad was shown'),
    impressions: figure('whole', 'Impressions', 'How often ads were shown'),
    clicks: figure('whole', 'Clicks', 'Number of clicks'),
    ctr: figure('percent', 'Ctr', 'Share of impressions that were clicked, as a fraction'),
    average_cpc: figure('money', 'AverageCpc', 'Average cost of a click'),
    spend: figure('money', 'Spend', 'Money spent, in the currency of the account'),
    conversions: figure('decimal', 'Conversions', 'Number of conversions of primary goals'),
    revenue: figure('money', 'Revenue', 'Revenue of these conversions'),
    all_conversions: figure('decimal', 'AllConversions', 'Number of all conversions'),
    all_revenue: figure('money', 'AllRevenue', 'Revenue of all conversions'),
    view_through_conversions: figure('whole', 'ViewThroughConversions', 'Conversions after a view without a click'),
  },
  days: { backMax: 1_095, lookBack: 30, chunk: 90, zone: { fixed: 'Europe/London' } },
  report: {
    form: 'file',
    start: ({ account, from, to, level, asks }) => ({
      method: 'POST',
      path: '/GenerateReport/Submit',
      headers: { customeraccountid: account },
      body: {
        ReportRequest: {
          Type: reports[level] ?? 'CampaignPerformanceReportRequest',
          ReportName: 'Penstock',
          Format: 'Csv',
          FormatVersion: '2.0',
          ExcludeReportHeader: true,
          ExcludeReportFooter: true,
          ExcludeColumnHeaders: false,
          ReturnOnlyCompleteData: false,
          Aggregation: 'Daily',
          Columns: [...asks.always, ...asks.level, ...asks.breakdowns, ...asks.metrics],
          Scope: { AccountIds: [account] },
          Time: {
            CustomDateRangeStart: dateOf(from),
            CustomDateRangeEnd: dateOf(to),
            ReportTimeZone: 'GreenwichMeanTimeDublinEdinburghLisbonLondon',
          },
        },
      },
    }),
    started: ({ json }) => textIn(objectIn(json).ReportRequestId),
    state: (ReportRequestId, { account }) => ({
      method: 'POST',
      path: '/GenerateReport/Poll',
      headers: { customeraccountid: account },
      repeatable: true,
      body: { ReportRequestId },
    }),
    stateOf: ({ json }) => states[textIn(objectIn(objectIn(json).ReportRequestStatus).Status) ?? ''] ?? 'running',
    totalMs: 2 * 60 * 60_000,
    // A report without rows has no file.
    file({ json }) {
      const url = textIn(objectIn(objectIn(json).ReportRequestStatus).ReportDownloadUrl)
      return url === undefined || url === '' ? undefined : { url }
    },
    content: { format: 'csv' },
  },
  check: {
    // A poll of no report needs credentials, and changes nothing.
    authentication: () => ({
      method: 'POST',
      path: '/GenerateReport/Poll',
      body: { ReportRequestId: '0' },
      expects: (answer) => answer.status === 400 && (meaningOf(answer) ?? unknownReport) === unknownReport,
    }),
  },
})
