import { type ErrorFact, idSetting, restApi } from '../kit/api.ts'
import type { EventColumns } from '../kit/columns.ts'
import type { WhyNot } from '../kit/event-facts.ts'
import { postingDestination } from '../kit/posting-destination.ts'
import type { PostingLevel } from '../kit/posting-facts.ts'
import { type Answer, isSuccess } from '../platform-api/call.ts'
import { type JsonObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { postingAuthorization } from './authorization.ts'
import { nextOf, pageOf } from './pages.ts'
import { pinterestAds } from './platform.ts'
import { adGroupColumns, campaignColumns } from './posting-columns.ts'
import { pinterestListed } from './reads.ts'
import { signIn } from './sign-in.ts'

const denied: ErrorFact = [
  'permission_denied',
  'The token needs the scopes ads:read and ads:write, and its user a role on the ad account that manages campaigns.',
]

/** The first code of the exceptions of an answer: Pinterest also refuses with the status 200. */
const exceptionIn = ({ json }: Answer): string | undefined =>
  listIn(objectIn(json).items)
    .flatMap((item) => listIn(objectIn(item).exceptions))
    .map((one) => textIn(objectIn(one).code))
    .find((code) => code !== undefined)

/** Codes that are not about an object. */
const codes: Readonly<Record<string, ErrorFact>> = {
  '8': 'rate_limited',
  '12': 'platform_error',
  '29': denied,
}

const api = restApi({
  name: 'Pinterest',
  baseUrl: 'https://api.pinterest.com/v5',
  errors: {
    codeAt: 'code',
    codes,
    special: (answer) => codes[exceptionIn(answer) ?? ''],
    statuses: {
      400: ['request_refused', 'Check the settings of the connection, and report this if they are right.'],
      401: ['expired_credentials', 'Sign in at Pinterest again and save the new tokens in the connector.'],
      403: denied,
      404: ['object_not_found', 'Check the ID of the ad account.'],
    },
  },
})

/** Statuses of objects that are not archived. */
const there = ['ACTIVE', 'PAUSED', 'DRAFT'].map((status) => `entity_statuses=${status}`).join('&')
const times = ['start_time', 'end_time']

/** Pinterest has times in seconds since 1970. */
const inSeconds = (values: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      times.includes(key) ? Math.floor(Date.parse(String(value)) / 1000) : value,
    ]),
  )

function fromSeconds(value: unknown): string | undefined {
  const seconds = numberIn(value)
  return seconds !== undefined && seconds > 0 && seconds < 1e11 ? new Date(seconds * 1000).toISOString() : undefined
}

function refusal(answer: Answer, { one }: PostingLevel): WhyNot | undefined {
  const code = isSuccess(answer) ? exceptionIn(answer) : textIn(objectIn(answer.json).code)
  const isOfObject = isSuccess(answer) || answer.status === 400
  if (code === undefined || !isOfObject || Object.hasOwn(codes, code)) return undefined
  return `Pinterest does not accept the ${one} (code ${/^\d{1,9}$/.test(code) ? code : 'unknown'}).`
}

/** Facts that campaigns and ad groups have in common. @param edge the last part of their path */
function levelOf(
  edge: string,
  columns: EventColumns,
): Pick<PostingLevel, 'id' | 'nameMax' | 'columns' | 'found' | 'next' | 'create' | 'change' | 'made'> {
  return {
    id: /^\d{1,18}$/,
    nameMax: 255,
    columns,
    found: ({ json }) =>
      listIn(objectIn(json).items)
        .map(objectIn)
        .map(({ id, name, ...values }) => ({
          id,
          name,
          values: Object.assign({}, values, Object.fromEntries(times.map((time) => [time, fromSeconds(values[time])]))),
        })),
    next: nextOf,
    create: ({ account, parent, values }) => ({
      path: `${account}/${edge}`,
      body: [
        parent === ''
          ? { ad_account_id: account.split('/').at(-1), ...inSeconds(values) }
          : { campaign_id: parent, ...inSeconds(values) },
      ],
    }),
    change: ({ account, parent, object, values }) => ({
      method: 'PATCH',
      path: `${account}/${edge}`,
      body: [
        { id: object.id, ...(parent === '' && { ad_account_id: account.split('/').at(-1) }), ...inSeconds(values) },
      ],
    }),
    made: ({ json }) => objectIn(objectIn(listIn(objectIn(json).items)[0]).data).id,
  }
}

/** Campaigns and ad groups of Pinterest, created and changed by rows. */
export const pinterestCampaignPosting = postingDestination({
  slug: 'pinterest-campaign-posting',
  name: 'Pinterest Campaign Posting',
  platform: pinterestAds,
  description: 'Creates campaigns and ad groups on Pinterest from rows, and changes their budgets, bids and status.',
  notes:
    'A row is a campaign or an ad group. It is found by its ID, or by its exact name in the ad account or the campaign; if there is none, it is created, paused unless the row says active. Only values that differ are sent, so a repeated row changes nothing. Empty cells change nothing, and nothing is archived. Archived campaigns are not found. Names must be unique: if several have the name, the row is rejected. Amounts are whole units of the currency of the ad account, such as 12.50. A row with a budget above the greatest budget, and a row with which all budgets rise by more than the greatest increase, are rejected. Pinterest cannot validate without changing: a preview looks up each row and applies the rules that Penstock knows. Pins and ads are not created. Sort campaigns before their ad groups. The app needs the scopes ads:read and ads:write, and standard access.',
  tested:
    'Our own test server, which follows the OpenAPI document that Pinterest publishes, for campaigns; not Pinterest itself.',
  api: { version: 'v5 (5.23.0)', ends: 'No end is known.' },
  platformApi: api,
  auth: { open: async (context) => (await import('./tokens.ts')).openPinterestTokens(context) },
  authorization: postingAuthorization,
  secrets: signIn,
  settings: {
    adAccountId: idSetting({
      label: 'Ad account ID',
      description: 'ID of the ad account whose campaigns are created and changed',
      required: true,
      pattern: /^\d{1,18}$/,
      example: '549755885175',
    }),
  },
  listed: { adAccountId: pinterestListed.accountIds },
  account: {
    setting: 'adAccountId',
    of: ({ adAccountId }) => `/ad_accounts/${String(adAccountId ?? '').trim()}`,
    get: (account) => ({ path: account }),
    currency: ({ json }) => objectIn(json).currency,
  },
  money: { digits: () => 6, as: 'number' },
  levels: {
    campaign: {
      ...levelOf('campaigns', campaignColumns),
      one: 'campaign',
      needs: ['objective_type'],
      fixed: ['objective_type', 'performance_plus'],
      usual: () => ({ status: 'PAUSED' }),
      page: ({ account }, bookmark) => pageOf(`${account}/campaigns?${there}`, bookmark),
    },
    ad_group: {
      ...levelOf('ad_groups', adGroupColumns),
      one: 'ad group',
      parent: 'campaign',
      needs: ['billable_event'],
      fixed: ['billable_event'],
      usual: () => ({ status: 'PAUSED' }),
      page: ({ account, parent }, bookmark) => pageOf(`${account}/ad_groups?${there}&campaign_ids=${parent}`, bookmark),
      ofParent: [(account, id) => ({ path: `${account}/ad_groups/${id}` }), ({ json }) => objectIn(json).campaign_id],
    },
  },
  validates: false,
  refusal,
  check: {
    authentication: { path: '/ad_accounts', query: { page_size: '1' } },
    credentials: 'the app and the refresh token',
  },
})
