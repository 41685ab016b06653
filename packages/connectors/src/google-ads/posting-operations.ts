import type { WhyNot } from '../kit/event-facts.ts'
import type { PostedObject, PostingLevel, PostingRequest } from '../kit/posting-facts.ts'
import { type Answer, isSuccess } from '../platform-api/call.ts'
import type { PlatformCall } from '../platform-api/client.ts'
import { isObject, type JsonObject, listIn, objectIn } from '../platform-api/json.ts'
import { codeIn } from './google-errors.ts'
import { strategies, strategyLimits } from './posting-columns.ts'
import { meaningOfCode } from './reporting-errors.ts'

/** Requests that create and change campaigns and ad groups: `MutateGoogleAdsRequest` of the Google Ads API v25. */

/** One request, whose operations are all done or not at all. */
const mutate = ({ account, isTry }: PostingRequest, mutateOperations: readonly object[]): PlatformCall => ({
  path: `/customers/${account}/googleAds:mutate`,
  body: { mutateOperations, ...(isTry && { validateOnly: true }) },
})

/** An update of a resource with the paths of its values. */
function updateOf(resourceName: string, values: JsonObject): object {
  return { update: { resourceName, ...values }, updateMask: pathsOf(values).join(',') }
}

const pathsOf = (values: JsonObject, before = ''): string[] =>
  Object.entries(values).flatMap(([key, value]) =>
    isObject(value) ? pathsOf(value, `${before}${key}.`) : [`${before}${key}`],
  )

/** The limits of a strategy in values. */
function limitsOf(values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([key]) => Object.hasOwn(strategyLimits, key)))
}

/** The values of a campaign without its budget and its strategy, which are stated elsewhere. */
function plainOf(values: JsonObject): JsonObject {
  const elsewhere = ['budget', 'bidding', ...Object.keys(strategyLimits)]
  return Object.fromEntries(Object.entries(values).filter(([key]) => !elsewhere.includes(key)))
}

/** A new campaign with its own budget, which no other campaign shares. */
export function createCampaign(request: PostingRequest): PlatformCall {
  const { account, values } = request
  const budget = `customers/${account}/campaignBudgets/-1`
  const strategy = strategies[String(values.bidding)] ?? ''
  const total = objectIn(values.budget).totalAmountMicros !== undefined && { period: 'CUSTOM_PERIOD' }
  const limits = limitsOf(values)
  const bidding = strategy === 'manualCpc' ? { enhancedCpcEnabled: false } : limits
  return mutate(request, [
    {
      campaignBudgetOperation: {
        create: {
          resourceName: budget,
          deliveryMethod: 'STANDARD',
          explicitlyShared: false,
          ...total,
          ...objectIn(values.budget),
        },
      },
    },
    { campaignOperation: { create: { ...plainOf(values), campaignBudget: budget, [strategy]: bidding } } },
  ])
}

/** Changes a campaign and its budget. */
export function changeCampaign(request: PostingRequest & { readonly object: PostedObject }): PlatformCall {
  const { account, values, object } = request
  const limits = limitsOf(values)
  const strategy = strategies[String(object.values.bidding)] ?? ''
  const changed = { ...plainOf(values), ...(Object.keys(limits).length > 0 && { [strategy]: limits }) }
  const budget = objectIn(values.budget)
  return mutate(request, [
    ...(Object.keys(budget).length === 0
      ? []
      : [{ campaignBudgetOperation: updateOf(String(object.about.budget), budget) }]),
    ...(Object.keys(changed).length === 0
      ? []
      : [{ campaignOperation: updateOf(`customers/${account}/campaigns/${object.id}`, changed) }]),
  ])
}

export const createAdGroup = (request: PostingRequest): PlatformCall =>
  mutate(request, [
    {
      adGroupOperation: {
        create: { ...request.values, campaign: `customers/${request.account}/campaigns/${request.parent}` },
      },
    },
  ])

export const changeAdGroup = (request: PostingRequest & { readonly object: PostedObject }): PlatformCall =>
  mutate(request, [
    { adGroupOperation: updateOf(`customers/${request.account}/adGroups/${request.object.id}`, request.values) },
  ])

/** The ID in the result of an operation, which follows the last slash of its resource name. */
export const madeBy =
  (result: string) =>
  ({ json }: Answer): unknown =>
    listIn(objectIn(json).mutateOperationResponses)
      .map((one) => objectIn(objectIn(one)[result]).resourceName)
      .find((name) => typeof name === 'string')
      ?.split('/')
      .at(-1)

type MutateError = { readonly code: string; readonly field: string | undefined }

function errorsIn({ json }: Answer): MutateError[] {
  return listIn(objectIn(objectIn(json).error).details)
    .flatMap((detail) => listIn(objectIn(detail).errors))
    .map(objectIn)
    .map(({ errorCode, location }) => {
      const code = Object.values(objectIn(errorCode)).map(codeIn).find(Boolean) ?? 'UNKNOWN'
      const field = objectIn(listIn(objectIn(location).fieldPathElements).at(-1)).fieldName
      return { code, field: typeof field === 'string' ? field : undefined }
    })
}

/** Sentences about codes, to follow “Google Ads does not accept the campaign: ”. */
const reasons: Readonly<Record<string, string>> = {
  DUPLICATE_CAMPAIGN_NAME: 'another campaign has this name',
  DUPLICATE_ADGROUP_NAME: 'another ad group of the campaign has this name',
  NON_MULTIPLE_OF_MINIMUM_CURRENCY_UNIT: 'the amount is not a whole number of the smallest unit of the currency',
  MONEY_AMOUNT_TOO_LARGE: 'the amount is too large',
  BUDGET_BELOW_PER_DAY_MINIMUM: 'the budget is below the minimum of a day',
  CANNOT_MODIFY_START_DATE_IF_ALREADY_STARTED: 'it has started already',
  CANNOT_SET_DATE_TO_PAST: 'a day is in the past',
  BID_TYPE_AND_BIDDING_STRATEGY_MISMATCH: 'the bid does not fit the bidding strategy of the campaign',
  AD_GROUP_TYPE_NOT_VALID_FOR_ADVERTISING_CHANNEL_TYPE: 'the kind of ad group does not fit the kind of campaign',
}

/** Why Google refuses an object. Errors of the account and limits of the rate are left to the API. */
export function refusalOf(answer: Answer, { one, columns }: PostingLevel): WhyNot | undefined {
  if (isSuccess(answer) || answer.status !== 400) return undefined
  const errors = errorsIn(answer)
  const [first] = errors
  if (!first || errors.some(({ code }) => meaningOfCode(code) !== undefined)) return undefined
  const why = reasons[first.code]
  const reason = `Google Ads does not accept the ${one}${why ? `: ${why}` : ''} (${first.code}).`
  const name = first.field?.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  const field =
    name === 'name' ? 'name' : Object.keys(columns).find((key) => columns[key]?.to.split('.').at(-1) === name)
  return field ? { reason, field } : reason
}

/** Whether another object has the name. */
export const isTaken = (answer: Answer): boolean =>
  errorsIn(answer).some(({ code }) => code === 'DUPLICATE_CAMPAIGN_NAME' || code === 'DUPLICATE_ADGROUP_NAME')
