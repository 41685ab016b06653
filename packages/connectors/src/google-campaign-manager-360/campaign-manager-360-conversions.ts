import { column, defineConnector, secret, select, text } from '@penstock/connector'
import { googleCampaignManager360 } from './platform.ts'

/** Offline conversions of Floodlight activities. */
export const campaignManager360Conversions = defineConnector({
  slug: 'campaign-manager-360-conversions',
  name: 'Campaign Manager 360 Conversions',
  platform: googleCampaignManager360,
  dataType: 'Conversions',
  dataTypeCategory: 'events',
  description:
    'Reports offline conversions to Campaign Manager 360, each under its Floodlight activity, and corrects earlier ones.',
  actions: ['add', 'update'],
  notes:
    'The user profile must be allowed to insert and to update offline conversions, and the refresh token needs the scope https://www.googleapis.com/auth/ddmconversions. A conversion may be at most 28 days old; of a click, wait an hour. Each conversion carries one identifier: of a row with several, the first of gclid, dclid, match ID, device ID, encrypted user ID and impression ID. Conversions of the same activity, person, day and ordinal count once. A row without a value counts as 0, and without a quantity as 1. A correction (action update) names the conversion by activity, configuration, identifier, ordinal and time, and replaces its value and quantity; contact data complete conversions of a tag within 24 hours, found by their match ID, where the terms for enhanced conversions are accepted. Send data only of people who consented to it; adUserDataConsent says it to Google.',
  tested:
    'Our own test server, which follows what is published of Google’s token endpoint and the Campaign Manager 360 API; not Google itself.',
  api: {
    version: 'Campaign Manager 360 API v5',
    ends: 'Google has announced no end of v5; from the announcement of an end it takes about 7 months',
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
  check: async (context) => (await import('./check-conversions.ts')).checkConversions(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 1_000, bytesMax: 4_000_000 }),
      open: async (context) => (await import('./deliver-conversions.ts')).open(context),
    },
    fields: {
      profileId: text({
        label: 'User profile ID',
        description: 'Number of the user profile that sends conversions; needed where the user has several',
      }),
      encryptionEntityType: select({
        label: 'Encryption entity type',
        description: 'Whose key has encrypted the user IDs; needed where rows carry encryptedUserId',
        options: [
          ...['DCM_ACCOUNT', 'DCM_ADVERTISER', 'DBM_PARTNER', 'DBM_ADVERTISER', 'ADWORDS_CUSTOMER'],
          'DFP_NETWORK_CODE',
        ],
      }),
      encryptionEntityId: text({
        label: 'Encryption entity ID',
        description: 'Number of the account, advertiser or partner whose key that is',
      }),
      encryptionSource: select({
        label: 'Encryption source',
        description: 'Whether the user IDs come from ad serving (the %m macro) or from Data Transfer',
        options: ['AD_SERVING', 'DATA_TRANSFER'],
      }),
    },
    records: {
      floodlightActivityId: column({ description: 'Number of the Floodlight activity to count under', required: true }),
      floodlightConfigurationId: column({
        description: 'Number of the Floodlight configuration to which that activity belongs',
        required: true,
      }),
      timestampMicros: column({
        description:
          'When the conversion happened, in microseconds since 1 January 1970, UTC; milliseconds, seconds and 2026-01-31T12:00:00Z are read too',
        required: true,
        synonyms: ['event_time', 'timestamp', 'conversion_time', 'occurred_at'],
      }),
      gclid: column({
        description: 'Click ID that Google Ads has set',
        oneOf: 'identifier',
        synonyms: ['google_click_id', 'click_id'],
      }),
      dclid: column({ description: 'Click ID of a display ad', oneOf: 'identifier' }),
      encryptedUserId: column({
        description: 'User ID in the encrypted form that Google handed out',
        oneOf: 'identifier',
      }),
      mobileDeviceId: column({ description: 'Advertising ID of a mobile device', oneOf: 'identifier' }),
      matchId: column({ description: 'Match ID of your own making', oneOf: 'identifier' }),
      ordinal: column({
        description: 'Number that tells apart conversions of the same day, so that none counts twice',
        required: true,
      }),
      value: column({
        description: 'What the conversion was worth, as an amount of money',
        synonyms: ['conversion_value', 'revenue', 'amount'],
      }),
      quantity: column({ description: 'How many items the conversion covers' }),
      action: column({
        description: 'Whether the conversion is added, or corrects an earlier one; added without it',
        values: ['add', 'update'],
      }),
      impressionId: column({ description: 'Impression ID that Google handed out', oneOf: 'identifier' }),
      // Campaign Manager 360 wants dots taken out of addresses at Gmail, and says nothing of what follows a plus.
      email: column({
        description: 'E-mail address that completes an earlier conversion; it is hashed before it leaves',
        normalise: 'email-gmail-dots',
        hashed: ['sha256'],
      }),
      phone: column({
        description: 'Phone number that completes an earlier conversion; it is hashed before it leaves',
        normalise: 'phone-e164',
        hashed: ['sha256'],
      }),
      customVariables: column({
        description: 'Object with values of custom Floodlight variables, by their names: {"U1": "red"}',
      }),
      adUserDataConsent: column({
        description: 'Whether the person agreed that the data goes to Google for advertising',
        values: ['granted', 'denied', 'unspecified'],
        synonyms: ['consent_ad_user_data', 'ad_user_data'],
      }),
      limitAdTracking: column({ description: 'Whether the device limits ad tracking: true or false' }),
      childDirectedTreatment: column({ description: 'Whether the person may be under 13 years old: true or false' }),
      treatmentForUnderage: column({
        description: 'Whether the person may be too young to consent in the European Economic Area: true or false',
      }),
      nonPersonalizedAd: column({ description: 'Whether it may be used for no personalised ads: true or false' }),
    },
  },
})
