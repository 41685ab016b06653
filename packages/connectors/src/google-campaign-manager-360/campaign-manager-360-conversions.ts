import { column, defineConnector, secret, select, text } from '@penstock/connector'
import { googleAuthorization } from '../google/authorization.ts'
import { googleCampaignManager360 } from './platform.ts'

/** Offline conversions of Floodlight activities. */
export const campaignManager360Conversions = defineConnector({
  slug: 'campaign-manager-360-conversions',
  name: 'Campaign Manager 360 Conversions',
  platform: googleCampaignManager360,
  dataType: 'Conversions',
  dataTypeCategory: 'events',
  description:
    'Reports offline conversions to Floodlight activities of Campaign Manager 360, and corrects earlier ones.',
  actions: ['add', 'update'],
  notes:
    'The user profile must be allowed to insert and to update offline conversions, and the refresh token needs the scope https://www.googleapis.com/auth/ddmconversions. A conversion may be at most 28 days old; wait an hour after a click. Each conversion has one identifier: if a row has several, the first of gclid, dclid, match ID, device ID, encrypted user ID and impression ID. Conversions of the same activity, person, day and ordinal count once. A missing value counts as 0, and a missing quantity as 1. A correction (action update) identifies the conversion by activity, configuration, identifier, ordinal and time, and replaces its value and quantity. Contact data can be added to the conversions of a tag within 24 hours, by their match ID, if the terms for enhanced conversions are accepted. Send data only of people who consented to it; adUserDataConsent transmits the consent to Google.',
  tested:
    'Our own test server, which follows the published documentation of Google’s token endpoint and the Campaign Manager 360 API; not Google itself.',
  api: {
    version: 'Campaign Manager 360 API v5',
    ends: 'Google has announced no end of v5, and announces an end about 7 months ahead',
  },
  secrets: {
    clientId: text({
      label: 'Client ID',
      description: 'ID of an OAuth client in your Google Cloud project',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret of that OAuth client',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Token that Google granted to a user of Campaign Manager 360 at sign-in',
      required: true,
    }),
  },
  authorization: googleAuthorization('https://www.googleapis.com/auth/ddmconversions'),
  check: async (context) => (await import('./check-conversions.ts')).checkConversions(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 1_000, bytesMax: 4_000_000 }),
      open: async (context) => (await import('./deliver-conversions.ts')).open(context),
    },
    fields: {
      profileId: text({
        label: 'User profile ID',
        description: 'ID of the user profile that sends conversions; needed if the user has several',
      }),
      encryptionEntityType: select({
        label: 'Encryption entity type',
        description: 'Whose key encrypted the user IDs; needed if rows have encryptedUserId',
        options: [
          ...['DCM_ACCOUNT', 'DCM_ADVERTISER', 'DBM_PARTNER', 'DBM_ADVERTISER', 'ADWORDS_CUSTOMER'],
          'DFP_NETWORK_CODE',
        ],
      }),
      encryptionEntityId: text({
        label: 'Encryption entity ID',
        description: 'ID of the account, advertiser or partner that owns the key',
      }),
      encryptionSource: select({
        label: 'Encryption source',
        description: 'Whether the user IDs come from ad serving (the %m macro) or from Data Transfer',
        options: ['AD_SERVING', 'DATA_TRANSFER'],
      }),
    },
    records: {
      floodlightActivityId: column({
        description: 'ID of the Floodlight activity that the conversion counts for',
        required: true,
      }),
      floodlightConfigurationId: column({
        description: 'ID of the Floodlight configuration that the activity belongs to',
        required: true,
      }),
      timestampMicros: column({
        description:
          'When the conversion happened, in microseconds since 1970; milliseconds, seconds and 2026-01-31T12:00:00Z are accepted too',
        required: true,
        synonyms: ['event_time', 'timestamp', 'conversion_time', 'occurred_at'],
      }),
      gclid: column({
        description: 'Click ID of Google Ads',
        oneOf: 'identifier',
        synonyms: ['google_click_id', 'click_id'],
      }),
      dclid: column({ description: 'Click ID of a display ad', oneOf: 'identifier' }),
      encryptedUserId: column({
        description: 'User ID, encrypted by Google',
        oneOf: 'identifier',
      }),
      mobileDeviceId: column({ description: 'Advertising ID of a mobile device', oneOf: 'identifier' }),
      matchId: column({ description: 'Your own match ID', oneOf: 'identifier' }),
      ordinal: column({
        description: 'Number that distinguishes conversions of the same day, so that none counts twice',
        required: true,
      }),
      value: column({
        description: 'Value of the conversion, as an amount of money',
        synonyms: ['conversion_value', 'revenue', 'amount'],
      }),
      quantity: column({ description: 'How many items the conversion covers' }),
      action: column({
        description: 'Whether the conversion is added or corrects an earlier one; added by default',
        values: ['add', 'update'],
      }),
      impressionId: column({ description: 'Impression ID from Google', oneOf: 'identifier' }),
      // Campaign Manager 360 wants dots taken out of addresses at Gmail, and says nothing of what follows a plus.
      email: column({
        description: 'E-mail address to add to an earlier conversion; it is hashed before it is sent',
        normalise: 'email-gmail-dots',
        hashed: ['sha256'],
        // What cannot be used is left out; a conversion needs another identifier in any case.
        oneOf: 'identifier',
      }),
      phone: column({
        description: 'Phone number to add to an earlier conversion; it is hashed before it is sent',
        normalise: 'phone-e164',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      customVariables: column({
        description: 'Object with the values of custom Floodlight variables by name: {"U1": "red"}',
      }),
      adUserDataConsent: column({
        description: 'Whether the person agreed that the data is sent to Google for advertising',
        values: ['granted', 'denied', 'unspecified'],
        synonyms: ['consent_ad_user_data', 'ad_user_data'],
      }),
      limitAdTracking: column({ description: 'Whether the device limits ad tracking: true or false' }),
      childDirectedTreatment: column({ description: 'Whether the person may be under 13 years old: true or false' }),
      treatmentForUnderage: column({
        description: 'Whether the person may be too young to consent in the European Economic Area: true or false',
      }),
      nonPersonalizedAd: column({ description: 'Whether it must not be used for personalised ads: true or false' }),
    },
  },
})
