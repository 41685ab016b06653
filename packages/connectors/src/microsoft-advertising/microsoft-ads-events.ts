import { column, defineConnector, inspectBy, secret, text } from '@penstock/connector'
import { microsoftApi } from './microsoft-version.ts'
import { microsoftAdvertising } from './platform.ts'

/** Offline conversions for campaigns of Microsoft Advertising. */
export const microsoftAdsEvents = defineConnector({
  slug: 'microsoft-ads-events',
  name: 'Microsoft Advertising Events',
  platform: microsoftAdvertising,
  dataType: 'events',
  dataTypeCategory: 'events',
  description: 'Reports conversions that happened offline, so that Bing campaigns are credited with them.',
  notes:
    'Make an offline conversion goal in Microsoft Advertising, and wait two hours before the first transfer. Conversions that are older than 90 days are rejected before they are sent. A row names its click by the click ID that Microsoft adds to the address of the landing page, which takes automatic tagging; for enhanced conversions an e-mail address or phone number is enough. Microsoft takes a conversion in without looking for its click, and shows it after up to six hours. Each request carries a developer token, which Microsoft gives you in its developer portal. Send only people who have agreed to it: Microsoft takes no consent with them.',
  tested:
    'Our own test server, which follows what is published of the Campaign Management API and its offline conversions; not Microsoft itself.',
  api: microsoftApi,
  secrets: {
    clientId: text({ label: 'Client ID', description: 'ID of your OAuth app at Microsoft', required: true }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that belongs to the client ID',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Token with which access to Microsoft Advertising is renewed',
      required: true,
    }),
    developerToken: secret({
      label: 'Developer token',
      description: 'Developer token that Microsoft Advertising gave you for its API; each request carries it',
    }),
  },
  check: async (context) => (await import('./check.ts')).checkMicrosoft(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 1000, bytesMax: 1_000_000 }),
      open: async (context) => (await import('./deliver-offline-conversions.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./check.ts')).assertAccount(context)),
    },
    fields: {
      customerId: text({
        label: 'Customer ID',
        description: 'Number of the customer above the ad account, digits alone; each transfer needs it',
      }),
      accountId: text({
        label: 'Account ID',
        description: 'Number of the ad account whose goals are meant, digits alone; each transfer needs it',
      }),
      conversionName: text({
        label: 'Conversion goal',
        description: 'Name of the offline conversion goal for rows that name none',
      }),
      currency: text({
        label: 'Currency',
        description: 'Currency of values in rows that name none, as three letters: EUR',
      }),
    },
    records: {
      conversion_name: column({
        description: 'Name of the offline conversion goal, where it is not the one of the connection',
        normalise: 'text',
        synonyms: ['event_name', 'conversion', 'goal', 'event'],
      }),
      event_time: column({
        description: 'When it happened, in seconds or milliseconds since 1970 or as ISO 8601 with its zone',
        required: true,
        synonyms: ['timestamp', 'occurred_at', 'conversion_time'],
      }),
      msclkid: column({
        description: 'Click ID that Microsoft adds to the address of the landing page',
        oneOf: 'identifier',
        normalise: 'text',
        synonyms: ['click_id', 'microsoft_click_id'],
      }),
      email: column({
        description: 'E-mail address; it is hashed on the way',
        oneOf: 'identifier',
        normalise: 'email',
        hashed: ['sha256'],
        synonyms: ['hashed_email_address'],
      }),
      phone: column({
        description: 'Phone number; it is written in E.164 and hashed on the way',
        oneOf: 'identifier',
        normalise: 'phone-e164',
        hashed: ['sha256'],
        synonyms: ['hashed_phone_number'],
      }),
      value: column({
        description: 'What it was worth; that of the goal where there is none',
        synonyms: ['conversion_value', 'amount', 'revenue'],
      }),
      currency: column({
        description: 'Currency of the value, as three letters',
        synonyms: ['currency_code', 'conversion_currency_code', 'conversion_currency'],
      }),
      external_attribution_credit: column({
        description: 'Part of the conversion that an attribution of your own gives to this click, above 0 and up to 1',
      }),
      external_attribution_model: column({ description: 'Name of that attribution model' }),
    },
  },
})
