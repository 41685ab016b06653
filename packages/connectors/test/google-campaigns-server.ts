import { each, nonEmptyText, objectOf, oneOf, type Schema, trueOrFalse } from './body-schema.ts'
import { googleAdsCustomer, googleAdsRefusal, googleAdsSecrets } from './google-ads-server.ts'
import { googleReportSignIn } from './google-reports.ts'
import { tokensOf } from './oauth-tokens.ts'
import { type Asked, jsonBodies, pageOf, type Route, startRoutes } from './platform-routes.ts'
import type { PlatformServer, Reply } from './platform-server.ts'

/**
 * Campaigns, their budgets and ad groups of the Google Ads API v25, from its protocol buffers: resources, operations, update masks and
 * the query language. The operations of a request are done together or not at all. It refuses fields that it does not know, names that
 * are taken, campaigns without a declaration about political ads, amounts that are no whole cents, and changes of immutable fields.
 */
type Resource = Record<string, unknown>

export type GoogleCampaignsServer = PlatformServer & {
  readonly budgets: Resource[]
  readonly campaigns: Resource[]
  readonly adGroups: Resource[]
  readonly facts: { currency: string }
  /** Adds a campaign of somebody else with a budget. */
  addCampaign(campaign: Resource, budget: Resource): Resource
}

const customer = `customers/${googleAdsCustomer}`
const micros: Schema = (value) => typeof value === 'string' && /^\d{1,18}$/.test(value)
const factor: Schema = (value) => typeof value === 'number' && value >= 0
const dateTime: Schema = (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(value)
const budgetFields = {
  resourceName: nonEmptyText,
  deliveryMethod: oneOf('STANDARD ACCELERATED'),
  explicitlyShared: trueOrFalse,
  period: oneOf('DAILY CUSTOM_PERIOD'),
  ...each('amountMicros totalAmountMicros', micros),
}
const strategies = {
  manualCpc: objectOf({ enhancedCpcEnabled: trueOrFalse }),
  targetSpend: objectOf({ cpcBidCeilingMicros: micros }),
  maximizeConversions: objectOf({ targetCpaMicros: micros }),
  maximizeConversionValue: objectOf({ targetRoas: factor }),
  targetCpa: objectOf({ targetCpaMicros: micros }),
  targetRoas: objectOf({ targetRoas: factor }),
}
const strategyTypes: Readonly<Record<string, string>> = {
  manualCpc: 'MANUAL_CPC',
  targetSpend: 'TARGET_SPEND',
  maximizeConversions: 'MAXIMIZE_CONVERSIONS',
  maximizeConversionValue: 'MAXIMIZE_CONVERSION_VALUE',
}
const urls = each('trackingUrlTemplate finalUrlSuffix', nonEmptyText)
const campaignFields = {
  ...each('resourceName name campaignBudget', nonEmptyText),
  status: oneOf('ENABLED PAUSED REMOVED'),
  advertisingChannelType: oneOf('SEARCH DISPLAY PERFORMANCE_MAX DEMAND_GEN SHOPPING VIDEO'),
  containsEuPoliticalAdvertising: oneOf('CONTAINS_EU_POLITICAL_ADVERTISING DOES_NOT_CONTAIN_EU_POLITICAL_ADVERTISING'),
  networkSettings: objectOf(each('targetGoogleSearch targetSearchNetwork targetContentNetwork', trueOrFalse)),
  ...each('startDateTime endDateTime', dateTime),
  ...strategies,
  ...urls,
}
const adGroupFields = {
  ...each('resourceName name campaign', nonEmptyText),
  status: oneOf('ENABLED PAUSED REMOVED'),
  type: oneOf('SEARCH_STANDARD SEARCH_DYNAMIC_ADS DISPLAY_STANDARD'),
  ...each('cpcBidMicros targetCpaMicros', micros),
  targetRoas: factor,
  ...urls,
}
/** Fields that only Google sets, which queries can name. */
const outputOnly = ['id', 'biddingStrategyType']
const immutable = ['advertisingChannelType', 'campaign', 'type', 'period', 'resourceName']

/** Puts a value at a path of an answer. */
function put(tree: Resource, [key = '', ...path]: readonly string[], value: unknown): void {
  if (path.length === 0) tree[key] = value
  else {
    tree[key] = tree[key] ?? {}
    put(tree[key] as Resource, path, value)
  }
}

class Refused extends Error {
  readonly code: object
  readonly path: readonly string[]

  constructor(code: object, ...path: readonly string[]) {
    super('refused')
    this.code = code
    this.path = path
  }
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** A failure as the API has it, with the place of the error in the request. */
const failure = ({ code, path }: Refused, at: number, operation: string): Reply => ({
  status: 400,
  json: {
    error: {
      code: 400,
      status: 'INVALID_ARGUMENT',
      message: 'Request contains an invalid argument, which may quote jane@example.com',
      details: [
        {
          '@type': 'type.googleapis.com/google.ads.googleads.v25.errors.GoogleAdsFailure',
          errors: [
            {
              errorCode: code,
              message: 'may quote jane@example.com',
              location: {
                fieldPathElements: [
                  { fieldName: 'mutate_operations', index: at },
                  ...[snake(operation), ...path].map((fieldName) => ({ fieldName })),
                ],
              },
            },
          ],
        },
      ],
    },
  },
})

/** The values at the paths of a mask, which must be all values of the update. */
function masked(update: Resource, mask: unknown): Resource {
  const paths = String(mask).split(',')
  const there = (value: unknown, before: string): string[] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, one]) => there(one, `${before}.${key}`))
      : [before.slice(1)]
  const { resourceName, ...values } = update
  if (paths.toSorted().join() !== there(values, '').toSorted().join()) {
    throw new Refused({ fieldMaskError: 'FIELD_NOT_FOUND' }, 'update_mask')
  }
  return values
}

