import { definePlatform, type SourceContext, secret } from '@penstock/connector'
import { createEgress } from '@penstock/connector/egress'
import { bearer, restApi } from '../../packages/connectors/src/kit/api.ts'
import { entitySource } from '../../packages/connectors/src/kit/entity-source.ts'
import { day, dimension, metric, ofAccount } from '../../packages/connectors/src/kit/report-columns.ts'
import { eachDay } from '../../packages/connectors/src/kit/report-days.ts'
import type { ReportSource } from '../../packages/connectors/src/kit/report-facts.ts'
import { rowsIn } from '../../packages/connectors/src/kit/report-rows.ts'
import { reportSource } from '../../packages/connectors/src/kit/report-source.ts'
import { objectIn, textIn } from '../../packages/connectors/src/platform-api/json.ts'
import { type PlatformServer, type Reply, startPlatform } from '../../packages/connectors/test/platform-server.ts'
import type { TestSides } from './engine.ts'
import { connectorBySlug } from './fixtures.ts'

/** A made-up platform that makes reports by jobs, of three days each, and what moves them into PostgreSQL. */

const origin = 'https://api.example.com'
const platform = definePlatform({ slug: 'example-ads', name: 'Example Ads', type: 'Demand-Side Platform (DSP)' })
const secrets = { token: secret({ label: 'Token', description: 'Token of the platform', required: true }) }
const reports: ReportSource = {
  slug: 'example-reports',
  name: 'Example reports',
  platform,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads the figures of a made-up platform.',
  secrets,
  platformApi: restApi({ name: 'Example', baseUrl: origin }),
  auth: bearer('token'),
  accounts: { label: 'Account IDs', id: /^\d+$/, example: '100', get: (account) => ({ path: `/accounts/${account}` }) },
  levels: { campaign: { key: ['campaign'] } },
  always: ['day', 'account'],
  breakdowns: [],
  presets: { usual: { metrics: ['clicks'] } },
  columns: {
    day: day('Day of the row'),
    account: ofAccount('account', 'ID of the account'),
    campaign: dimension('ID of the campaign'),
    clicks: metric('whole', 'Clicks'),
  },
  days: { backMax: 500, lookBack: 5, chunk: 3 },
  report: {
    form: 'job',
    start: ({ account, from, to }) => ({ path: `/accounts/${account}/reports`, body: { from, to } }),
    started: ({ json }) => textIn(objectIn(json).id),
    state: (id) => ({ path: `/reports/${id}` }),
    stateOf: ({ json }) => (objectIn(json).done === true ? 'done' : 'running'),
    page: (id, cursor) => ({ path: `/reports/${id}/rows`, query: { cursor } }),
    rows: ({ json }) => rowsIn(objectIn(json).rows),
    next: ({ json }) => textIn(objectIn(json).next),
    totalMs: 60_000,
  },
  check: { authentication: () => ({ path: '/accounts/100' }) },
}
const sources = {
  reports: () => reportSource(reports),
  /** The same reports, but three workers can read parts of them. */
  parts: () => reportSource({ ...reports, readers: 3 }),
  campaigns: () => campaigns,
}

/** The campaigns of the platform, which are listed without days. */
const campaigns = entitySource({
  slug: 'example-campaigns',
  name: 'Example campaigns',
  platform,
  dataType: 'ads management',
  dataTypeCategory: 'campaign management',
  description: 'Reads the campaigns of a made-up platform.',
  secrets,
  platformApi: restApi({ name: 'Example', baseUrl: origin }),
  auth: bearer('token'),
  accounts: { label: 'Account IDs', id: /^\d+$/, example: '100', get: (account) => ({ path: `/accounts/${account}` }) },
  levels: { campaign: { key: ['campaign'], columns: ['clicks'] } },
  always: ['account'],
  columns: {
    account: ofAccount('account', 'ID of the account'),
    campaign: dimension('ID of the campaign'),
    clicks: metric('whole', 'Clicks'),
  },
  report: {
    form: 'pages',
    page: ({ account }, cursor) => ({ path: `/accounts/${account}/campaigns`, query: { cursor } }),
    rows: ({ json }) => rowsIn(objectIn(json).rows),
    next: ({ json }) => textIn(objectIn(json).next),
  },
  check: { authentication: () => ({ path: '/accounts/100' }) },
})

/** The columns by which a row is found again. */
export const reportKey = 'day,account,campaign'

export type ReportPlatform = PlatformServer & {
  /** The figures that it has, by account and day, which is empty in a list: campaigns with their clicks. */
  figures: (account: string, day: string) => Readonly<Record<string, number>>
  /** The reports that were started, as `account from to`. */
  readonly started: string[]
}

/** Starts the platform. An account without figures on any day is refused if its ID begins with 9. */
export async function startReportPlatform(): Promise<ReportPlatform> {
  const started: string[] = []
  const server = await startPlatform(({ method, path, query, json }): Reply => {
    const [, account = '', reports] = /^\/accounts\/(\d+)(\/reports)?$/.exec(path) ?? []
    if (account.startsWith('9')) return { status: 403, json: {} }
    if (reports && method === 'POST') {
      const { from, to } = objectIn(json)
      started.push(`${account} ${from} ${to}`)
      return { json: { id: String(started.length - 1) } }
    }
    const [, listed = ''] = /^\/accounts\/(\d+)\/campaigns$/.exec(path) ?? []
    if (listed !== '') return pageOf(rowsOn(listed, ''), query)
    if (account !== '') return { json: { account } }
    const [, id = '', rows] = /^\/reports\/(\d+)(\/rows)?$/.exec(path) ?? []
    const [of = '', from = '', to = ''] = started[Number(id)]?.split(' ') ?? []
    if (!rows) return { json: { done: true } }
    return pageOf(
      eachDay(from, to).flatMap((one) => rowsOn(of, one)),
      query,
    )
  })
  const rowsOn = (account: string, day: string) =>
    Object.entries(platform.figures(account, day)).map(([campaign, clicks]) => ({ day, campaign, clicks }))
  const platform: ReportPlatform = Object.assign(server, { figures: () => ({}), started })
  return platform
}

/** A page of four rows. */
function pageOf(all: readonly object[], query: URLSearchParams): Reply {
  const at = Number(query.get('cursor') ?? 0)
  return { json: { rows: all.slice(at, at + 4), ...(at + 4 < all.length && { next: String(at + 4) }) } }
}

/** The sides of a transfer from the platform to PostgreSQL. @param url the address of the platform @param reads what is read */
export function reportSides(
  url: string,
  settings: Record<string, string | number>,
  reads: keyof typeof sources = 'reports',
): TestSides {
  const { source } = sources[reads]()
  const egress = createEgress({ networkPolicy: 'any', routes: { [origin]: url } })
  const postgresql = connectorBySlug('postgresql').destination?.deliver
  const opened = (context: SourceContext) => source?.open?.({ ...context, egress, settings, secrets: { token: 't' } })
  return {
    async *source(context, after) {
      yield* (await opened(context))?.read(after) ?? []
    },
    ...(reads === 'parts' && { divide: async (bounds, context) => (await opened(context))?.divide?.(bounds) }),
    ...(postgresql && { destination: postgresql }),
  }
}
