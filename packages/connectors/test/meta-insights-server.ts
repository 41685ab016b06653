import { createHmac } from 'node:crypto'
import { listAccounts, metaSecrets } from './meta-server.ts'
import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * The part of Meta's Insights API that reports use, as strict as it is known to be: the proof of the app's secret, jobs of one
 * account, fields that exist, days of the time zone of the account, pages with cursors, every figure as text.
 */
export type MetaInsightsServer = PlatformServer & {
  /** Jobs by their IDs; a test can drop one. */
  readonly jobs: Map<string, InsightsJob>
  /** How many times a job is asked for before it is done. */
  readonly behaviour: {
    asksBeforeDone: number
    pageSize: number
    campaigns: number
    noReportOf: (day: string) => boolean
  }
}
export type InsightsJob = { account: string; day: string; body: Record<string, unknown>; asks: number; status?: string }

export const insightsAccounts = { '900': 'America/Los_Angeles', '901': 'Pacific/Auckland' } as const
export const insightsSecrets = {
  clientId: metaSecrets.clientId,
  clientSecret: metaSecrets.clientSecret,
  accessToken: metaSecrets.accessToken,
}

const fields = new Set(
  `date_start date_stop account_id account_name account_currency campaign_id campaign_name objective adset_id adset_name ad_id
  ad_name impressions reach clicks inline_link_clicks spend actions action_values`.split(/\s+/),
)
const breakdowns = new Set(['age', 'gender', 'country', 'publisher_platform'])
const failure = (status: number, code: number, others = {}): Reply => ({
  status,
  json: { error: { code, message: 'may quote what was sent', ...others } },
})

export async function startMetaInsights(): Promise<MetaInsightsServer> {
  const jobs = new Map<string, InsightsJob>()
  const behaviour: MetaInsightsServer['behaviour'] = {
    asksBeforeDone: 0,
    pageSize: 2,
    campaigns: 3,
    noReportOf: () => false,
  }

  function start(account: string, json: unknown): Reply {
    const {
      level,
      fields: asked = '',
      breakdowns: broken = '',
      time_range,
      time_increment,
      ...others
    } = json as Record<string, string>
    const { since, until } = (time_range ?? {}) as unknown as Record<string, string>
    const isKnown =
      String(asked)
        .split(',')
        .every((name) => fields.has(name)) &&
      String(broken)
        .split(',')
        .filter(Boolean)
        .every((name) => breakdowns.has(name))
    const isDay = /^\d{4}-\d{2}-\d{2}$/.test(since ?? '') && since === until && Number(time_increment) === 1
    if (!isKnown || !isDay || !level || Object.keys(others).length > 0) return failure(400, 100)
    const id = String(7_000 + jobs.size)
    jobs.set(id, { account, day: since ?? '', body: json as Record<string, unknown>, asks: 0 })
    return { json: { report_run_id: id } }
  }

  function rows({ account, day, body }: InsightsJob): Record<string, unknown>[] {
    const kept = String(body.fields)
      .split(',')
      .concat(
        String(body.breakdowns ?? '')
          .split(',')
          .filter(Boolean),
      )
    if (behaviour.noReportOf(day)) return []
    return Array.from({ length: behaviour.campaigns }, (_, n) => {
      const all: Record<string, unknown> = {
        date_start: day,
        date_stop: day,
        account_id: account,
        account_name: `Account ${account}`,
        account_currency: 'EUR',
        campaign_id: `${n}0000000000000000`,
        campaign_name: `Campaign ${n}`,
        objective: 'OUTCOME_SALES',
        impressions: String(1000 + n),
        reach: '12345678901234567890',
        clicks: String(n),
        spend: '12.50',
        actions: n === 0 ? [{ action_type: 'purchase', value: '3' }] : undefined,
        age: '18-24',
      }
      return Object.fromEntries(kept.filter((key) => all[key] !== undefined).map((key) => [key, all[key]]))
    })
  }

  function answer({ method, path, headers, query, json }: Received): Reply {
    if (path === '/') return { status: 302, headers: { location: 'https://www.facebook.com/' } }
    if (headers.authorization !== `Bearer ${insightsSecrets.accessToken}`)
      return failure(400, 190, { error_subcode: 463 })
    const proof = createHmac('sha256', insightsSecrets.clientSecret).update(insightsSecrets.accessToken).digest('hex')
    if (query.get('appsecret_proof') !== proof) return failure(400, 100)
    const asked = `${method} ${path.replace(/^\/v26\.0\//, '')}`
    if (asked === 'GET me') return { json: { id: '1' } }
    if (asked === 'GET me/adaccounts') return listAccounts(query)
    if (asked === 'GET me/permissions') return { json: { data: [{ permission: 'ads_read', status: 'granted' }] } }
    const [, account = '', rest] = /act_(\d+)(\/insights)?$/.exec(path) ?? []
    if (account !== '') {
      if (!(account in insightsAccounts)) return failure(403, 200)
      const zone = insightsAccounts[account as keyof typeof insightsAccounts]
      if (rest) return method === 'POST' ? start(account, json) : failure(400, 100)
      return { json: { account_id: account, name: `Account ${account}`, currency: 'EUR', timezone_name: zone } }
    }
    const [, id = '', page] = /^\/v26\.0\/(\d+)(\/insights)?$/.exec(path) ?? []
    const job = jobs.get(id)
    if (!job) return failure(400, 100, { error_subcode: 33 })
    const isDone = job.asks >= behaviour.asksBeforeDone
    if (!page) {
      job.asks++
      return { json: { id, async_status: job.status ?? (isDone ? 'Job Completed' : 'Job Running') } }
    }
    const from = Number(query.get('after') ?? 0)
    const all = rows(job)
    const until = from + Math.min(behaviour.pageSize, Number(query.get('limit')))
    const next = until < all.length ? { next: 'https://graph.facebook.com/next' } : {}
    return { json: { data: all.slice(from, until), paging: { cursors: { after: String(until) }, ...next } } }
  }

  return Object.assign(await startPlatform(answer), { jobs, behaviour })
}
