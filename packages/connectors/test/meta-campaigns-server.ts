import { createHmac } from 'node:crypto'
import { each, listOf, nonEmptyText, objectOf, oneOf, positiveNumber, type Schema, trueOrFalse } from './body-schema.ts'
import { listAccounts, metaSecrets, problem } from './meta-server.ts'
import { type Asked, entityRoute, header, jsonBodies, pageOf, startRoutes } from './platform-routes.ts'
import type { PlatformServer, Reply } from './platform-server.ts'

/**
 * Campaigns and ad sets of Meta's Marketing API, from the fields and the words of its business SDK. It refuses fields that it does not
 * know, and what the reference demands: categories, a choice about budgets of ad sets, budgets above a minimum and in one place only.
 */
export type MetaObject = { readonly id: string; readonly parent: string } & Record<string, unknown>

export type MetaCampaignsServer = PlatformServer & {
  readonly campaigns: MetaObject[]
  readonly adSets: MetaObject[]
  /** The currency of the ad account, and the permissions of the token. */
  readonly facts: { currency: string; permissions: string[] }
  /** Adds an object that somebody else created. */
  add(kind: 'campaigns' | 'adSets', object: Record<string, unknown>, parent?: string): MetaObject
}

const account = 'act_900'
const budget: Schema = (value) => Number.isSafeInteger(value)
const texts = listOf(nonEmptyText)
const time: Schema = (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d{4})$/.test(value)
const anything: Schema = (value) => typeof value === 'object' && value !== null
const status = oneOf('ACTIVE PAUSED DELETED ARCHIVED')
const bidStrategy = oneOf('COST_CAP LOWEST_COST_WITHOUT_CAP LOWEST_COST_WITH_BID_CAP LOWEST_COST_WITH_MIN_ROAS')
const shared = {
  name: nonEmptyText,
  status,
  bid_strategy: bidStrategy,
  ...each('daily_budget lifetime_budget', budget),
  start_time: time,
  execution_options: listOf(oneOf('validate_only include_recommendations')),
}
const campaignFields = {
  ...shared,
  objective: oneOf(
    'OUTCOME_APP_PROMOTION OUTCOME_AWARENESS OUTCOME_ENGAGEMENT OUTCOME_LEADS OUTCOME_SALES OUTCOME_TRAFFIC',
  ),
  buying_type: oneOf('AUCTION RESERVED'),
  special_ad_categories: listOf(
    oneOf(
      'CREDIT EMPLOYMENT FINANCIAL_PRODUCTS_SERVICES HOUSING ISSUES_ELECTIONS_POLITICS NONE ONLINE_GAMBLING_AND_GAMING',
    ),
  ),
  special_ad_category_country: texts,
  spend_cap: budget,
  stop_time: time,
  is_adset_budget_sharing_enabled: trueOrFalse,
}
const adSetFields = {
  ...shared,
  campaign_id: nonEmptyText,
  ...each('optimization_goal billing_event destination_type dsa_beneficiary dsa_payor', nonEmptyText),
  ...each('bid_amount daily_min_spend_target daily_spend_cap', positiveNumber),
  ...each('targeting promoted_object attribution_spec', anything),
  end_time: time,
}
const validCampaign = objectOf(campaignFields, ['name', 'objective', 'special_ad_categories'])
const validAdSet = objectOf(adSetFields, ['name', 'campaign_id', 'optimization_goal', 'billing_event', 'targeting'])
const { buying_type: _, objective: __, ...changing } = campaignFields
const validChange = { campaigns: objectOf(changing), adSets: objectOf({ ...adSetFields, campaign_id: () => false }) }

const missing = problem(100, { error_subcode: 33 })
const blaming = (field: string, subcode: number) =>
  problem(100, { error_subcode: subcode, error_data: JSON.stringify({ blame_field_specs: [[field]] }) })
const least = 100

/** The refusal of the values of an object, if Meta would refuse them. */
function refusalOf(values: Record<string, unknown>, parent: MetaObject | undefined): Reply | undefined {
  for (const field of ['daily_budget', 'lifetime_budget']) {
    if (values[field] !== undefined && Number(values[field]) < least) return blaming(field, 1885272)
  }
  if (values.daily_budget !== undefined && values.lifetime_budget !== undefined) return problem(100)
  const hasBudget = (one: Record<string, unknown>) => (one.daily_budget ?? one.lifetime_budget) !== undefined
  if (parent) return hasBudget(values) === hasBudget(parent) ? blaming('daily_budget', 1885621) : undefined
  // Either the campaign has a budget, or it says whether its ad sets share theirs.
  if (hasBudget(values) === (values.is_adset_budget_sharing_enabled !== undefined)) return problem(100)
  return undefined
}

