import { ConnectorError, secret, text } from '@penstock/connector'
import { day, dimension, metric, ofAccount, type ReportColumn } from '../kit/report-columns.ts'
import { addDays } from '../kit/report-days.ts'
import type { ReportRequest, ReportState } from '../kit/report-facts.ts'
import { reportSource } from '../kit/report-source.ts'
import type { PlatformCall } from '../platform-api/client.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { fileHosts } from './file-hosts.ts'
import { theTradeDesk } from './platform.ts'
import { platformApi } from './platform-api.ts'

const states: Readonly<Record<string, ReportState>> = { complete: 'done', failed: 'failed', canceled: 'failed' }
const pageSize = 100

/** A column, by its label in the file. */
const labelled = (ask: string, description: string): ReportColumn => dimension(description, { ask })
const figure = (type: ReportColumn['type'], ask: string, description: string): ReportColumn =>
  metric(type, description, { ask })

/**
 * The labels that a template of a level can have, in addition to the columns of the connection. They do not divide rows
 * further.
 */
const ofAdvertiser = ['partner', 'partner id', 'advertiser', 'advertiser id', 'advertiser currency code']
const ofCampaign = [...ofAdvertiser, 'campaign', 'campaign id']
const ofAdGroup = [...ofCampaign, 'ad group', 'ad group id']
const harmless: Readonly<Record<string, readonly string[]>> = {
  ad_group: ofAdGroup,
  campaign: ofCampaign,
  creative: [...ofAdGroup, 'creative', 'creative id'],
  advertiser: ofAdvertiser,
}
/** The IDs without which rows of a level would have the same key. */
const keys: Readonly<Record<string, readonly string[]>> = {
  ad_group: ['Ad Group ID'],
  campaign: ['Campaign ID'],
  creative: ['Ad Group ID', 'Creative ID'],
}
/** Figures whose labels depend on the advertiser: money in a currency, and conversions of a tracking tag (`01 - Click Conversion`). */
const figures = /\((USD|Adv Currency|Advertiser Currency|Partner Currency)\)$|^\d\d - |conversions?( revenue)?$/i

/**
 * The names of the columns of a file, by its labels in any case. The template decides which columns there are: throws
 * `invalid_setting` if one is missing, or if one could split rows that have the same key.
 */
function namesOf({ level, asks }: ReportRequest, header: readonly string[]): readonly string[] {
  const asked = new Map([...asks.always, ...asks.level, ...asks.breakdowns, ...asks.metrics].map(lowered))
  const labels = new Set(header.map((label) => label.toLowerCase()))
  const needed = [...asks.always, ...(keys[level] ?? []), ...asks.breakdowns, ...asks.metrics]
  const missing = needed.filter((name) => !labels.has(name.toLowerCase()))
  if (missing.length > 0) {
    throw new ConnectorError(
      'invalid_setting',
      `The template has no column ${missing.slice(0, 5).join(', ')}. Add it to the template at The Trade Desk, or choose another level, breakdown or metric.`,
    )
  }
  const known = new Set([...asked.keys(), ...(harmless[level] ?? []), ...usualFigures])
  const strange = header.filter((label) => !known.has(label.toLowerCase()) && !figures.test(label))
  if (strange.length > 0) {
    throw new ConnectorError(
      'invalid_setting',
      `The template has the column ${strange.slice(0, 5).join(', ').slice(0, 200)}, which may split rows. Take it out of the template, choose a level that has it, or enter it as another breakdown or metric.`,
    )
  }
  return header.map((label) => asked.get(label.toLowerCase()) ?? label)
}
const lowered = (name: string): [string, string] => [name.toLowerCase(), name]

/** The runs of a report. */
const executions = (account: string, schedule: string): PlatformCall => ({
  method: 'POST',
  path: '/myreports/reportexecution/query/advertisers',
  body: { AdvertiserIds: [account], ReportScheduleIds: [Number(schedule)], PageStartIndex: 0, PageSize: 10 },
  repeatable: true,
})
const firstOf = (json: unknown) => objectIn(listIn(objectIn(json).Result)[0])

/** Hosts of The Trade Desk, to which the token can be sent. */
const own = /^(?:[a-z0-9-]+\.)*(?:thetradedesk\.com|adsrvr\.org)$/

