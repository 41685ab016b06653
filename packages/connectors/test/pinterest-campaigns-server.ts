import { each, nonEmptyText, objectOf, oneOf, type Schema, text, trueOrFalse, wholeNumber } from './body-schema.ts'
import { tokensOf } from './oauth-tokens.ts'
import { pinterestSecrets, refusal } from './pinterest-server.ts'
import { type Asked, entityRoute, jsonBodies, onlyAt, pageOf, type Route, startRoutes } from './platform-routes.ts'
import type { PlatformServer, Reply } from './platform-server.ts'

/**
 * Campaigns and ad groups of Pinterest, written from the OpenAPI document of its API (5.23.0): lists of up to 30 objects, a result for
 * each, and no key that a schema does not have. Names can be equal. Budgets must be at least one unit of the currency.
 */
export type PinterestObject = { readonly id: string } & Record<string, unknown>

export type PinterestCampaignsServer = PlatformServer & {
  readonly campaigns: PinterestObject[]
  readonly adGroups: PinterestObject[]
}

const account = '549'
const root = `/v5/ad_accounts/${account}`
const id: Schema = (value) => typeof value === 'string' && /^\d{1,18}$/.test(value)
const anything: Schema = (value) => typeof value === 'object' && value !== null
const shared = {
  id,
  name: nonEmptyText,
  status: oneOf('ACTIVE PAUSED ARCHIVED DRAFT DELETED_DRAFT'),
  ...each('start_time end_time', wholeNumber),
  tracking_urls: anything,
}
const campaignFields = {
  ...shared,
  ad_account_id: (value: unknown) => value === account,
  objective_type: oneOf('AWARENESS CONSIDERATION WEB_CONVERSION CATALOG_SALES VIDEO_COMPLETION'),
  ...each('daily_spend_cap lifetime_spend_cap', wholeNumber),
  ...each('is_campaign_budget_optimization is_flexible_daily_budgets is_performance_plus', trueOrFalse),
  order_line_id: text,
}
const adGroupFields = {
  ...shared,
  campaign_id: id,
  ...each('budget_in_micro_currency bid_in_micro_currency', wholeNumber),
  budget_type: oneOf('DAILY LIFETIME CBO_ADGROUP'),
  billable_event: oneOf('CLICKTHROUGH IMPRESSION VIDEO_V_50_MRC'),
  bid_strategy_type: oneOf('AUTOMATIC_BID MAX_BID TARGET_AVG'),
  placement_group: oneOf('ALL SEARCH BROWSE OTHER'),
  pacing_delivery_type: oneOf('STANDARD ACCELERATED'),
  auto_targeting_enabled: trueOrFalse,
  ...each('targeting_spec optimization_goal_metadata', anything),
}
const kinds = {
  campaigns: {
    fields: campaignFields,
    needs: ['name', 'objective_type', 'ad_account_id'],
    changes: ['id', 'ad_account_id'],
  },
  adGroups: { fields: adGroupFields, needs: ['billable_event', 'campaign_id', 'name'], changes: ['id'] },
} as const
type Kind = keyof typeof kinds

/** An exception of one object, in an answer with the status 200. */
export const exception = (code: number): Reply => ({
  json: { items: [{ data: {}, exceptions: [{ code, message: 'may quote jane@example.com' }] }] },
})

export async function startPinterestCampaigns(): Promise<PinterestCampaignsServer> {
  const state = { campaigns: [] as PinterestObject[], adGroups: [] as PinterestObject[] }
  const tokens = tokensOf({
    path: '/v5/oauth/token',
    secrets: pinterestSecrets,
    client: 'basic',
    prefix: 'pina-',
    expiresIn: 2_592_000,
    more: (number) => ({ response_type: 'refresh_token', refresh_token: `pinr-${number}` }),
    refuses: { client: refusal(401, 2), form: refusal(400, 1), grant: refusal(400, 1) },
  })
  let next = 626_736_533_506
  /** The code with which an object is refused. */
  const codeOf = (kind: Kind, one: PinterestObject): number | undefined => {
    const budgets = [one.daily_spend_cap, one.lifetime_spend_cap, one.budget_in_micro_currency]
    if (budgets.some((budget) => budget !== undefined && Number(budget) < 1_000_000)) return 2_304
    if (one.daily_spend_cap !== undefined && one.lifetime_spend_cap !== undefined) return 2_305
    const isOrphan = kind === 'adGroups' && !state.campaigns.some((campaign) => campaign.id === one.campaign_id)
    return isOrphan ? 2_306 : undefined
  }
  const list =
    (kind: Kind): Route =>
    ({ query }: Asked) => {
      const statuses = query.getAll('entity_statuses')
      const wanted = query.get('campaign_ids')
      const there = state[kind].filter(
        (one) => statuses.includes(String(one.status)) && (wanted === null || one.campaign_id === wanted),
      )
      const { page, next: after } = pageOf(there, query.get('bookmark'))
      return { json: { items: page, bookmark: after === undefined ? null : String(after) } }
    }
  const write =
    (kind: Kind, method: 'POST' | 'PATCH'): Route =>
    ({ json }: Asked) => {
      const { fields, needs, changes } = kinds[kind]
      const isValid = objectOf(fields, method === 'POST' ? needs : changes)
      if (!Array.isArray(json) || json.length === 0 || json.length > 30 || !json.every(isValid)) return refusal(400, 1)
      const items = json.map((given: Record<string, unknown>) => {
        const at = state[kind].findIndex((one) => one.id === given.id)
        const before = method === 'POST' ? { id: String(++next) } : state[kind][at]
        const changed = before && { ...before, ...given, id: before.id }
        const code = changed ? codeOf(kind, changed) : 2_307
        if (code !== undefined || !changed)
          return { data: {}, exceptions: [{ code, message: 'quotes jane@example.com' }] }
        if (method === 'POST') state[kind].push({ status: 'ACTIVE', ...changed })
        else state[kind][at] = changed
        return { data: changed, exceptions: [] }
      })
      return { json: { items } }
    }
  return startRoutes(
    {
      open: { 'GET /': { text: 'Pinterest' }, ...tokens.routes },
      demands: [
        tokens.bearer(refusal(401, 2)),
        onlyAt(/^\/v5\/ad_accounts\/([^/]+)/, account, refusal(403, 29)),
        jsonBodies(refusal(415, 1)),
      ],
      routes: {
        'GET /v5/ad_accounts': { json: { items: [{ id: account, name: 'Account', currency: 'EUR' }], bookmark: null } },
        [`GET ${root}`]: { json: { id: account, currency: 'EUR' } },
        [`GET ${root}/campaigns`]: list('campaigns'),
        [`POST ${root}/campaigns`]: write('campaigns', 'POST'),
        [`PATCH ${root}/campaigns`]: write('campaigns', 'PATCH'),
        [`GET ${root}/ad_groups`]: list('adGroups'),
        [`POST ${root}/ad_groups`]: write('adGroups', 'POST'),
        [`PATCH ${root}/ad_groups`]: write('adGroups', 'PATCH'),
        [`GET ${root}/ad_groups/{id}`]: entityRoute(state.adGroups, refusal(404, 1), (one) => ({ json: one })),
      },
      unknown: refusal(404, 0),
    },
    state,
  )
}
