import { ConnectorError } from '@penstock/connector'
import { day, dimension, metric, ofAccount } from '../kit/report-columns.ts'
import { addDays, eachDay, offsetMs } from '../kit/report-days.ts'
import type { ReportRequest, ReportState } from '../kit/report-facts.ts'
import { reportSource } from '../kit/report-source.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { xAccounts, xListed, xReads, xReadsVersion } from './api.ts'
import { xTwitter } from './platform.ts'
import { signatures, signIn } from './sign-in.ts'

/** The levels, by the names of X. */
const entities: Readonly<Record<string, string>> = {
  campaign: 'CAMPAIGN',
  line_item: 'LINE_ITEM',
  promoted_tweet: 'PROMOTED_TWEET',
  funding_instrument: 'FUNDING_INSTRUMENT',
}
const placements = ['ALL_ON_TWITTER', 'SPOTLIGHT', 'TREND']
const states: Readonly<Record<string, ReportState>> = { SUCCESS: 'done', FAILED: 'failed', CANCELLED: 'gone' }
/** Metrics of a group are requested together. Levels above campaigns have only two groups. */
const low = ['campaign', 'line_item', 'promoted_tweet']
const inGroup =
  (ask: string, levels?: readonly string[]) =>
  (name: string, description: string, type: Parameters<typeof metric>[0] = 'whole') =>
    metric(type, description, { ask, at: name, ...(levels && { levels }) })
const engagement = inGroup('ENGAGEMENT')
const billing = inGroup('BILLING')
const video = inGroup('VIDEO', low)
const conversion = inGroup('WEB_CONVERSION', low)
const usual = ['impressions', 'engagements', 'clicks', 'url_clicks', 'spend', 'video_views']

const hourMs = 3_600_000
const utc = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z')

/**
 * Midnight in the form that X requires: with the present offset of the account's time zone, not with the offset of that day.
 */
function midnight(day: string, zone: string): string {
  const minutes = Math.round(offsetMs(zone, Date.now()) / 60_000)
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  return `${day}T00:00:00${minutes < 0 ? '-' : '+'}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`
}

/**
 * The entities that had something happen on these days, as `PLACEMENT/id`. X lists them by the hours in which it recorded a change, and
 * corrects a day for two weeks.
 */
async function activeIn(client: PlatformClient, { account, from, to, zone, level }: ReportRequest): Promise<string[]> {
  const [begin, end] = [from, addDays(to, 1)].map((one) => Date.parse(midnight(one, zone))) as [number, number]
  const last = Math.min(end + 14 * 24 * hourMs, Math.ceil(Date.now() / hourMs) * hourMs)
  const query = {
    entity: entities[level],
    start_time: utc(Math.floor(begin / hourMs) * hourMs),
    end_time: utc(Math.ceil(last / hourMs) * hourMs),
  }
  const { json } = await client.askObject({ path: `/stats/accounts/${account}/active_entities`, query })
  if (!Array.isArray(json.data)) {
    throw new ConnectorError('malformed_response', 'X answered with something other than a list of active entities.')
  }
  return json.data.map(objectIn).flatMap((entity) => {
    const [first, final] = [entity.activity_start_time, entity.activity_end_time].map((time) =>
      Date.parse(String(time)),
    )
    const isOutside = Number(first) >= end || Number(final) < begin
    const id = textIn(entity.entity_id)
    if (id === undefined || isOutside) return []
    return placements.filter((one) => listIn(entity.placements).includes(one)).map((one) => `${one}/${id}`)
  })
}

const placementOf = (part = ''): string => part.slice(0, part.indexOf('/'))

/** The rows of an entity: X has a list of figures by day for each metric, and nothing for days on which nothing happened. */
function rowsOf({ id, id_data: data }: JsonObject, { from, to, ids, asks }: ReportRequest): JsonObject[] {
  return listIn(data)
    .map(objectIn)
    .flatMap(({ segment, metrics }) =>
      eachDay(from, to).flatMap((date, index) => {
        const figures = Object.entries(objectIn(metrics)).map(
          ([name, values]) => [name, figureAt(values, index)] as const,
        )
        if (figures.every(([, figure]) => isNothing(figure))) return []
        const { segment_name: name, segment_value: value } = objectIn(segment)
        const row: JsonObject = { id, date, placement: placementOf(ids[0]), ...Object.fromEntries(figures) }
        // Some segments have the segmentation as their name.
        const of = (one: string) => (same(name, one) ? (value ?? name) : (name ?? value))
        return [{ ...row, ...Object.fromEntries(asks.breakdowns.map((one) => [one, of(one)])) }]
      }),
    )
}

