import {
  amount,
  asWritten,
  type EventColumns,
  flag,
  moment,
  object,
  objects,
  oneOf,
  plain,
  texts,
} from '../kit/columns.ts'

/** The columns of Meta's campaigns and ad sets. The values come from Meta's own business SDK. */

const words = (values: string): readonly string[] => values.split(' ')
const oneOfWords = (to: string, description: string, values: string) =>
  oneOf(to, description, {
    values: asWritten(...words(values)),
    wanted: words(values).join(', '),
    listed: words(values),
  })

const bidStrategies = 'LOWEST_COST_WITHOUT_CAP LOWEST_COST_WITH_BID_CAP COST_CAP LOWEST_COST_WITH_MIN_ROAS'

/** Declarations about the ads of a campaign. */
export const specialAdCategories = words(
  'NONE HOUSING EMPLOYMENT FINANCIAL_PRODUCTS_SERVICES CREDIT ISSUES_ELECTIONS_POLITICS ONLINE_GAMBLING_AND_GAMING',
)

const status = oneOf('status', 'Whether it runs; a new one is paused unless this says active', {
  values: { active: 'ACTIVE', paused: 'PAUSED' },
  wanted: 'active or paused',
  listed: ['active', 'paused'],
})
const shared: EventColumns = {
  status,
  daily_budget: amount('daily_budget', 'Budget of a day, in whole units of the currency: 12.50', { isBudget: true }),
  lifetime_budget: amount('lifetime_budget', 'Budget of the whole time, in whole units of the currency', {
    isBudget: true,
  }),
  bid_strategy: oneOfWords('bid_strategy', 'How Meta bids', bidStrategies),
  start_time: moment('start_time', 'When it starts, with the time zone'),
}

export const campaignColumns: EventColumns = {
  ...shared,
  objective: oneOfWords(
    'objective',
    'Goal of the campaign',
    'OUTCOME_AWARENESS OUTCOME_TRAFFIC OUTCOME_ENGAGEMENT OUTCOME_LEADS OUTCOME_APP_PROMOTION OUTCOME_SALES',
  ),
  buying_type: oneOfWords('buying_type', 'How ads are bought', 'AUCTION RESERVED'),
  special_ad_categories: texts(
    'special_ad_categories',
    'Special ad categories of the ads, separated by commas, or NONE; by default as set in the connection',
  ),
  special_ad_category_country: texts(
    'special_ad_category_country',
    'Countries of the special ad categories, as two-letter codes',
  ),
  spend_cap: amount('spend_cap', 'The most that the campaign may spend, in whole units of the currency'),
  adset_budget_sharing: flag(
    'is_adset_budget_sharing_enabled',
    'Whether ad sets share a part of their budgets; false by default, and not for campaigns with a budget',
  ),
  stop_time: moment('stop_time', 'When the campaign ends, with the time zone'),
}

export const adSetColumns: EventColumns = {
  ...shared,
  optimization_goal: oneOfWords(
    'optimization_goal',
    'What Meta optimises for',
    'AD_RECALL_LIFT APP_INSTALLS APP_INSTALLS_AND_OFFSITE_CONVERSIONS CONVERSATIONS ENGAGED_USERS EVENT_RESPONSES IMPRESSIONS IN_APP_VALUE LANDING_PAGE_VIEWS LEAD_GENERATION LINK_CLICKS MESSAGING_APPOINTMENT_CONVERSION MESSAGING_PURCHASE_CONVERSION OFFSITE_CONVERSIONS PAGE_LIKES POST_ENGAGEMENT PROFILE_AND_PAGE_ENGAGEMENT PROFILE_VISIT QUALITY_CALL QUALITY_LEAD REACH REMINDERS_SET SUBSCRIBERS THRUPLAY VALUE VISIT_INSTAGRAM_PROFILE',
  ),
  billing_event: oneOfWords(
    'billing_event',
    'Events that Meta charges for',
    'APP_INSTALLS CLICKS IMPRESSIONS LINK_CLICKS LISTING_INTERACTION NONE OFFER_CLAIMS PAGE_LIKES POST_ENGAGEMENT PURCHASE THRUPLAY',
  ),
  bid_amount: amount('bid_amount', 'Bid cap or target cost, in whole units of the currency'),
  daily_min_spend_target: amount(
    'daily_min_spend_target',
    'The least to spend in a day, in whole units of the currency',
  ),
  daily_spend_cap: amount('daily_spend_cap', 'The most to spend in a day, in whole units of the currency'),
  targeting: object(
    'targeting',
    'Object with the targeting, in Meta’s format; it replaces all targeting of the ad set',
  ),
  countries: texts('targeting.geo_locations.countries', 'Countries of a new ad set, as two-letter codes: DE, AT'),
  promoted_object: object('promoted_object', 'Object with what is promoted, in Meta’s format, such as pixel_id'),
  attribution_spec: objects('attribution_spec', 'List of attribution windows, in Meta’s format'),
  destination_type: plain('destination_type', 'Where ads lead, such as WEBSITE', {
    pattern: /^[A-Za-z_]{1,80}$/,
    wanted: 'The destination type must be a word of Meta, such as WEBSITE.',
    upper: true,
  }),
  dsa_beneficiary: plain('dsa_beneficiary', 'Person or organisation that the ads are for; needed in the EU', {
    lengthMax: 512,
  }),
  dsa_payor: plain('dsa_payor', 'Person or organisation that pays for the ads; needed in the EU', { lengthMax: 512 }),
  end_time: moment('end_time', 'When the ad set ends, with the time zone'),
}
