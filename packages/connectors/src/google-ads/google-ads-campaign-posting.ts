import { select } from '@penstock/connector'
import { googleAuthorization } from '../google/authorization.ts'
import { nextPageToken } from '../google/reporting-api.ts'
import { googleSignIn } from '../google/sign-in.ts'
import { restApi } from '../kit/api.ts'
import { postingDestination } from '../kit/posting-destination.ts'
import { type JsonObject, listIn, objectIn } from '../platform-api/json.ts'
import { wrong } from '../platform-api/rows/events.ts'
import { accountSetting, managerAccountSetting } from './data-manager.ts'
import {
  clientAccounts,
  customerDigits,
  googleAdsApi,
  googleAdsAuth,
  googleAdsQuery,
  googleAdsScope,
  googleAdsVersion,
} from './google-ads-api.ts'
import { googleAds } from './platform.ts'
import { adGroupColumns, campaignColumns, finishCampaign, politicalAds, strangeLimit } from './posting-columns.ts'
import {
  changeAdGroup,
  changeCampaign,
  createAdGroup,
  createCampaign,
  isTaken,
  madeBy,
  refusalOf,
} from './posting-operations.ts'

const api = restApi({
  ...googleAdsApi,
  errors: {
    ...googleAdsApi.errors,
    statuses: {
      ...googleAdsApi.errors?.statuses,
      400: ['request_refused', 'Check the settings of the connection, and report this if they are right.'],
    },
  },
})

const campaignFields = [
  'id name status advertising_channel_type campaign_budget bidding_strategy_type contains_eu_political_advertising',
  'start_date_time end_date_time tracking_url_template final_url_suffix',
  'network_settings.target_search_network network_settings.target_content_network',
  'maximize_conversions.target_cpa_micros target_cpa.target_cpa_micros target_spend.cpc_bid_ceiling_micros',
  'maximize_conversion_value.target_roas target_roas.target_roas',
]
  .flatMap((line) => line.split(' '))
  .map((field) => `campaign.${field}`)
const budgetFields = ['amount_micros', 'total_amount_micros', 'explicitly_shared'].map(
  (field) => `campaign_budget.${field}`,
)
const adGroupFields =
  'id name status type cpc_bid_micros target_cpa_micros target_roas tracking_url_template final_url_suffix'
    .split(' ')
    .map((field) => `ad_group.${field}`)

/** The values of a campaign as columns have them. */
function campaignOf(row: unknown) {
  const { campaign, campaignBudget } = objectIn(row)
  const { id, name, biddingStrategyType: bidding, campaignBudget: budget, ...values } = objectIn(campaign)
  const { amountMicros, totalAmountMicros, explicitlyShared } = objectIn(campaignBudget)
  const limitIn = (...of: readonly (readonly [strategy: string, limit: string])[]) =>
    of.map(([strategy, limit]) => objectIn(values[strategy])[limit]).find((limit) => limit !== undefined)
  return {
    id,
    name,
    values: {
      ...values,
      bidding,
      budget: { amountMicros, totalAmountMicros },
      targetCpaMicros: limitIn(['maximizeConversions', 'targetCpaMicros'], ['targetCpa', 'targetCpaMicros']),
      targetRoas: limitIn(['maximizeConversionValue', 'targetRoas'], ['targetRoas', 'targetRoas']),
      cpcBidCeilingMicros: limitIn(['targetSpend', 'cpcBidCeilingMicros']),
    },
    about: { budget, isShared: explicitlyShared === true },
  }
}

/** Networks of a new campaign that its row does not choose. */
const networksOf = ({ advertisingChannelType: channel }: JsonObject) =>
  channel === 'SEARCH' && {
    networkSettings: { targetGoogleSearch: true, targetSearchNetwork: false, targetContentNetwork: false },
  }

