import { ConnectorError, secret, text } from '@penstock/connector'
import { restApi } from '../kit/api.ts'
import { day, dimension, metric, ofAccount, type ReportColumn } from '../kit/report-columns.ts'
import type { ReportRequest } from '../kit/report-facts.ts'
import { rowsIn } from '../kit/report-rows.ts'
import { reportSource } from '../kit/report-source.ts'
import type { Answer } from '../platform-api/call.ts'
import type { PlatformCall, PlatformClient } from '../platform-api/client.ts'
import { type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { appleAds } from './platform.ts'

/** Apple's Ads Platform API. */
const api = restApi({
  name: 'Apple Ads',
  baseUrl: 'https://api.ads.apple.com/v1',
  errors: {
    codeAt: 'error.code',
    statuses: {
      400: ['request_refused', 'Check the level and the breakdowns.'],
      401: [
        'expired_credentials',
        'Check the keys of the API user in Apple Ads, and save them in the connector again.',
      ],
      403: ['permission_denied', 'The API user needs a role in the ad account.'],
      404: ['object_not_found', 'Check the IDs of the ad accounts.'],
      410: ['version_retired', 'It was version 1 of the Ads Platform API; update this service.'],
    },
  },
})

const pageRows = 1_000
/** The reports, by level. */
const reports: Readonly<Record<string, string>> = {
  campaign: 'campaigns',
  ad_group: 'adgroups',
  ad: 'ads',
  keyword: 'keywords',
  search_term: 'searchterms',
}
/** All campaigns together, which only the report of campaigns supports. */
const all = 'all'
const ofCampaigns = ['campaign', 'ad_group']
const ofTerms = [...ofCampaigns, 'keyword', 'search_term']

const context = (account: string) => ({ 'x-ap-context': `adAccountId=${account}` })

/** A page of a report. Apple has figures by day only for more than one day. @param campaign the only campaign; all if absent */
const query = (
  level: string,
  { account, from, to, asks }: ReportRequest,
  { campaign, offset, isByDay }: { campaign: string | undefined; offset: number; isByDay: boolean },
): PlatformCall => ({
  method: 'POST',
  path: `/reports/apps/${reports[level]}/query`,
  repeatable: true,
  headers: context(account),
  // A campaign without keywords has no report of them.
  expects: hasNoKeywords,
  body: {
    timeRange: { start: from, end: to, timeZone: 'ORTZ', ...(isByDay && from !== to && { granularity: 'DAILY' }) },
    ...(campaign !== undefined && { filters: [{ field: 'campaignId', operator: 'EQUALS', value: [campaign] }] }),
    ...(isByDay && asks.breakdowns.length > 0 && { groupBy: asks.breakdowns }),
    pagination: { offset, pageSize: pageRows },
  },
})

const hasNoKeywords = ({ status, text: body }: Answer): boolean =>
  status === 400 && /does not contain keyword/i.test(body)

const entriesIn = (answer: Answer): readonly JsonObject[] | undefined =>
  hasNoKeywords(answer) ? [] : rowsIn(objectIn(objectIn(answer.json).result).rows)

/** The campaigns that had figures on these days, deleted ones included. */
async function campaignsOf(client: PlatformClient, to: ReportRequest): Promise<string[]> {
  if (to.level === 'campaign') return [all]
  const found: string[] = []
  for (let offset = 0; ; offset += pageRows) {
    const entries = entriesIn(
      await client.askObject(query('campaign', to, { campaign: undefined, offset, isByDay: false })),
    )
    if (!entries) throw new ConnectorError('malformed_response', 'Apple Ads did not answer with a report.')
    found.push(...entries.flatMap((entry) => textIn(objectIn(entry.metadata).id) ?? []))
    if (entries.length < pageRows) return found
  }
}

/** The rows of an entity: one for each day, with its properties. */
function rowsOf(
  { metadata, granularMetrics, totalMetrics }: JsonObject,
  { level, from, to }: ReportRequest,
): JsonObject[] {
  const about = objectIn(metadata)
  const keyword = objectIn(about.keyword)
  const named = {
    ...about,
    ...(level === 'ad' && { adId: about.id }),
    campaign_id: level === 'campaign' ? about.id : about.campaignId,
    ad_group_id: level === 'ad_group' ? about.id : about.adGroupId,
    // A key needs a value: Apple does not name terms that few people searched, nor keywords that it chose itself.
    ...(level === 'search_term' && {
      search_term: about.searchTermText ?? '(low volume terms)',
      keyword_id: keyword.id ?? '0',
      text: keyword.text,
      matchType: keyword.matchType,
    }),
    ...(level === 'keyword' && { keyword_id: about.id }),
  }
  const figures = from === to ? [{ ...objectIn(totalMetrics), date: from }] : listIn(granularMetrics).map(objectIn)
  return figures.map((one) => ({ ...named, ...one }))
}

const money = (name: string, description: string): ReportColumn =>
  metric('money', description, { ask: null, at: `${name}.amount` })
const figure = (type: ReportColumn['type'], name: string, description: string): ReportColumn =>
  metric(type, description, { ask: null, at: name })
const about = (at: string, description: string, type: ReportColumn['type'] = 'text'): ReportColumn =>
  dimension(description, { ask: null, at, type })
const usual = ['spend', 'impressions', 'taps', 'ttr', 'total_installs', 'total_new_downloads', 'total_redownloads']

/** Result figures of Apple Ads campaigns in the App Store. */
export const appleSearchAds = reportSource({
  slug: 'apple-search-ads',
  name: 'Apple Search Ads',
  platform: appleAds,
  dataType: 'ads analytics',
  dataTypeCategory: 'reporting',
  description: 'Reads how your ads for apps in the App Store performed at Apple Ads.',
  actions: ['get'],
  notes:
    'Reads Apple’s Ads Platform API, which replaces the Campaign Management API on 26 January 2027. Invite an API user in Apple Ads, upload the public key of a key pair of the curve P-256, and enter what Apple shows. Reports go back 90 days. Reports of ad groups, ads, keywords and search terms are read campaign by campaign. Days are in the time zone of the ad account. Apple attributes an installation to a tap within 30 days. Search terms of low volume have no name, and are one row of each ad group and keyword; the keyword ID 0 stands for Search Match. Rates are fractions.',
  tested: 'Recorded answers as Apple’s documents and public clients show them; not Apple itself.',
  api: { version: 'Ads Platform API v1', ends: 'No end is known.' },
  platformApi: api,
  auth: { open: async (context) => (await import('./tokens.ts')).openAppleTokens(context) },
  secrets: {
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'Client ID of the API user, as Apple Ads shows it',
      required: true,
    }),
    teamId: text({ label: 'Team ID', description: 'Team ID of the API user, as Apple Ads shows it', required: true }),
    keyId: text({
      keepsState: 'credential',
      label: 'Key ID',
      description: 'Key ID of the API user, as Apple Ads shows it',
      required: true,
    }),
    privateKey: secret({
      label: 'Private key',
      description: 'Private key in PEM whose public key you uploaded to Apple Ads',
      required: true,
    }),
  },
  accounts: {
    label: 'Ad account IDs',
    id: /^\d{1,20}$/,
    example: '123456789',
    all: true,
    get: (account) => ({ path: `/ad-accounts/${account}`, headers: context(account) }),
    about({ json }) {
      const { name, currency, timezone } = objectIn(objectIn(json).result)
      return { name: textIn(name), currency: textIn(currency), zone: textIn(timezone) }
    },
  },
  listed: {
    accountIds: {
      kind: 'account',
      page: () => ({ path: '/acls' }),
      found: ({ json }) =>
        listIn(objectIn(objectIn(json).result).acls)
          .map((acl) => objectIn(objectIn(acl).adAccount))
          .map(({ id, name }) => ({ id, name })),
    },
  },
  always: ['date', 'ad_account_id', 'ad_account_name', 'currency'],
  levels: {
    campaign: { key: ['campaign_id'], columns: ['name', 'status', 'app_id'] },
    ad_group: { key: ['ad_group_id'], columns: ['name', 'status', 'campaign_id'] },
    ad: { key: ['ad_id'], columns: ['name', 'status', 'ad_group_id', 'campaign_id'] },
    keyword: {
      key: ['keyword_id', 'ad_group_id'],
      columns: ['keyword', 'match_type', 'status', 'ad_group_name', 'campaign_id'],
    },
    search_term: {
      key: ['search_term', 'keyword_id', 'ad_group_id'],
      columns: ['search_term_source', 'keyword', 'match_type', 'ad_group_name', 'campaign_id'],
    },
  },
  breakdowns: ['country_or_region', 'storefront', 'device_class', 'age_range', 'gender', 'admin_area', 'locality'],
  presets: {
    Campaigns: { metrics: usual },
    Keywords: { level: 'keyword', metrics: usual },
    'Search terms': { level: 'search_term', metrics: usual },
  },
  columns: {
    date: day('Day, in the time zone of the ad account', { ask: null }),
    ad_account_id: ofAccount('account', 'ID of the ad account'),
    ad_account_name: ofAccount('name', 'Name of the ad account'),
    currency: ofAccount('currency', 'Currency of the money in the row', { at: 'localSpend.currency' }),
    campaign_id: about('campaign_id', 'ID of the campaign'),
    ad_group_id: about('ad_group_id', 'ID of the ad group'),
    ad_id: about('adId', 'ID of the ad'),
    keyword_id: about('keyword_id', 'ID of the keyword; 0 for Search Match'),
    name: about('name', 'Name of the campaign, the ad group or the ad'),
    status: about('status', 'Status that the advertiser set'),
    app_id: about('promotedObjectId', 'ID of the app in the App Store'),
    ad_group_name: about('adGroup.name', 'Name of the ad group'),
    keyword: about('text', 'Text of the keyword'),
    match_type: about('matchType', 'How searches match the keyword: EXACT or BROAD'),
    search_term: about('search_term', 'Term that people searched'),
    search_term_source: about('searchTermSource', 'Where the search term comes from'),
    country_or_region: dimension('Country or region of the campaign', { ask: 'countryOrRegion' }),
    storefront: dimension('Storefront of the App Store'),
    device_class: dimension('Kind of device', { ask: 'deviceClass', levels: ofTerms }),
    age_range: dimension('Age range of the people', { ask: 'ageRange', levels: ofCampaigns }),
    gender: dimension('Gender of the people', { levels: ofCampaigns }),
    admin_area: dimension('State or region of the people', { ask: 'adminArea', levels: ofCampaigns }),
    locality: dimension('City of the people', { levels: ofCampaigns }),
    spend: money('localSpend', 'Money spent'),
    impressions: figure('whole', 'impressions', 'How often the ad was shown'),
    taps: figure('whole', 'taps', 'How often the ad was tapped'),
    ttr: figure('decimal', 'ttr', 'Share of impressions that were tapped, as a fraction'),
    average_cpt: money('cpt', 'Average cost of a tap'),
    average_cpm: money('cpm', 'Average cost of a thousand impressions'),
    total_installs: figure('whole', 'totalInstalls', 'Installations after a tap or a view'),
    total_new_downloads: figure('whole', 'totalNewDownloads', 'Installations by people who never had the app'),
    total_redownloads: figure('whole', 'totalRedownloads', 'Installations by people who had the app before'),
    total_pre_orders: figure('whole', 'totalPreOrdersPlaced', 'Pre-orders of the app'),
    total_install_rate: figure('decimal', 'totalInstallRate', 'Installations for each tap, as a fraction'),
    total_average_cpi: money('totalAvgCPI', 'Average cost of an installation'),
    tap_installs: figure('whole', 'tapInstalls', 'Installations after a tap'),
    tap_new_downloads: figure('whole', 'tapNewDownloads', 'Installations after a tap by people who never had the app'),
    tap_redownloads: figure('whole', 'tapRedownloads', 'Installations after a tap by people who had the app before'),
    tap_install_rate: figure('decimal', 'tapInstallRate', 'Installations after a tap for each tap, as a fraction'),
    tap_install_cpi: money('tapInstallCPI', 'Average cost of an installation after a tap'),
    view_installs: figure('whole', 'viewInstalls', 'Installations after a view'),
    view_new_downloads: figure(
      'whole',
      'viewNewDownloads',
      'Installations after a view by people who never had the app',
    ),
    view_redownloads: figure('whole', 'viewRedownloads', 'Installations after a view by people who had the app before'),
  },
  days: { backMax: 89, lookBack: 30, chunk: 31 },
  parts: { list: campaignsOf, atOnce: 1 },
  report: {
    form: 'pages',
    page: (to, cursor = '0') => {
      const [campaign] = to.ids
      const only = campaign === all ? undefined : campaign
      return query(to.level, to, { campaign: only, offset: Number(cursor), isByDay: true })
    },
    rows: (answer, to) => entriesIn(answer)?.flatMap((entry) => rowsOf(entry, to)),
    next: (answer, { cursor = '0' }) =>
      entriesIn(answer)?.length === pageRows ? String(Number(cursor) + pageRows) : undefined,
  },
  check: { authentication: () => ({ path: '/acls' }) },
})
