import { ConnectorError, text } from '@penstock/connector'
import { type ErrorFact, restApi } from '../kit/api.ts'
import { day, dimension, metric, ofAccount, type ReportColumn } from '../kit/report-columns.ts'
import { addDays, beginOfDay, isoIn } from '../kit/report-days.ts'
import type { ReportState } from '../kit/report-facts.ts'
import { reportSource } from '../kit/report-source.ts'
import type { Answer } from '../platform-api/call.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { apiClient } from './api-client.ts'
import { yahooDsp } from './platform.ts'
import { columnsBy } from './report-labels.ts'

const states: Readonly<Record<string, ReportState>> = { Success: 'done', Failed: 'failed' }
const hourMs = 60 * 60_000
const daily = 'The daily limit of the API of Yahoo is used up.'
const refused: ErrorFact = ['request_refused', 'Check the level, the breakdowns, the metrics and the currency.']
const tooLarge: ErrorFact = ['batch_too_large', 'The report has too many rows.']
const noSeat: ErrorFact = [
  'permission_denied',
  'Ask Yahoo to enable API access for the client, and check the advertiser IDs.',
]

/** Meanings of the codes of Yahoo. Limits are refused with the status 422. */
const codes: Readonly<Record<string, ErrorFact | ConnectorError>> = {
  E0006: ['object_not_found', 'The report is gone.'],
  E0013: noSeat,
  E0042: refused,
  E0047: noSeat,
  E0059: 'platform_error',
  E0078: refused,
  E0101: 'platform_error',
  E0200: 'rate_limited',
  E0202: new ConnectorError('rate_limited', `${daily} Rows are counted, too.`, { afterMs: hourMs }),
  E0203: new ConnectorError('rate_limited', daily, { afterMs: hourMs }),
  E0204: refused,
  E0206: tooLarge,
}

function meaningOf({ status, text: body }: Answer): ErrorFact | ConnectorError | undefined {
  if (status < 400) return undefined
  const code = /\bE0\d{3}\b/.exec(body)?.[0] ?? ''
  // The same code is an ended token and a report that is too large.
  if (code === 'E0205') return status === 401 ? undefined : tooLarge
  return Object.hasOwn(codes, code) ? codes[code] : undefined
}

/** A report that there is not: its refusal shows that the credentials are good. */
const none = '00000000-0000-0000-0000-000000000000'
/** Columns, by the number of their type at Yahoo. */
const ofType = (type: number, description: string, at: string): ReportColumn =>
  dimension(description, { ask: String(type), at })
const figure = (kind: ReportColumn['type'], type: number, at: string, description: string): ReportColumn =>
  metric(kind, description, { ask: String(type), at })
const usual = ['impressions', 'clicks', 'advertiser_spending', 'conversions']

