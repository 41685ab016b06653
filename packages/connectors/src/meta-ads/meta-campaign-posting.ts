import { secret, select } from '@penstock/connector'
import { idSetting } from '../kit/api.ts'
import type { EventColumns } from '../kit/columns.ts'
import type { WhyNot } from '../kit/event-facts.ts'
import { labelsOf } from '../kit/names.ts'
import { postingDestination } from '../kit/posting-destination.ts'
import type { PostingLevel } from '../kit/posting-facts.ts'
import type { Answer } from '../platform-api/call.ts'
import { isObject, type JsonObject, listIn, objectIn, parseObject, textIn } from '../platform-api/json.ts'
import { wrong } from '../platform-api/rows/events.ts'
import { accountPath, lacking, metaApi, metaAuth, permissions } from './api.ts'
import { app } from './app.ts'
import { metaDigits } from './currencies.ts'
import { metaErrorOf } from './graph-errors.ts'
import { adAccounts, nextCursor } from './listings.ts'
import { metaAds } from './platform.ts'
import { adSetColumns, campaignColumns, specialAdCategories } from './posting-columns.ts'

/** The fields of columns, for a request that reads objects. */
const fieldsOf = (columns: EventColumns): string =>
  ['id', 'name', ...new Set(Object.values(columns).map(({ to }) => to.split('.')[0]))].join(',')

const found: PostingLevel['found'] = ({ json }) =>
  listIn(objectIn(json).data)
    .map(objectIn)
    .map(({ id, name, ...values }) => ({ id, name, values: withCategory(values) }))

/** Meta answers no special ad category as an empty list. */
const withCategory = (values: JsonObject): JsonObject =>
  listIn(values.special_ad_categories).length === 0 && 'special_ad_categories' in values
    ? { ...values, special_ad_categories: ['NONE'] }
    : values

/** Facts that campaigns and ad sets have in common. @param edge where objects are created */
function levelOf(
  edge: string,
  columns: EventColumns,
): Pick<PostingLevel, 'id' | 'nameMax' | 'columns' | 'found' | 'next' | 'create' | 'change' | 'made'> {
  const bodyOf = (values: JsonObject, isTry: boolean) => ({
    ...values,
    ...(isTry && { execution_options: ['validate_only'] }),
  })
  return {
    id: /^\d{1,20}$/,
    nameMax: 400,
    columns,
    found,
    next: nextCursor,
    create: ({ account, parent, values, isTry }) => ({
      path: `/${account}/${edge}`,
      body: bodyOf(parent === '' ? values : { campaign_id: parent, ...values }, isTry),
    }),
    change: ({ object, values, isTry }) => ({ path: `/${object.id}`, body: bodyOf(values, isTry) }),
    made: ({ json }) => objectIn(json).id,
  }
}

const pageOf = (path: string, columns: EventColumns, after: string | undefined) => ({
  path,
  query: { fields: fieldsOf(columns), limit: '200', after },
})

/** Meanings of subcodes. */
const subcodes: Readonly<Record<string, string>> = {
  1885272: 'the budget is below the least that Meta accepts',
  1885621: 'either the campaign or its ad sets can have budgets, not both',
}

/**
 * Why Meta refuses an object: Meta's codes, and the column that it blames. Meta's messages are omitted, because they quote
 * values.
 */
function refusal(answer: Answer, { one, columns }: PostingLevel): WhyNot | undefined {
  const means = metaErrorOf(answer)?.code
  if (means !== 'request_refused' && means !== 'invalid_batch' && means !== 'object_not_found') return undefined
  const error = objectIn(objectIn(answer.json).error)
  const [code, subcode] = [textIn(error.code), textIn(error.error_subcode)]
  const data = isObject(error.error_data) ? error.error_data : parseObject(textIn(error.error_data) ?? '')
  const blamed = listIn(data.blame_field_specs).flat().map(String)
  const field = Object.keys(columns).find((name) => blamed.includes(columns[name]?.to.split('.')[0] ?? ''))
  const known = subcode === undefined ? undefined : subcodes[subcode]
  const why = known === undefined ? '' : `: ${known}`
  const codes = subcode === undefined ? `error ${code}` : `error ${code}, subcode ${subcode}`
  const reason = `Meta does not accept the ${one}${why} (${codes}).`
  return field ? { reason, field } : reason
}

