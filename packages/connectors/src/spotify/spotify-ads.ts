import { ConnectorError, secret, text } from '@penstock/connector'
import { restApi } from '../kit/api.ts'
import { day, dimension, metric, ofAccount, type ReportColumn } from '../kit/report-columns.ts'
import type { ReportRequest } from '../kit/report-facts.ts'
import { rowsIn } from '../kit/report-rows.ts'
import { reportSource } from '../kit/report-source.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { spotify } from './platform.ts'
import { readAccounts, spotifyId } from './read-accounts.ts'

/** Spotify's Ads API. */
const api = restApi({
  name: 'Spotify',
  baseUrl: 'https://api-partner.spotify.com/ads/v3',
  errors: {
    statuses: {
      400: ['request_refused', 'Check the level and the metrics.'],
      401: ['expired_credentials', 'Sign in to Spotify again and save the new refresh token in the connector.'],
      403: [
        'permission_denied',
        'The app needs access to the Ads API, its terms must be accepted, and the user needs a role in the ad account.',
      ],
      404: ['object_not_found', 'Check the IDs of the ad accounts.'],
      410: ['version_retired', 'It was version 3 of the Ads API; update this service.'],
    },
  },
})

const entities: Readonly<Record<string, string>> = { campaign: 'CAMPAIGN', ad_set: 'AD_SET', ad: 'AD' }
const pageRows = 50

/**
 * The campaigns of an account, for its level: a report of campaigns accepts 50 campaigns, and a report of ad sets or ads only
 * one, whose ID its rows contain.
 */
async function campaignsOf(client: PlatformClient, { account, level }: ReportRequest): Promise<string[]> {
  const found: string[] = []
  for (let offset = 0; ; offset += pageRows) {
    const { json } = await client.askObject({
      path: `/ad_accounts/${account}/campaigns`,
      query: { limit: String(pageRows), offset: String(offset), sort_field: 'ID', sort_direction: 'ASC' },
    })
    const page = rowsIn(json.campaigns)
    if (!page) throw new ConnectorError('malformed_response', 'Spotify answered with something other than campaigns.')
    found.push(...page.flatMap(({ id }) => textIn(id) ?? []))
    if (page.length < pageRows) return found.map((id) => `${level}/${id}`)
  }
}

const campaignOf = (part = ''): string => part.slice(part.indexOf('/') + 1)

/** The figures of an entity on a day. Spotify says -5 for what it withholds because there is too little of it. */
function rowOf(entity: JsonObject, { level, ids }: ReportRequest): JsonObject {
  const figures = listIn(entity.stats)
    .map(objectIn)
    .map(({ field_type, field_value }) => [textIn(field_type) ?? '', Number(field_value) === -5 ? null : field_value])
  return {
    ...Object.fromEntries(figures),
    ...entity,
    campaign: level === 'campaign' ? entity.entity_id : campaignOf(ids[0]),
  }
}

const named = (at: string, description: string): ReportColumn => dimension(description, { ask: null, at })
const figure = (type: ReportColumn['type'], ask: string, description: string): ReportColumn =>
  metric(type, description, { ask })
const usual = ['impressions', 'spend', 'clicks', 'reach', 'frequency', 'listeners', 'completes']