const mergedWith = (resource: Resource, values: Resource): Resource => ({
  ...resource,
  ...Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      typeof value === 'object' ? { ...(resource[key] as object), ...(value as object) } : value,
    ]),
  ),
})

export async function startGoogleCampaigns(): Promise<GoogleCampaignsServer> {
  const state = { budgets: [] as Resource[], campaigns: [] as Resource[], adGroups: [] as Resource[] }
  const facts = { currency: 'EUR' }
  let next = 100
  const tokens = tokensOf({
    path: '/token',
    secrets: googleAdsSecrets,
    prefix: 'access',
    expiresIn: 3_599,
    scope: 'https://www.googleapis.com/auth/adwords',
  })

  const kinds = {
    campaignBudgetOperation: {
      list: state.budgets,
      fields: budgetFields,
      path: 'campaignBudgets',
      result: 'campaignBudgetResult',
    },
    campaignOperation: { list: state.campaigns, fields: campaignFields, path: 'campaigns', result: 'campaignResult' },
    adGroupOperation: { list: state.adGroups, fields: adGroupFields, path: 'adGroups', result: 'adGroupResult' },
  } as const
  type Kind = keyof typeof kinds

  function assertBudget(one: Resource): void {
    const amounts = [one.amountMicros, one.totalAmountMicros].filter((amount) => amount !== undefined)
    if (amounts.length !== 1)
      throw new Refused({ campaignBudgetError: 'BUDGET_AMOUNT_MUST_BE_UNSET_FOR_CUSTOM_BUDGET_PERIOD' }, 'create')
    if ((one.period === 'CUSTOM_PERIOD') !== (one.totalAmountMicros !== undefined)) {
      throw new Refused({ campaignBudgetError: 'INVALID_PERIOD' }, 'create', 'period')
    }
    const field = one.amountMicros === undefined ? 'total_amount_micros' : 'amount_micros'
    if (BigInt(String(amounts[0])) % 10_000n !== 0n) {
      throw new Refused({ campaignBudgetError: 'NON_MULTIPLE_OF_MINIMUM_CURRENCY_UNIT' }, 'create', field)
    }
    if (BigInt(String(amounts[0])) < 1_000_000n) {
      throw new Refused({ campaignBudgetError: 'BUDGET_BELOW_PER_DAY_MINIMUM' }, 'create', field)
    }
  }

  function assertCampaign(one: Resource, all: readonly Resource[]): void {
    if (
      all.some((other) => other !== one && other.id !== one.id && other.name === one.name && other.status !== 'REMOVED')
    ) {
      throw new Refused({ campaignError: 'DUPLICATE_CAMPAIGN_NAME' }, 'create', 'name')
    }
    for (const field of ['name', 'advertisingChannelType', 'campaignBudget', 'containsEuPoliticalAdvertising']) {
      if (one[field] === undefined) throw new Refused({ fieldError: 'REQUIRED' }, 'create', snake(field))
    }
    const chosen = Object.keys(strategies).filter((name) => name in one)
    if (chosen.length !== 1) throw new Refused({ fieldError: 'REQUIRED' }, 'create', 'campaign_bidding_strategy')
  }

  function assertAdGroup(one: Resource, all: readonly Resource[]): void {
    const isTaken = (other: Resource) =>
      other.id !== one.id && other.name === one.name && other.campaign === one.campaign
    if (all.some((other) => isTaken(other) && other.status !== 'REMOVED')) {
      throw new Refused({ adGroupError: 'DUPLICATE_ADGROUP_NAME' }, 'create', 'name')
    }
    if (!state.campaigns.some(({ resourceName }) => resourceName === one.campaign)) {
      throw new Refused({ mutateError: 'RESOURCE_NOT_FOUND' }, 'create', 'campaign')
    }
  }
  const rules = {
    campaignBudgetOperation: assertBudget,
    campaignOperation: assertCampaign,
    adGroupOperation: assertAdGroup,
  }

  /** Does an operation on copies of the lists. @param names resources that the request has created, by their temporary names */
  function operate(
    kind: Kind,
    operation: Resource,
    lists: Record<Kind, Resource[]>,
    names: Map<string, string>,
  ): string {
    const { fields, path } = kinds[kind]
    const { create, update, updateMask, ...more } = operation as Record<string, Resource | undefined>
    const given = create ?? update
    if (!given || Object.keys(more).length > 0) throw new Refused({ requestError: 'UNKNOWN' })
    if (!objectOf(fields)(given)) throw new Refused({ fieldError: 'INVALID_VALUE' }, create ? 'create' : 'update')
    const list = lists[kind]
    if (create) {
      const id = String(++next)
      const resourceName = `${customer}/${path}/${id}`
      if (create.resourceName !== undefined) names.set(String(create.resourceName), resourceName)
      const campaignBudget = names.get(String(create.campaignBudget)) ?? create.campaignBudget
      const made = { ...create, ...(campaignBudget !== undefined && { campaignBudget }), id, resourceName }
      rules[kind](made, list)
      list.push(made)
      return resourceName
    }
    const at = list.findIndex(({ resourceName }) => resourceName === given.resourceName)
    const resource = list[at]
    if (!resource || resource.status === 'REMOVED') throw new Refused({ mutateError: 'RESOURCE_NOT_FOUND' }, 'update')
    const values = masked(given, updateMask)
    const fixed = Object.keys(values).find((key) => immutable.includes(key))
    if (fixed !== undefined) throw new Refused({ fieldError: 'IMMUTABLE_FIELD' }, 'update', snake(fixed))
    const changed = mergedWith(resource, values)
    rules[kind](changed, list)
    list[at] = changed
    return String(resource.resourceName)
  }

  const mutate: Route = ({ body }) => {
    const { mutateOperations: all, validateOnly, ...more } = body
    if (!Array.isArray(all) || all.length === 0 || Object.keys(more).length > 0) return googleAdsRefusal(400, 'UNKNOWN')
    const lists: Record<Kind, Resource[]> = {
      campaignBudgetOperation: [...state.budgets],
      campaignOperation: [...state.campaigns],
      adGroupOperation: [...state.adGroups],
    }
    const names = new Map<string, string>()
    const results: object[] = []
    for (const [at, one] of all.entries()) {
      const [[kind, operation] = [], ...others] = Object.entries(one as object)
      if (kind === undefined || !(kind in kinds) || others.length > 0) return googleAdsRefusal(400, 'UNKNOWN')
      try {
        const resourceName = operate(kind as Kind, operation as Resource, lists, names)
        results.push({ [kinds[kind as Kind].result]: { resourceName } })
      } catch (error) {
        if (error instanceof Refused) return failure(error, at, kind)
        throw error
      }
    }
    if (validateOnly === true) return { json: {} }
    for (const kind of Object.keys(kinds) as Kind[])
      kinds[kind].list.splice(0, Number.POSITIVE_INFINITY, ...lists[kind])
    return { json: { mutateOperationResponses: results } }
  }

  /** The value of a field of the query language, such as `campaign.network_settings.target_search_network`. */
  function fieldOf(field: string, row: Record<string, Resource>): unknown {
    const [resource = '', ...path] = field.split('.').map(camel)
    const known: Record<string, object> = {
      campaign: campaignFields,
      campaignBudget: budgetFields,
      adGroup: adGroupFields,
    }
    const [first = ''] = path
    if (!outputOnly.includes(first) && !(first in (known[resource] ?? {}))) return undefined
    const of = row[resource] ?? {}
    if (first === 'biddingStrategyType')
      return strategyTypes[Object.keys(strategyTypes).find((name) => name in of) ?? '']
    return path.reduce<unknown>((value, key) => (value as Resource | undefined)?.[key], of)
  }

  const search: Route = ({ body }: Asked) => {
    const [, selected = '', from = '', where = ''] =
      /^SELECT (.+) FROM (\w+)(?: WHERE (.+?))?(?: LIMIT 1)?$/.exec(String(body.query)) ?? []
    if (from === 'customer') return { json: { results: [{ customer: { currencyCode: facts.currency } }] } }
    const campaignOf = (one: Resource) =>
      state.campaigns.find(({ resourceName }) => resourceName === one.campaign) ?? {}
    const rows: Record<string, Resource>[] =
      from === 'campaign'
        ? state.campaigns.map((campaign) => ({
            campaign,
            campaignBudget: state.budgets.find(({ resourceName }) => resourceName === campaign.campaignBudget) ?? {},
          }))
        : state.adGroups.map((adGroup) => ({ adGroup, campaign: campaignOf(adGroup) }))
    const fits = rows.filter((row) =>
      where.split(' AND ').every((condition) => {
        const [, field = '', sign, value] = /^([\w.]+) (=|!=) '?(\w+)'?$/.exec(condition) ?? []
        const isSame = String(fieldOf(field, row)) === value
        return sign === '=' ? isSame : !isSame
      }),
    )
    const { page, next: after } = pageOf(fits, body.pageToken ?? 0)
    const results = page.map((row) => {
      const result: Record<string, Resource> = {}
      for (const field of selected.split(', ')) {
        const value = fieldOf(field, row)
        if (value === undefined || value === false) continue
        const [resource = '', ...path] = field.split('.').map(camel)
        put(result, [resource, ...path], value)
      }
      return result
    })
    return { json: { results, fieldMask: selected, ...(after !== undefined && { nextPageToken: String(after) }) } }
  }

  const { budgets, campaigns, adGroups } = state
  return startRoutes(
    {
      open: { 'GET /': { text: 'Google' }, ...tokens.routes },
      demands: [tokens.bearer(googleReportSignIn.revoked), jsonBodies(googleAdsRefusal(400, 'UNKNOWN'))],
      routes: {
        'GET /v25/customers:listAccessibleCustomers': { json: { resourceNames: [customer] } },
        [`POST /v25/${customer}/googleAds:search`]: search,
        [`POST /v25/${customer}/googleAds:mutate`]: mutate,
      },
      unknown: ({ path }) =>
        /\/customers\/\d+\//.test(path) ? googleAdsRefusal(403, 'USER_PERMISSION_DENIED') : { status: 404, json: {} },
    },
    {
      budgets,
      campaigns,
      adGroups,
      facts,
      addCampaign(campaign: Resource, budget: Resource) {
        const id = String(++next)
        const campaignBudget = `${customer}/campaignBudgets/${id}`
        budgets.push({ resourceName: campaignBudget, id, explicitlyShared: false, ...budget })
        const added = {
          id,
          resourceName: `${customer}/campaigns/${id}`,
          status: 'PAUSED',
          advertisingChannelType: 'SEARCH',
          containsEuPoliticalAdvertising: 'DOES_NOT_CONTAIN_EU_POLITICAL_ADVERTISING',
          campaignBudget,
          ...campaign,
        }
        campaigns.push(added)
        return added
      },
    },
  )
}