/** Campaigns and ad sets of Meta, created and changed by rows. */
export const metaCampaignPosting = postingDestination({
  slug: 'meta-campaign-posting',
  name: 'Meta Campaign Posting',
  platform: metaAds,
  description:
    'Creates campaigns and ad sets on Facebook and Instagram from rows, and changes their budgets and status.',
  notes:
    'A row is a campaign or an ad set. It is found by its ID, or by its exact name in the ad account or the campaign; if there is none, it is created, paused unless the row says active. Only values that differ are sent, so a repeated row changes nothing. Empty cells change nothing, and nothing is deleted or archived. Names must be unique: if several have the name, the row is rejected. Amounts are whole units of the currency of the ad account, such as 12.50. A row with a budget above the greatest budget, and a row with which all budgets rise by more than the greatest increase, are rejected. Special ad categories of a new campaign must be in the row or in the connection. A preview asks Meta to validate each row. Ads and creatives are not created. Sort campaigns before their ad sets. Do not let two connections create objects with the same name at the same time: Meta does not reject it.',
  tested:
    'Our own test server, which follows Meta’s business SDK and the published documentation of its Marketing API; not Meta itself. No one else has checked the server, because the licence of Meta’s own client allows its use with Meta’s services only.',
  api: { version: 'Graph API v26.0', ends: 'about a year after its release; Meta announces the date' },
  platformApi: metaApi,
  auth: metaAuth('accessToken'),
  secrets: {
    ...app,
    accessToken: secret({
      label: 'System user access token',
      description: 'Token of a system user with the permission ads_management',
      required: true,
    }),
  },
  settings: {
    advertiserId: idSetting({
      label: 'Ad account ID',
      description: 'ID of the ad account whose campaigns are created and changed',
      required: true,
      pattern: /^(act_)?\d{1,20}$/,
      example: '1234567890',
      what: 'the number of an ad account at Meta',
    }),
    specialAdCategory: select({
      keepsState: 'onward',
      asked: true,
      label: 'Special ad category',
      description: 'What you declare about new campaigns, for rows without special_ad_categories',
      options: specialAdCategories,
      labels: labelsOf(specialAdCategories),
    }),
  },
  listed: { advertiserId: adAccounts },
  account: {
    setting: 'advertiserId',
    of: accountPath,
    get: (account) => ({ path: `/${account}`, query: { fields: 'id,currency' } }),
    currency: ({ json }) => objectIn(json).currency,
  },
  money: { digits: metaDigits, as: 'number' },
  levels: {
    campaign: {
      ...levelOf('campaigns', campaignColumns),
      one: 'campaign',
      needs: ['objective', 'special_ad_categories'],
      fixed: ['objective', 'buying_type'],
      finish: (values) => {
        const { special_ad_categories: given } = values
        if (given === undefined) return { read: values }
        const categories = listIn(given).map((one) => String(one).trim().toUpperCase())
        if (categories.every((one) => specialAdCategories.includes(one))) {
          return { read: { ...values, special_ad_categories: categories } }
        }
        return wrong(`Special ad categories are ${specialAdCategories.join(', ')}.`, 'special_ad_categories')
      },
      usual: ({ daily_budget, lifetime_budget }, { specialAdCategory }) => ({
        status: 'PAUSED',
        ...(specialAdCategory !== undefined && { special_ad_categories: [specialAdCategory] }),
        ...((daily_budget ?? lifetime_budget) === undefined && { is_adset_budget_sharing_enabled: false }),
      }),
      page: ({ account }, after) => pageOf(`/${account}/campaigns`, campaignColumns, after),
    },
    ad_set: {
      ...levelOf('adsets', adSetColumns),
      one: 'ad set',
      parent: 'campaign',
      needs: ['optimization_goal', 'billing_event', ['targeting', 'countries']],
      fixed: ['countries'],
      usual: () => ({ status: 'PAUSED' }),
      page: ({ parent }, after) => pageOf(`/${parent}/adsets`, adSetColumns, after),
      ofParent: [
        (_, id) => ({ path: `/${id}`, query: { fields: 'campaign_id' } }),
        ({ json }) => objectIn(json).campaign_id,
      ],
    },
  },
  validates: true,
  refusal,
  check: {
    authentication: { path: '/me', query: { fields: 'id' } },
    credentials: 'the access token',
    permissions: [permissions, lacking('ads_management')],
  },
})