/** Result figures of ads on Spotify. */
export const spotifyAds = reportSource({
  slug: 'spotify-ads',
  name: 'Spotify Ads',
  platform: spotify,
  dataType: 'ads analytics',
  dataTypeCategory: 'reporting',
  description: 'Reads how your campaigns, ad sets and ads on Spotify performed.',
  actions: ['get'],
  notes:
    'Create an app in Spotify’s developer dashboard, choose the Ads API, accept its terms with the client ID, and let a user sign in who has a role in the ad account: enter the refresh token of this user. Days are in UTC, and money is in the currency of the ad account. Spotify withholds conversions if there are fewer than five: the cell is then empty. Reach and listeners cannot be added up over days. Other metrics of Spotify are entered by their names, such as PURCHASES or NEW_LISTENERS.',
  tested: 'Recorded answers as Spotify’s documents and public clients show them; not Spotify itself.',
  api: { version: 'Ads API v3', ends: 'No end is announced; Spotify gives notice of six months.' },
  platformApi: api,
  auth: { open: async (context) => (await import('./tokens.ts')).openSpotifyTokens(context) },
  secrets: {
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'ID of your app at Spotify',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that belongs to the client ID',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Token that Spotify granted to a user of the ad account at sign-in',
      required: true,
    }),
  },
  accounts: {
    label: 'Ad account IDs',
    id: spotifyId,
    example: 'ce4ff15e-f04d-48b9-9ddf-fb3c85fbd57a',
    all: true,
    normal: (id) => id.toLowerCase(),
    get: (account) => ({ path: `/ad_accounts/${account}` }),
    about({ json }) {
      const { name, currency_code } = objectIn(json)
      return { name: textIn(name), currency: textIn(currency_code) }
    },
  },
  listed: { accountIds: { kind: 'account', read: readAccounts } },
  always: ['date', 'ad_account_id', 'ad_account_name', 'currency'],
  levels: {
    campaign: { key: ['campaign_id'], columns: ['name', 'status'] },
    ad_set: { key: ['ad_set_id'], columns: ['name', 'status', 'campaign_id'] },
    ad: { key: ['ad_id'], columns: ['name', 'status', 'campaign_id'] },
  },
  breakdowns: [],
  free: { metrics: { label: 'Other metrics', pattern: /^[A-Z][A-Z0-9_]{1,80}$/, example: 'PURCHASES' } },
  presets: {
    Campaigns: { metrics: usual },
    'Ad sets': { level: 'ad_set', metrics: usual },
    Ads: { level: 'ad', metrics: usual },
  },
  columns: {
    date: day('Day, in UTC', { ask: null, at: 'start_time' }),
    ad_account_id: ofAccount('account', 'ID of the ad account'),
    ad_account_name: ofAccount('name', 'Name of the ad account'),
    currency: ofAccount('currency', 'Currency of the ad account, in which money is'),
    campaign_id: named('campaign', 'ID of the campaign'),
    ad_set_id: named('entity_id', 'ID of the ad set'),
    ad_id: named('entity_id', 'ID of the ad'),
    name: named('entity_name', 'Name of the campaign, the ad set or the ad'),
    status: named('entity_status', 'Status of the campaign, the ad set or the ad'),
    impressions: figure('whole', 'IMPRESSIONS', 'How often the ad was heard or shown'),
    off_spotify_impressions: figure('whole', 'OFF_SPOTIFY_IMPRESSIONS', 'Those of them that were not on Spotify'),
    spend: figure('money', 'SPEND', 'Money spent'),
    clicks: figure('whole', 'CLICKS', 'Number of clicks'),
    reach: figure('whole', 'REACH', 'How many people heard or saw the ad'),
    frequency: figure('decimal', 'FREQUENCY', 'Impressions for each person'),
    listeners: figure('whole', 'LISTENERS', 'How many people listened to the artist after the ad'),
    new_listeners: figure('whole', 'NEW_LISTENERS', 'Those of them who had not listened before'),
    streams: figure('whole', 'STREAMS', 'How often people listened to the artist after the ad'),
    starts: figure('whole', 'STARTS', 'How often the ad was started'),
    first_quartiles: figure('whole', 'FIRST_QUARTILES', 'How often a quarter of the ad was played'),
    midpoints: figure('whole', 'MIDPOINTS', 'How often half of the ad was played'),
    third_quartiles: figure('whole', 'THIRD_QUARTILES', 'How often three quarters of the ad were played'),
    completes: figure('whole', 'COMPLETES', 'How often the whole ad was played'),
    skips: figure('whole', 'SKIPS', 'How often the ad was skipped'),
    video_views: figure('whole', 'VIDEO_VIEWS', 'How often the video was viewed'),
  },
  days: { backMax: 730, lookBack: 14, chunk: 31, zone: { fixed: 'UTC' } },
  parts: {
    list: campaignsOf,
    atOnce: 50,
    groupOf: (part) => (part.startsWith('campaign/') ? 'campaign' : part),
  },
  report: {
    form: 'pages',
    page({ account, from, to, level, ids, asks }, cursor) {
      const path = `/ad_accounts/${account}/aggregate_reports`
      // The token replaces all other parameters.
      if (cursor !== undefined) return { path, query: { continuation_token: cursor } }
      const parameters = new URLSearchParams({
        entity_type: entities[level] ?? 'CAMPAIGN',
        entity_ids_type: 'CAMPAIGN',
        granularity: 'DAY',
        report_start: `${from}T00:00:00Z`,
        report_end: `${to}T00:00:00Z`,
        limit: String(pageRows),
      })
      for (const part of ids) parameters.append('entity_ids', campaignOf(part))
      for (const name of asks.metrics) parameters.append('fields', name)
      return { path: `${path}?${parameters}` }
    },
    rows: ({ json }, to) => rowsIn(objectIn(json).rows)?.map((entity) => rowOf(entity, to)),
    next: ({ json }) => objectIn(json).continuation_token,
  },
  check: { authentication: () => ({ path: '/businesses' }) },
})