const same = (name: unknown, segmentation: string): boolean =>
  textIn(name)?.toUpperCase().replace(/S$/, '') === segmentation.toUpperCase().replace(/S$/, '')

/** Conversions are objects of lists. */
const figureAt = (values: unknown, index: number): unknown =>
  Array.isArray(values)
    ? values[index]
    : isObject(values)
      ? Object.fromEntries(Object.entries(values).map(([name, each]) => [name, listIn(each)[index]]))
      : undefined

const isNothing = (figure: unknown): boolean =>
  isObject(figure) ? Object.values(figure).every(isNothing) : figure === undefined || figure === null

const jobIn = (json: unknown): JsonObject => objectIn(listIn(objectIn(json).data)[0])

/** Result figures of promoted content on X. */
export const xAdAnalytics = reportSource({
  slug: 'x-ad-analytics',
  name: 'X (Twitter) Ad Analytics',
  platform: xTwitter,
  dataType: 'ads analytics',
  dataTypeCategory: 'reporting',
  description: 'Reads the performance of the posts that you promote on X.',
  actions: ['get'],
  notes:
    'The Ads API of X uses OAuth 1.0a: enter the API key as the client ID, its secret as the client secret, the access token as the refresh token, and the access token secret. X must have approved the app for its Ads API. X makes a report of up to 30 days of 20 campaigns, ad groups (line items) or ads (promoted posts) in the background; only those to which something happened are asked for. Figures are by placement: totals are the sum of the placements, and placement is a key column. Days begin at midnight in the time zone of the ad account, with the offset that it has today: after a change to or from daylight saving time, earlier days are shifted by an hour. Figures are final after a day, spend after three days, and corrections come for 14 days. Figures by age, gender or platform do not add up to the totals. Names are read by X (Twitter) Campaign Measurement.',
  tested: 'Recorded answers that follow the documents that X publishes, signatures included; not X itself.',
  api: xReadsVersion,
  platformApi: xReads,
  auth: signatures,
  secrets: signIn,
  accounts: xAccounts,
  listed: xListed,
  always: ['date', 'account_id', 'account_name', 'currency'],
  levels: {
    campaign: { key: ['campaign_id', 'placement'] },
    line_item: { key: ['line_item_id', 'placement'] },
    promoted_tweet: { key: ['promoted_tweet_id', 'placement'] },
    funding_instrument: { key: ['funding_instrument_id', 'placement'] },
  },
  breakdowns: ['age', 'gender', 'platform'],
  presets: {
    Campaigns: { metrics: usual },
    'Ad groups': { level: 'line_item', metrics: usual },
    Ads: { level: 'promoted_tweet', metrics: usual },
    Conversions: { metrics: ['spend', 'purchases', 'sign_ups', 'site_visits', 'downloads'] },
  },
  columns: {
    date: day('Day, in the time zone of the ad account', { ask: null }),
    account_id: ofAccount('account', 'ID of the ad account'),
    account_name: ofAccount('name', 'Name of the ad account'),
    currency: ofAccount('currency', 'Currency of the ad account, in which money is'),
    campaign_id: dimension('ID of the campaign', { ask: null, at: 'id' }),
    line_item_id: dimension('ID of the ad group', { ask: null, at: 'id' }),
    promoted_tweet_id: dimension('ID of the ad, which is not that of its post', { ask: null, at: 'id' }),
    funding_instrument_id: dimension('ID of the funding instrument', { ask: null, at: 'id' }),
    placement: dimension('Where the ad was shown: ALL_ON_TWITTER, SPOTLIGHT or TREND', { ask: null }),
    age: dimension('Age range of the people', { ask: 'AGE', levels: low }),
    gender: dimension('Gender of the people', { ask: 'GENDER', levels: low }),
    platform: dimension('Kind of device of the people', { ask: 'PLATFORMS', levels: low }),
    impressions: engagement('impressions', 'How often the ad was shown'),
    engagements: engagement('engagements', 'Number of engagements'),
    clicks: engagement('clicks', 'Number of clicks, likes and other engagements included'),
    url_clicks: engagement('url_clicks', 'Number of clicks on the link or card'),
    app_clicks: engagement('app_clicks', 'Number of attempts to install or open the app'),
    likes: engagement('likes', 'Number of likes'),
    reposts: engagement('retweets', 'Number of reposts'),
    replies: engagement('replies', 'Number of replies'),
    follows: engagement('follows', 'Number of follows'),
    spend: billing('billed_charge_local_micro', 'Money spent, in the currency of the ad account', 'micros'),
    billed_engagements: billing('billed_engagements', 'Number of engagements that are billed'),
    video_views: video('video_total_views', 'How often the video was viewed'),
    video_starts: video('video_content_starts', 'How often the video was started'),
    video_views_25: video('video_views_25', 'How often a quarter of the video was viewed'),
    video_views_50: video('video_views_50', 'How often half of the video was viewed'),
    video_views_75: video('video_views_75', 'How often three quarters of the video were viewed'),
    video_views_100: video('video_views_100', 'How often the whole video was viewed'),
    purchases: conversion('conversion_purchases.metric', 'Number of purchases'),
    purchase_quantity: conversion('conversion_purchases.order_quantity', 'Number of items that were purchased'),
    purchase_amount: conversion(
      'conversion_purchases.sale_amount',
      'Amount of the purchases, as X reports it',
      'decimal',
    ),
    sign_ups: conversion('conversion_sign_ups.metric', 'Number of registrations'),
    site_visits: conversion('conversion_site_visits.metric', 'Number of visits to the website'),
    downloads: conversion('conversion_downloads.metric', 'Number of downloads'),
    add_to_carts: conversion('conversion_add_to_carts.metric', 'How often something was put into a cart'),
    checkouts: conversion('conversion_checkouts_initiated.metric', 'How often a checkout was begun'),
    custom_conversions: conversion('conversion_custom.metric', 'Number of conversions of your own types'),
  },
  days: { backMax: 730, lookBack: 14, chunk: 30 },
  readers: 2,
  refuses: ({ breakdowns }) =>
    breakdowns.length > 1 ? 'X breaks figures down by one of age, gender and platform at a time.' : undefined,
  parts: { list: activeIn, atOnce: 20, groupOf: placementOf },
  report: {
    form: 'file',
    start: ({ account, from, to, zone, level, ids, asks }) => ({
      method: 'POST',
      path: `/stats/jobs/accounts/${account}`,
      query: {
        entity: entities[level],
        entity_ids: ids.map((part) => part.slice(part.indexOf('/') + 1)).join(),
        start_time: midnight(from, zone),
        end_time: midnight(addDays(to, 1), zone),
        granularity: 'DAY',
        placement: placementOf(ids[0]),
        metric_groups: asks.metrics.join(),
        segmentation_type: asks.breakdowns[0],
      },
    }),
    started: ({ json }) => textIn(objectIn(objectIn(json).data).id_str),
    state: (job, { account }) => ({ path: `/stats/jobs/accounts/${account}`, query: { job_ids: job } }),
    stateOf({ json }, _job, { ids }) {
      const { status } = jobIn(json)
      // X could not finish it in time: fewer entities, or the same one again.
      if (status === 'TIMEOUT') return ids.length > 1 ? 'too large' : 'failed'
      return status === undefined ? 'gone' : (states[textIn(status) ?? ''] ?? 'running')
    },
    totalMs: 60 * 60_000,
    file({ json }) {
      const url = textIn(jobIn(json).url)
      return url === undefined ? undefined : { url }
    },
    content: { format: 'json', at: 'data', rows: rowsOf },
  },
  check: { authentication: () => ({ path: '/accounts', query: { count: '1' } }) },
})
