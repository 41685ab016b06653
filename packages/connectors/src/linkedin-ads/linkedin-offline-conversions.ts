import { ConnectorError, inspectBy, text, type Values } from '@penstock/connector'
import { currency, digest, eventId, plain, time } from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import type { AnswerFacts } from '../kit/event-facts.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { assertFinal, isAccepted, linkedinMarketing, resultsOf } from './api.ts'
import { linkedinAuthorization } from './authorization.ts'
import { linkedinEcapi } from './ecapi.ts'
import { adAccounts, conversionRules } from './listings.ts'
import { linkedinAds } from './platform.ts'
import { signIn } from './sign-in.ts'
import { linkedinApi } from './version.ts'

const rulePrefix = 'urn:lla:llaPartnerConversion:'
/** The URN of a conversion rule that is named by its number or its URN. */
const ruleUrn = (rule: string): string => (rule.startsWith(rulePrefix) ? rule : rulePrefix + rule)
const part = '(25[0-5]|2[0-4]\\d|[01]?\\d?\\d)'
const identifies = { identifies: true, normalise: 'text' } as const
/** LinkedIn accepts data about the person unhashed, and only together with both names. */
const withNames = { normalise: 'text', with: 'first_name' } as const

/** Conversions that your own servers report to LinkedIn. */
export const linkedinOfflineConversions = eventDestination({
  slug: 'linkedin-offline-conversions',
  name: 'LinkedIn Offline Conversions',
  platform: linkedinAds,
  dataType: 'offline conversions',
  description: 'Reports conversions to LinkedIn from your own servers.',
  notes:
    'The app at LinkedIn needs the product Conversions API with the scopes rw_conversions and r_ads, and its user needs a role on the ad account other than viewer. Create the conversion rule in Campaign Manager with the method Conversions API, and add your campaigns to it. Conversions that are older than 90 days are rejected before they are sent. Send only people who have agreed to it: LinkedIn does not accept information on consent with a conversion.',
  tested:
    'Our own test server, which follows the published documentation of LinkedIn’s Conversions API; not LinkedIn itself.',
  api: linkedinApi,
  platformApi: linkedinMarketing,
  auth: { open: async (context) => (await import('./tokens.ts')).openLinkedInTokens(context) },
  secrets: signIn,
  authorization: linkedinAuthorization('rw_conversions', 'r_ads'),
  check: async (context) => (await import('./check.ts')).checkLinkedIn(context),
  inspect: inspectBy(async (context) => (await import('./check.ts')).assertRole(context)),
  settings: {
    conversionRuleId: text({
      asked: true,
      label: 'Conversion rule ID',
      description: 'ID of the conversion rule for rows without one',
    }),
    adAccountId: text({
      asked: true,
      label: 'Ad account ID',
      description: 'ID of the ad account that owns the rule, to check the role of the user',
    }),
    currency: text({
      label: 'Currency',
      description: 'Currency of values in rows without one, as a three-letter code: EUR',
    }),
  },
  listed: { adAccountId: adAccounts, conversionRuleId: conversionRules },
  batch: { rowsMax: 5000, bytesMax: 4_000_000 },
  request: (elements) => ({
    path: '/conversionEvents',
    headers: { 'x-restli-method': 'BATCH_CREATE' },
    body: { elements },
  }),
  answer: {
    refuses: [400, 422],
    refusal: 'LinkedIn refuses the conversion',
    blames: blamesOf,
    results(answer, sent) {
      if (answer.status >= 300) return undefined
      const results = resultsOf(answer, sent.length)
      assertFinal(results)
      return results.map((result) => {
        if (isAccepted(result)) return undefined
        return result
          ? `LinkedIn did not accept the conversion (${result.code}).`
          : 'LinkedIn did not confirm the conversion.'
      })
    },
  },
  ecapi: linkedinEcapi,
  columns: {
    conversion_rule_id: plain('conversion', 'ID of the conversion rule, if not the one of the connection', {
      pattern: /^(urn:lla:llaPartnerConversion:)?\d+$/,
      wanted: 'A conversion rule of LinkedIn has a number as its ID.',
      setting: 'conversionRuleId',
      missing: 'Neither the row nor the connection has a conversion rule.',
      synonyms: ['conversion', 'conversion_id', 'conversion_rule', 'rule_id'],
      addresses: true,
    }),
    event_time: time(
      'conversionHappenedAt',
      'When it happened: seconds or milliseconds since 1970, or ISO 8601 with its time zone',
      {
        unit: 'milliseconds',
        daysMax: 90,
        synonyms: ['timestamp', 'occurred_at', 'conversion_time', 'conversion_happened_at'],
      },
    ),
    event_id: eventId(
      'eventId',
      'ID by which LinkedIn recognises an event that its Insight Tag also reports; recommended',
      {
        synonyms: ['order_id', 'transaction_id'],
      },
    ),
    value: plain('conversionValue.amount', 'Value of the conversion', {
      pattern: /^\d+(\.\d+)?$/,
      wanted: 'The value must be a number such as 49.90.',
      synonyms: ['amount', 'conversion_value', 'revenue'],
    }),
    currency: currency('conversionValue.currencyCode', 'Currency of the value, as a three-letter code', {
      setting: 'currency',
      with: 'value',
      missing: 'The value needs a currency.',
      synonyms: ['currency_code', 'conversion_currency'],
    }),
    email: digest('@ids.SHA256_EMAIL', 'E-mail address; it is hashed before it is sent', 'email'),
    li_fat_id: plain(
      '@ids.LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID',
      'Click ID that LinkedIn adds to the URL of the landing page',
      { ...identifies, synonyms: ['click_id', 'linkedin_click_id', 'linkedin_first_party_ads_tracking_uuid'] },
    ),
    acxiom_id: plain('@ids.ACXIOM_ID', 'ID of the person at Acxiom', identifies),
    oracle_moat_id: plain(
      '@ids.ORACLE_MOAT_ID',
      'ID of the person at Oracle Moat; no longer documented by LinkedIn',
      identifies,
    ),
    google_aid: plain('@ids.GOOGLE_AID', 'Advertising ID of an Android device, not hashed', {
      ...identifies,
      synonyms: ['gaid', 'aaid'],
    }),
    // LinkedIn matches only such addresses. Without one, the other identifiers of the person are sent.
    ip_address: plain('@ids.PLAINTEXT_IP_ADDRESS', 'IPv4 address of the person, not hashed', {
      ...identifies,
      pattern: new RegExp(`^(${part}\\.){3}${part}$`),
      leaveOut: true,
      synonyms: ['ip', 'client_ip_address'],
    }),
    external_id: plain('user.externalIds[]', 'Your own ID of the person, not hashed', {
      ...identifies,
      synonyms: ['customer_id', 'user_id', 'crm_id'],
    }),
    first_name: plain('user.userInfo.firstName', 'First name, not hashed; used only together with the last name', {
      ...identifies,
      with: 'last_name',
      synonyms: ['fname', 'given_name'],
    }),
    last_name: plain('user.userInfo.lastName', 'Last name, not hashed', {
      ...withNames,
      synonyms: ['lname', 'family_name', 'surname'],
    }),
    title: plain('user.userInfo.title', 'Job title; used only together with both names', {
      ...withNames,
      synonyms: ['job_title'],
    }),
    company: plain('user.userInfo.companyName', 'Company; used only together with both names', {
      ...withNames,
      synonyms: ['company_name'],
    }),
    country: plain(
      'user.userInfo.countryCode',
      'Country, as its code or name; used only together with both names, and left out if it is not known',
      { ...withNames, normalise: 'country', leftOutIfUnusable: true, upper: true },
    ),
  },
  person: {
    anyOf: ['@ids', 'user.externalIds', ['user.userInfo.firstName', 'user.userInfo.lastName']],
    missing: 'The row has nothing that LinkedIn can use to find the person: neither an identifier nor both names.',
    field: 'email',
  },
  finish: ({ conversion, '@ids': ids, user, ...event }) => ({
    read: {
      ...event,
      conversion: ruleUrn(String(conversion)),
      user: {
        userIds: Object.entries(objectIn(ids)).map(([idType, idValue]) => ({ idType, idValue })),
        ...objectIn(user),
      },
    },
  }),
})