const columns: Readonly<Record<string, ReportColumn>> = {
  date: day('Day, in the time zone of the connection', { ask: 'Date' }),
  advertiser_id: ofAccount('account', 'ID of the advertiser', { at: 'Advertiser ID' }),
  advertiser_name: ofAccount('name', 'Name of the advertiser'),
  currency: ofAccount('currency', 'Currency of the advertiser'),
  campaign_id: labelled('Campaign ID', 'ID of the campaign'),
  campaign_name: labelled('Campaign', 'Name of the campaign'),
  ad_group_id: labelled('Ad Group ID', 'ID of the ad group'),
  ad_group_name: labelled('Ad Group', 'Name of the ad group'),
  creative_id: labelled('Creative ID', 'ID of the creative'),
  creative_name: labelled('Creative', 'Name of the creative'),
  device_type: labelled('Device Type', 'Kind of device'),
  country: labelled('Country', 'Country of the people'),
  site: labelled('Site', 'Site on which the ad was shown'),
  impressions: figure('whole', 'Impressions', 'How often ads were shown'),
  clicks: figure('whole', 'Clicks', 'Number of clicks'),
  advertiser_cost: figure(
    'money',
    'Advertiser Cost (Adv Currency)',
    'Money that the advertiser spent, in the currency of the advertiser',
  ),
  advertiser_cost_usd: figure('money', 'Advertiser Cost (USD)', 'Money that the advertiser spent, in US dollars'),
  player_starts: figure('whole', 'Player Starts', 'How often videos were started'),
  player_completed_views: figure('whole', 'Player Completed Views', 'Video views that reached the end'),
}
const usualFigures = Object.values(columns).flatMap(({ kind, ask }) =>
  kind === 'metric' && ask ? [ask.toLowerCase()] : [],
)

const usual = ['impressions', 'clicks', 'advertiser_cost']