/** An object as Meta answers it: amounts are texts, and times have the zone of the account. */
function answered(object: MetaObject, fields: string): Record<string, unknown> {
  const known: Record<string, unknown> = { campaign_id: object.parent, lifetime_budget: 0, ...object }
  const answerOf = (name: string) => {
    const value = known[name]
    if (/budget$|cap$|amount$|target$/.test(name) && value !== undefined) return String(value)
    if (name === 'special_ad_categories' && String(value) === 'NONE') return []
    return typeof value === 'string' && /_time$/.test(name)
      ? `${new Date(Date.parse(value) + 3_600_000).toISOString().slice(0, 19)}+0100`
      : value
  }
  return Object.fromEntries(
    [...new Set(['id', ...fields.split(',')])].flatMap((name) =>
      known[name] === undefined ? [] : [[name, answerOf(name)]],
    ),
  )
}

export async function startMetaCampaigns(): Promise<MetaCampaignsServer> {
  const campaigns: MetaObject[] = []
  const adSets: MetaObject[] = []
  const facts = { currency: 'EUR', permissions: ['ads_management'] }
  let next = 0
  const add: MetaCampaignsServer['add'] = (kind, values, parent = '') => {
    const object = { id: `12000000000000000${++next}`, ...values, parent }
    ;(kind === 'campaigns' ? campaigns : adSets).push(object)
    return object
  }
  const list = (objects: readonly MetaObject[], known: object, { query }: Asked): Reply => {
    const fields = query.get('fields') ?? 'id'
    if (fields.split(',').some((name) => name !== 'id' && !(name in known))) return problem(100)
    const there = objects.filter((one) => one.status !== 'DELETED' && one.status !== 'ARCHIVED')
    const { page, next: after } = pageOf(there, query.get('after') ?? 0)
    const data = page.map((one) => answered(one, fields))
    const paging = { cursors: { after: String(after) }, ...(after && { next: 'https://graph.facebook.com/next' }) }
    return { json: { data, paging } }
  }
  const create = (kind: 'campaigns' | 'adSets', { body }: Asked): Reply => {
    if (!(kind === 'campaigns' ? validCampaign : validAdSet)(body)) return problem(100)
    const { execution_options: options, campaign_id: parent = '', ...values } = body
    const campaign = campaigns.find(({ id }) => id === parent)
    if (kind === 'adSets' && !campaign) return problem(100, { error_subcode: 1487079 })
    const refused = refusalOf(values, campaign)
    if (refused) return refused
    if (Array.isArray(options) && options.includes('validate_only')) return { json: { success: true } }
    return { json: { id: add(kind, values, String(parent)).id } }
  }
  const proof = createHmac('sha256', metaSecrets.clientSecret).update(metaSecrets.accessToken).digest('hex')
  return startRoutes(
    {
      open: { 'GET /': { status: 302, headers: { location: 'https://www.facebook.com/' } } },
      demands: [
        header('authorization', `Bearer ${metaSecrets.accessToken}`, problem(190, { error_subcode: 463 }, 401)),
        ({ query }) => (query.get('appsecret_proof') === proof ? undefined : problem(100)),
        jsonBodies(problem(100)),
      ],
      routes: {
        'GET /v26.0/me': { json: { id: '1' } },
        'GET /v26.0/me/permissions': () => ({
          json: { data: facts.permissions.map((permission) => ({ permission, status: 'granted' })) },
        }),
        'GET /v26.0/me/adaccounts': ({ query }) => listAccounts(query),
        [`GET /v26.0/${account}`]: () => ({ json: { id: account, currency: facts.currency } }),
        [`GET /v26.0/${account}/campaigns`]: (asked) => list(campaigns, campaignFields, asked),
        [`POST /v26.0/${account}/campaigns`]: (asked) => create('campaigns', asked),
        [`POST /v26.0/${account}/adsets`]: (asked) => create('adSets', asked),
        'GET /v26.0/{id}/adsets': (asked) =>
          campaigns.some(({ id }) => id === asked.params.id)
            ? list(
                adSets.filter(({ parent }) => parent === asked.params.id),
                adSetFields,
                asked,
              )
            : missing,
        'GET /v26.0/{id}': entityRoute(adSets, missing, (one, { query }) => ({
          json: answered(one, query.get('fields') ?? 'id'),
        })),
        'POST /v26.0/{id}': ({ params, body }) => {
          const kind = campaigns.some(({ id }) => id === params.id) ? 'campaigns' : 'adSets'
          const objects = kind === 'campaigns' ? campaigns : adSets
          const at = objects.findIndex(({ id }) => id === params.id)
          const object = objects[at]
          if (!object) return missing
          if (!validChange[kind](body)) return problem(100)
          const { execution_options: options, ...values } = body
          const changed = { ...object, ...values }
          const refused = refusalOf(
            changed,
            campaigns.find(({ id }) => id === object.parent),
          )
          if (refused) return refused
          if (!Array.isArray(options)) objects[at] = changed
          return { json: { success: true } }
        },
      },
      unknown: missing,
    },
    { campaigns, adSets, facts, add },
  )
}