/** The places that the text of a refusal names: `Index: 3, ERROR :: …`, or `indices [0, 3] (0-indexed)`. */
function blamesOf(
  ...[{ status, json }, sent, { settings }]: Parameters<NonNullable<AnswerFacts['blames']>>
): ReturnType<NonNullable<AnswerFacts['blames']>> {
  const message = textIn(objectIn(json).message) ?? ''
  const lists = [...message.matchAll(/\bindices \[([\d, ]{1,60000})\]/g)].flatMap(([, list = '']) => list.split(','))
  const places = [...message.matchAll(/\bIndex: (\d{1,6}), ERROR ::/g)].map(([, place = '']) => place)
  const blamed = [...lists, ...places].filter((one) => one.trim() !== '').map(Number)
  const isOfRule = /^Incorrect conversions information/i.test(message)
  if (isOfRule)
    assertRuleOfRow(
      settings,
      sent.filter((_, place) => blamed.includes(place)),
    )
  const why = isOfRule
    ? { reason: `LinkedIn does not accept conversions of this rule; ${toCheck}`, field: 'conversion_rule_id' }
    : `LinkedIn refuses the conversion (status ${status}).`
  return new Map(blamed.map((place) => [place, why]))
}

const toCheck = 'check its ID, and that its method is the Conversions API.'

/** A rule that is set for the connection is not a row's error. */
function assertRuleOfRow({ conversionRuleId }: Values, blamed: readonly { readonly conversion?: unknown }[]): void {
  const rule = ruleUrn(String(conversionRuleId ?? '').trim())
  if (!blamed.some(({ conversion }) => conversion === rule)) return
  throw new ConnectorError(
    'invalid_setting',
    `LinkedIn does not accept conversions of the rule of the connection; ${toCheck}`,
  )
}