/** Reports of The Trade Desk, made of templates of My Reports. */
export const theTradeDeskMyReports = reportSource({
  slug: 'the-trade-desk-my-reports',
  name: 'The Trade Desk My Reports',
  platform: theTradeDesk,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads reports of The Trade Desk that are made of a template of My Reports.',
  actions: ['get'],
  notes:
    'Set up a template at The Trade Desk, with the columns Date, Campaign ID, Ad Group ID and the figures that you want, one row for each day; its API makes reports of templates and cannot create them. Each report is made of one template, for up to 31 days of an advertiser; after a crash, reading continues with the report that is being made already, and its schedule is deleted once it is read. A template that lacks a column which the connection reads, or that has one which could split rows, is refused with the name of the column: conversions and amounts of money that are not read are left out, other columns are not. Columns of your advertisers, such as 01 - Click Conversion, are entered by their labels. Figures are complete after one day, and conversions are restated for about 30 days. The Trade Desk keeps reports of two years, and reports with details of conversions for 100 days.',
  tested:
    'Recorded answers that follow published clients of The Trade Desk’s reporting API; not The Trade Desk itself.',
  api: { version: 'v3 (My Reports)', ends: 'no end is announced' },
  platformApi,
  auth: { open: async (context) => (await import('./platform-tokens.ts')).openPlatformTokens(context) },
  secrets: {
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'Client ID that your account team gave you: the login of an API user, not your own login',
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that your account team gave you with the client ID',
    }),
    apiToken: secret({
      label: 'Token',
      description: 'Instead of both: API token that you created in the developer portal of The Trade Desk',
    }),
  },
  settings: {
    templateId: text({
      asked: true,
      label: 'Template ID',
      description: 'ID of the My Reports template for the reports',
      required: true,
    }),
    partnerId: text({
      label: 'Partner ID',
      description: 'ID of your partner account, used to list the advertisers',
    }),
    timezone: text({
      label: 'Time zone',
      description: 'Time zone in which days begin: America/New_York',
      default: 'UTC',
    }),
  },
  accounts: {
    label: 'Advertiser IDs',
    id: /^[A-Za-z0-9_-]{1,64}$/,
    example: 'a1b2c3d',
    get: (account) => ({ path: `/advertiser/${account}` }),
    about: ({ json }) => ({
      name: textIn(objectIn(json).AdvertiserName),
      currency: textIn(objectIn(json).CurrencyCode),
    }),
  },
  listed: {
    accountIds: {
      kind: 'account',
      cursor: /^\d{1,6}$/,
      page(cursor, { settings }) {
        const partner = textIn(settings.partnerId)
        if (partner === undefined) {
          throw new ConnectorError('invalid_setting', 'Enter the partner ID, with which the advertisers are listed.')
        }
        return {
          method: 'POST',
          path: '/advertiser/query/partner',
          body: { PartnerId: partner, PageStartIndex: Number(cursor ?? 0), PageSize: pageSize },
          repeatable: true,
        }
      },
      found: ({ json }) =>
        listIn(objectIn(json).Result)
          .map(objectIn)
          .map(({ AdvertiserId, AdvertiserName }) => ({ id: AdvertiserId, name: AdvertiserName })),
      next: ({ json }, cursor) =>
        listIn(objectIn(json).Result).length < pageSize ? undefined : String(Number(cursor ?? 0) + pageSize),
    },
  },
  always: ['date', 'advertiser_id', 'advertiser_name', 'currency'],
  levels: {
    ad_group: { key: ['ad_group_id'], columns: ['ad_group_name', 'campaign_id', 'campaign_name'] },
    campaign: { key: ['campaign_id'], columns: ['campaign_name'] },
    creative: {
      key: ['ad_group_id', 'creative_id'],
      columns: ['creative_name', 'ad_group_name', 'campaign_id', 'campaign_name'],
    },
    advertiser: { key: [] },
  },
  breakdowns: ['device_type', 'country', 'site'],
  free: {
    breakdowns: {
      label: 'Other breakdowns',
      pattern: /^[^\p{Cc}.]{1,100}$/u,
      example: 'Supply Vendor',
      spaced: true,
    },
    metrics: {
      label: 'Other metrics',
      pattern: /^[^\p{Cc}.]{1,100}$/u,
      example: '01 - Click Conversion',
      spaced: true,
    },
  },
  presets: {
    'Ad groups': { metrics: usual },
    Campaigns: { level: 'campaign', metrics: usual },
    Creatives: { level: 'creative', metrics: usual },
  },
  columns,
  days: { backMax: 730, lookBack: 30, chunk: 31, zone: { setting: 'timezone' } },
  readers: 2,
  refuses: ({ settings }) =>
    /^\d{1,15}$/.test(String(settings.templateId ?? '').trim())
      ? undefined
      : 'The template ID must be a number, such as 168005.',
  report: {
    form: 'file',
    start: ({ account, from, to, zone, context }) => ({
      path: '/myreports/reportschedule',
      body: {
        ReportScheduleName: `Penstock ${account} ${from}`,
        ReportTemplateId: Number(context.settings.templateId),
        AdvertiserFilters: [account],
        ReportFrequency: 'Once',
        ReportDateRange: 'Custom',
        ReportStartDateInclusive: `${from}T00:00:00`,
        ReportEndDateExclusive: `${addDays(to, 1)}T00:00:00`,
        TimeZone: zone,
        ReportFileFormat: 'CSV',
        ReportDateFormat: 'Sortable',
        ReportNumericFormat: 'US',
        IncludeHeaders: true,
      },
    }),
    started: ({ json }) => /^\d{1,15}$/.exec(textIn(objectIn(json).ReportScheduleId) ?? '')?.[0],
    state: (schedule, { account }) => executions(account, schedule),
    stateOf: ({ json }) => states[(textIn(firstOf(json).ReportExecutionState) ?? '').toLowerCase()] ?? 'running',
    totalMs: 12 * 60 * 60_000,
    discard: (schedule) => ({ method: 'DELETE', path: `/myreports/reportschedule/${schedule}` }),
    file({ json }) {
      const url = textIn(objectIn(listIn(firstOf(json).ReportDeliveries)[0]).DownloadURL)
      if (url === undefined) return undefined
      const isOwn = URL.canParse(url) && own.test(new URL(url).hostname)
      return { url, hosts: fileHosts, ...(isOwn && { signedIn: { host: own } }) }
    },
    content: { format: 'csv', names: namesOf, omits: /^(?:grand )?totals?$/i },
  },
  check: {
    authentication: () => ({
      method: 'POST',
      path: '/myreports/reporttemplateheader/query',
      body: { NameContains: '', PageStartIndex: 0, PageSize: 1 },
      repeatable: true,
    }),
  },
})