/** Reports of Yahoo DSP. */
export const yahooDspReporting = reportSource({
  slug: 'yahoo-dsp-reporting',
  name: 'Yahoo DSP Reporting',
  platform: yahooDsp,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads the delivery and the results of campaigns at Yahoo DSP.',
  actions: ['get'],
  notes:
    'Yahoo makes a report of up to 31 days of an advertiser in the background; after a crash, reading continues with the report that is being made already. Days begin by the time zone of the connection. Events of the last 6 hours can be missing. Yahoo keeps figures of 13 months, and allows 100 reports an hour, 800 a day, and 500,000 rows a day of a seat. A file that lacks a column which the connection reads is refused with the labels of the file.',
  tested:
    'Recorded answers that follow published clients of Yahoo’s reporting API; their files have labels that some of these clients read, and labels that are assumed. Not Yahoo itself.',
  api: { version: 'extreport v3', ends: 'no end is announced' },
  platformApi: restApi({
    name: 'Yahoo',
    baseUrl: 'https://api-sched-v3.admanagerplus.yahoo.com/yamplus_api',
    errors: {
      statuses: {
        400: refused,
        401: ['expired_credentials', 'Check the client ID and the client secret.'],
        403: noSeat,
        404: ['object_not_found', 'The report is gone.'],
        422: refused,
      },
      special: meaningOf,
    },
  }),
  auth: { open: async (context) => (await import('./tokens.ts')).openYahooTokens(context) },
  secrets: apiClient,
  settings: {
    timezone: text({
      label: 'Time zone',
      description: 'Time zone in which days begin: America/New_York',
      default: 'America/New_York',
    }),
    currencyId: text({
      label: 'Currency number',
      description: 'Yahoo’s number of the currency; 3 is the currency of each campaign',
      default: '3',
    }),
  },
  accounts: { label: 'Advertiser IDs', id: /^\d{1,15}$/, example: '20500' },
  listed: {
    accountIds: {
      kind: 'account',
      platformApi: restApi({ name: 'Yahoo', baseUrl: 'https://dspapi.admanagerplus.yahoo.com/traffic' }),
      page: () => ({ path: '/advertisers' }),
      found: ({ json }) =>
        listIn(objectIn(json).response)
          .map(objectIn)
          .map(({ id, name }) => ({ id, name })),
    },
  },
  always: ['date', 'advertiser_id', 'advertiser_name'],
  levels: {
    line: { key: ['line_id'], columns: ['line_name', 'campaign_id', 'campaign_name'] },
    campaign: { key: ['campaign_id'], columns: ['campaign_name'] },
    ad: { key: ['ad_id'], columns: ['ad_name', 'line_id', 'line_name', 'campaign_id', 'campaign_name'] },
    creative: { key: ['campaign_id', 'creative_id'], columns: ['creative_name', 'campaign_name'] },
    advertiser: { key: [] },
  },
  breakdowns: ['device_type', 'country', 'age', 'gender'],
  presets: {
    Lines: { metrics: usual },
    Campaigns: { level: 'campaign', metrics: usual },
    Ads: { level: 'ad', metrics: usual },
    Devices: { level: 'campaign', breakdowns: ['device_type'], metrics: usual },
    Videos: { level: 'line', metrics: [...usual, 'video_starts', 'video_completions'] },
  },
  nulls: ['N/A', '-'],
  columns: {
    date: day('Day, in the time zone of the connection', { ask: null, at: 'date' }),
    advertiser_id: ofAccount('account', 'ID of the advertiser', { ask: '4', at: 'advertiser_id' }),
    advertiser_name: ofType(4, 'Name of the advertiser', 'advertiser_name'),
    campaign_id: ofType(5, 'ID of the campaign', 'campaign_id'),
    campaign_name: ofType(5, 'Name of the campaign', 'campaign_name'),
    line_id: ofType(6, 'ID of the line', 'line_id'),
    line_name: ofType(6, 'Name of the line', 'line_name'),
    ad_id: ofType(7, 'ID of the ad', 'ad_id'),
    ad_name: ofType(7, 'Name of the ad', 'ad_name'),
    creative_id: ofType(8, 'ID of the creative', 'creative_id'),
    creative_name: ofType(8, 'Name of the creative', 'creative_name'),
    country: ofType(19, 'Country of the people', 'country'),
    age: ofType(27, 'Age group of the people', 'age'),
    gender: ofType(28, 'Gender of the people', 'gender'),
    device_type: ofType(34, 'Kind of device', 'device_type'),
    impressions: figure('whole', 1, 'impressions', 'How often ads were shown'),
    clicks: figure('whole', 2, 'clicks', 'Number of clicks'),
    conversions: figure('decimal', 23, 'conversions', 'Number of conversions'),
    video_starts: figure('whole', 25, 'video_starts', 'How often videos were started'),
    video_completions_25: figure('whole', 26, 'video_completions_25', 'Video views that reached the first quarter'),
    video_completions_50: figure('whole', 27, 'video_completions_50', 'Video views that reached the half'),
    video_completions_75: figure('whole', 28, 'video_completions_75', 'Video views that reached the third quarter'),
    video_completions: figure('whole', 29, 'video_completions', 'Video views that reached the end'),
    advertiser_spending: figure('money', 44, 'advertiser_spending', 'Money that the advertiser spent'),
    view_through_conversions: figure('decimal', 109, 'view_through_conversions', 'Conversions after a view'),
    click_through_conversions: figure('decimal', 110, 'click_through_conversions', 'Conversions after a click'),
    conversion_value: figure('money', 137, 'conversion_value', 'Value of the conversions'),
  },
  days: { backMax: 395, lookBack: 14, chunk: 31, zone: { setting: 'timezone' } },
  refuses: ({ settings }) =>
    /^\d{1,4}$/.test(String(settings.currencyId ?? '3').trim())
      ? undefined
      : 'The currency must be a number, such as 3.',
  report: {
    form: 'file',
    start: ({ account, from, to, zone, asks, context }) => ({
      path: '/extreport/',
      body: {
        reportOption: {
          timezone: zone,
          currency: Number(context.settings.currencyId ?? 3),
          dimensionTypeIds: numbersOf(asks.always, asks.level, asks.breakdowns),
          metricTypeIds: numbersOf(asks.metrics),
          accountIds: [Number(account)],
        },
        // By day, in days of our own choice.
        intervalTypeId: 2,
        dateTypeId: 11,
        startDate: secondIn(zone, beginOfDay(from, zone)),
        endDate: secondIn(zone, beginOfDay(addDays(to, 1), zone) - 1000),
      },
    }),
    started: ({ json }) => /^[\w-]{1,200}$/.exec(textIn(objectIn(json).customerReportId) ?? '')?.[0],
    state: (report) => ({ path: `/extreport/${report}` }),
    stateOf: ({ json }) => states[textIn(objectIn(json).status) ?? ''] ?? 'running',
    totalMs: 12 * hourMs,
    file({ json }) {
      // A report without rows has no file.
      const url = textIn(objectIn(json).url)
      return url === undefined ? undefined : { url, hosts }
    },
    content: { format: 'csv', names: columnsBy, omits: /^(?:(?:grand )?totals?)?$/i },
  },
  check: {
    authentication: () => ({
      path: `/extreport/${none}`,
      expects: ({ status, text: body }) => status === 404 || (status >= 400 && body.includes('E0006')),
    }),
  },
})

const numbersOf = (...asked: readonly (readonly string[])[]): number[] => [...new Set(asked.flat().map(Number))]
/** A time to the second, with the offset of its day. */
const secondIn = (zone: string, at: number): string => isoIn(zone, at).replace('.000', '')
/** Hosts of files: Yahoo's hosts, and the stores in which Yahoo keeps files. */
const hosts = /^(?:[a-z0-9-]+\.)+(?:yahoo\.com|yahooinc\.com|yahooapis\.com|amazonaws\.com)$|^storage\.googleapis\.com$/
