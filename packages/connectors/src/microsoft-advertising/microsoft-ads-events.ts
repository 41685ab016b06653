import { column, defineConnector, inspectBy, secret, text } from '@penstock/connector'
import { microsoftAuthorization } from './authorization.ts'
import { microsoftApi } from './microsoft-version.ts'
import { microsoftAdvertising } from './platform.ts'

/** Offline conversions for campaigns of Microsoft Advertising. */
export const microsoftAdsEvents = defineConnector({
  slug: 'microsoft-ads-events',
  name: 'Microsoft Advertising Events',
  platform: microsoftAdvertising,
  dataType: 'events',
  dataTypeCategory: 'events',
  description: 'Reports offline conversions, so that they are credited to Bing campaigns.',
  notes:
    'Create an offline conversion goal in Microsoft Advertising, and wait two hours before the first transfer. Conversions that are older than 90 days are rejected before they are sent. A row needs the click ID that Microsoft adds to the URL of the landing page if automatic tagging is on; for enhanced conversions, an e-mail address or phone number is enough. Microsoft accepts a conversion without looking up its click, and shows it after up to six hours. Each request needs a developer token, which you get in Microsoft’s developer portal. Send only people who have agreed to it: Microsoft does not accept information on consent.',
  tested:
    'Our own test server, which follows the published documentation of the Campaign Management API and its offline conversions; not Microsoft itself.',
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
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 1000, bytesMax: 1_000_000 }),
      open: async (context) => (await import('./deliver-offline-conversions.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./check.ts')).assertAccount(context)),
    },
    fields: {
      customerId: text({
        label: 'Customer ID',
        description: 'ID of the customer that the ad account belongs to, digits only; every transfer needs it',
      }),
      accountId: text({
        label: 'Account ID',
        description: 'ID of the ad account that owns the goals, digits only; every transfer needs it',
      }),
      conversionName: text({
        label: 'Conversion goal',
        description: 'Name of the offline conversion goal for rows without one',
      }),
      currency: text({
        label: 'Currency',
        description: 'Currency of values in rows without one, as a three-letter code: EUR',
      }),
    },
    records: {
      conversion_name: column({
        description: 'Name of the offline conversion goal, if not the one of the connection',
        normalise: 'text',
        synonyms: ['event_name', 'conversion', 'goal', 'event'],
      }),
      event_time: column({
        description: 'When it happened: seconds or milliseconds since 1970, or ISO 8601 with its time zone',
        required: true,
        synonyms: ['timestamp', 'occurred_at', 'conversion_time'],
      }),
      msclkid: column({
        description: 'Click ID that Microsoft adds to the URL of the landing page',
        oneOf: 'identifier',
        normalise: 'text',
        synonyms: ['click_id', 'microsoft_click_id'],
      }),
      email: column({
        description: 'E-mail address; it is hashed before it is sent',
        oneOf: 'identifier',
        normalise: 'email',
        hashed: ['sha256'],
        synonyms: ['hashed_email_address'],
      }),
      phone: column({
        description: 'Phone number; it is converted to E.164 and hashed before it is sent',
        oneOf: 'identifier',
        normalise: 'phone-e164',
        hashed: ['sha256'],
        synonyms: ['hashed_phone_number'],
      }),
      value: column({
        description: 'Value of the conversion; by default that of the goal',
        synonyms: ['conversion_value', 'amount', 'revenue'],
      }),
      currency: column({
        description: 'Currency of the value, as a three-letter code',
        synonyms: ['currency_code', 'conversion_currency_code', 'conversion_currency'],
      }),
      external_attribution_credit: column({
        description:
          'Share of the conversion that your own attribution model credits to this click, above 0 and up to 1',
      }),
      external_attribution_model: column({ description: 'Name of that attribution model' }),
    },
  },
})
