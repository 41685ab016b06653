import { ConnectorError, inspectBy, secret, text } from '@penstock/connector'
import { currency, decimal, digest, plain, time } from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import type { WhyNot } from '../kit/event-facts.ts'
import { isObject, textIn } from '../platform-api/json.ts'
import { campaignManagement, faultOf, itemErrorsOf, type MicrosoftError } from './api.ts'
import { microsoftAuthorization } from './authorization.ts'
import { offlineEcapi } from './ecapi.ts'
import { customersAndAccounts } from './listings.ts'
import { microsoftApi } from './microsoft-version.ts'
import { microsoftAdvertising } from './platform.ts'

/**
 * Offline conversions for campaigns of Microsoft Advertising. It counts a repeated conversion with the same click, goal and
 * time once.
 */
export const microsoftAdsEvents = eventDestination({
  slug: 'microsoft-ads-events',
  name: 'Microsoft Advertising Events',
  platform: microsoftAdvertising,
  dataType: 'events',
  description: 'Reports offline conversions, so that they are credited to Bing campaigns.',
  notes:
    'Create an offline conversion goal in Microsoft Advertising, and wait two hours before the first transfer. Conversions that are older than 90 days are rejected before they are sent. A row needs the click ID that Microsoft adds to the URL of the landing page if automatic tagging is on; for enhanced conversions, an e-mail address or phone number is enough. Microsoft accepts a conversion without looking up its click, and shows it after up to six hours. Each request needs a developer token, which you get in Microsoft’s developer portal. Send only people who have agreed to it: Microsoft does not accept information on consent.',
  tested:
    'Our own test server, which follows the published documentation of the Campaign Management API and its offline conversions; not Microsoft itself.',
  api: microsoftApi,
  platformApi: campaignManagement,
  auth: { open: async (context) => (await import('./microsoft-api.ts')).openCredentials(context) },
  secrets: {
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'ID of your OAuth app at Microsoft',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that belongs to the client ID',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Refresh token for access to Microsoft Advertising',
      required: true,
    }),
    developerToken: secret({
      label: 'Developer token',
      description: 'Developer token that Microsoft Advertising gave you for its API; it is sent with each request',
    }),
  },
  authorization: microsoftAuthorization(),
  check: async (context) => (await import('./check.ts')).checkMicrosoft(context),
  inspect: inspectBy(async (context) => (await import('./check.ts')).assertAccount(context)),
  settings: {
    customerId: text({
      asked: true,
      label: 'Customer ID',
      description: 'ID of the customer that the ad account belongs to, digits only; every transfer needs it',
    }),
    accountId: text({
      asked: true,
      label: 'Account ID',
      description: 'ID of the ad account that owns the goals, digits only; every transfer needs it',
    }),
    conversionName: text({
      asked: true,
      label: 'Conversion goal',
      description: 'Name of the offline conversion goal for rows without one',
    }),
    currency: text({
      label: 'Currency',
      description: 'Currency of values in rows without one, as a three-letter code: EUR',
    }),
  },
  listed: customersAndAccounts,
  batch: { rowsMax: 1000, bytesMax: 1_000_000 },
  request: (events) => ({ path: '/OfflineConversions/Apply', body: { OfflineConversions: events } }),
  answer: {
    results(answer, sent, { settings }) {
      if (answer.status >= 300 || !isObject(answer.json) || faultOf(answer)) return undefined
      const results = new Array<WhyNot | undefined>(sent.length)
      const goal = textIn(settings.conversionName)?.trim()
      for (const error of itemErrorsOf(answer.json, sent.length)) {
        const { index = -1 } = error
        results[index] ??= whyNot(error, sent[index]?.ConversionName === goal)
      }
      return results
    },
  },
  ecapi: offlineEcapi,
  columns: {
    conversion_name: plain('ConversionName', 'Name of the offline conversion goal, if not the one of the connection', {
      normalise: 'text',
      setting: 'conversionName',
      missing: 'Neither the row nor the connection has a conversion goal.',
      synonyms: ['event_name', 'conversion', 'goal', 'event'],
      addresses: true,
    }),
    event_time: time(
      'ConversionTime',
      'When it happened: seconds or milliseconds since 1970, or ISO 8601 with its time zone',
      { unit: 'utc', daysMax: 90, synonyms: ['timestamp', 'occurred_at', 'conversion_time'] },
    ),
    msclkid: plain('MicrosoftClickId', 'Click ID that Microsoft adds to the URL of the landing page', {
      identifies: true,
      normalise: 'text',
      synonyms: ['click_id', 'microsoft_click_id'],
    }),
    email: digest('HashedEmailAddress', 'E-mail address; it is hashed before it is sent', 'email', {
      synonyms: ['hashed_email_address'],
    }),
    phone: digest(
      'HashedPhoneNumber',
      'Phone number; it is converted to E.164 and hashed before it is sent',
      'phone-e164',
      { synonyms: ['hashed_phone_number'] },
    ),
    value: decimal('ConversionValue', 'Value of the conversion; by default that of the goal', {
      min: 0,
      synonyms: ['conversion_value', 'amount', 'revenue'],
    }),
    currency: currency('ConversionCurrencyCode', 'Currency of the value, as a three-letter code', {
      setting: 'currency',
      synonyms: ['currency_code', 'conversion_currency_code', 'conversion_currency'],
    }),
    external_attribution_credit: decimal(
      'ExternalAttributionCredit',
      'Share of the conversion that your own attribution model credits to this click, above 0 and up to 1',
    ),
    external_attribution_model: plain('ExternalAttributionModel', 'Name of that attribution model'),
  },
  person: {
    anyOf: ['MicrosoftClickId', 'HashedEmailAddress', 'HashedPhoneNumber'],
    missing: 'The row has neither a click ID nor an e-mail address or phone number.',
    field: 'msclkid',
  },
  finish(event, row) {
    const { ConversionCurrencyCode: _, ...others } = event
    const credit = Number(event.ExternalAttributionCredit ?? 1)
    if (credit <= 0 || credit > 1) {
      return { wrong: 'The credit must be a number above 0 and up to 1.', field: 'external_attribution_credit' }
    }
    // The currency of the connection applies to values in rows. The value of a goal has its own currency.
    const isOfNone = event.ConversionValue === undefined && row.text('currency') === undefined
    return { read: isOfNone ? others : event }
  },
})

/** A goal of this name does not exist. */
const unknownGoal = 5606
/** The goal was made less than two hours ago. */
const newGoal = 5615

/** Why Microsoft did not take a conversion. An error of the goal that is set for the connection is not a row's, and thrown. */
function whyNot({ code, shown }: MicrosoftError, isOfSetting: boolean): WhyNot {
  if (code === unknownGoal) {
    const message = `Microsoft Advertising has no offline conversion goal of the name that the connection gives (${shown}); check it.`
    if (isOfSetting) throw new ConnectorError('invalid_setting', message)
    const reason = `Microsoft Advertising has no offline conversion goal of this name (${shown}).`
    return { reason, field: 'conversion_name' }
  }
  if (code === newGoal && isOfSetting) {
    const message = `Microsoft Advertising takes conversions two hours after their goal was made (${shown}).`
    throw new ConnectorError('platform_unavailable', message, { afterMs: 30 * 60_000 })
  }
  return `Microsoft Advertising does not accept the conversion (${shown}).`
}