/** Campaigns and ad groups of Google Ads, created and changed by rows. */
export const googleAdsCampaignPosting = postingDestination({
  slug: 'google-ads-campaign-posting',
  name: 'Google Ads Campaign Posting',
  platform: googleAds,
  description: 'Creates campaigns and ad groups of Google Ads from rows, and changes their budgets, bids and status.',
  notes:
    'A row is a campaign or an ad group. It is found by its ID, or by its exact name in the account or the campaign; if there is none, it is created, paused unless the row says enabled. Only values that differ are sent, so a repeated row changes nothing. Empty cells change nothing, and nothing is removed. Amounts are whole units of the currency of the account, such as 12.50. A row with a budget above the greatest budget, and a row with which all budgets rise by more than the greatest increase, are rejected. A new campaign gets its own budget in the same request, so that neither is created without the other. A budget that several campaigns share is not changed. Whether a new campaign contains political ads for the EU must be in the row or in the connection. A preview asks Google to validate each row. Ads, keywords and locations are not created: until you choose locations, a campaign is for all countries. Sort campaigns before their ad groups. Performance Max and Demand Gen campaigns need assets before they can run. The refresh token needs the scope https://www.googleapis.com/auth/adwords, and the Google Cloud project of the OAuth client access to the Google Ads API. Basic access allows 15,000 operations a day.',
  tested:
    'Our own test server, which follows Google’s published protocol buffers of the Google Ads API v25 for campaigns; not Google itself.',
  api: googleAdsVersion,
  authorization: googleAuthorization(googleAdsScope),
  platformApi: api,
  auth: googleAdsAuth,
  secrets: googleSignIn('a user of the Google Ads account'),
  settings: {
    customerId: accountSetting('Customer ID', 'ID of the account whose campaigns are created and changed', {
      required: true,
    }),
    managerAccountId: managerAccountSetting,
    euPoliticalAds: select({
      keepsState: 'onward',
      asked: true,
      label: 'EU political ads',
      description: 'What you declare about new campaigns, for rows without eu_political_ads',
      options: ['no', 'yes'],
      labels: { no: 'Contain no EU political ads', yes: 'Contain EU political ads' },
    }),
  },
  listed: { customerId: clientAccounts },
  account: {
    setting: 'customerId',
    of: ({ customerId }) => customerDigits(customerId),
    get: (account) => googleAdsQuery(account, 'SELECT customer.currency_code FROM customer LIMIT 1'),
    currency: ({ json }) => objectIn(objectIn(listIn(objectIn(json).results)[0]).customer).currencyCode,
  },
  money: { digits: () => 6, as: 'text' },
  levels: {
    campaign: {
      one: 'campaign',
      id: /^\d{1,19}$/,
      nameMax: 255,
      columns: campaignColumns,
      needs: ['channel_type', 'bid_strategy', 'eu_political_ads', ['daily_budget', 'total_budget']],
      fixed: ['channel_type', 'bid_strategy'],
      finish: finishCampaign,
      usual: (values, { euPoliticalAds }) => ({
        status: 'PAUSED',
        ...(euPoliticalAds !== undefined && { containsEuPoliticalAdvertising: politicalAds[String(euPoliticalAds)] }),
        ...networksOf(values),
      }),
      page: ({ account }, pageToken) =>
        googleAdsQuery(
          account,
          `SELECT ${[...campaignFields, ...budgetFields].join(', ')} FROM campaign WHERE campaign.status != 'REMOVED'`,
          pageToken,
        ),
      next: nextPageToken,
      found: ({ json }) => listIn(objectIn(json).results).map(campaignOf),
      cannot: ({ values, about }, changes) => {
        const strange = strangeLimit(values.bidding, changes)
        if (strange) return strange
        const { amountMicros, totalAmountMicros } = objectIn(changes.budget)
        if ((amountMicros ?? totalAmountMicros) === undefined) return undefined
        const column = amountMicros === undefined ? 'total_budget' : 'daily_budget'
        if (about.isShared) return wrong('The campaign shares its budget with others. Change it in Google Ads.', column)
        const isTotal = objectIn(values.budget).totalAmountMicros !== undefined
        if (isTotal === (column === 'total_budget')) return undefined
        return wrong('A campaign keeps its kind of budget: of a day, or of the whole time.', column)
      },
      create: createCampaign,
      change: changeCampaign,
      made: madeBy('campaignResult'),
    },
    ad_group: {
      one: 'ad group',
      parent: 'campaign',
      id: /^\d{1,19}$/,
      nameMax: 255,
      columns: adGroupColumns,
      needs: [],
      fixed: ['type'],
      usual: () => ({ status: 'PAUSED' }),
      page: ({ account, parent }, pageToken) =>
        googleAdsQuery(
          account,
          `SELECT ${adGroupFields.join(', ')} FROM ad_group WHERE campaign.id = ${parent} AND ad_group.status != 'REMOVED'`,
          pageToken,
        ),
      next: nextPageToken,
      found: ({ json }) =>
        listIn(objectIn(json).results)
          .map((row) => objectIn(objectIn(row).adGroup))
          .map(({ id, name, ...values }) => ({ id, name, values })),
      ofParent: [
        (account, id) => googleAdsQuery(account, `SELECT campaign.id FROM ad_group WHERE ad_group.id = ${id}`),
        ({ json }) => objectIn(objectIn(listIn(objectIn(json).results)[0]).campaign).id,
      ],
      create: createAdGroup,
      change: changeAdGroup,
      made: madeBy('adGroupResult'),
    },
  },
  validates: true,
  refusal: refusalOf,
  isTaken,
  check: {
    authentication: { path: '/customers:listAccessibleCustomers' },
    credentials: 'the OAuth client and the refresh token',
  },
})
