import { column, defineConnector, secret, text } from '@penstock/connector'
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
  notes: 'The user profile must be allowed to insert and to update offline conversions.',
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
  destination: {
    records: {
      floodlightActivityId: column({ description: 'Number of the Floodlight activity to count under', required: true }),
      floodlightConfigurationId: column({
        description: 'Number of the Floodlight configuration to which that activity belongs',
        required: true,
      }),
      timestampMicros: column({
        description: 'When the conversion happened, in microseconds since 1 January 1970, UTC',
        required: true,
      }),
      gclid: column({ description: 'Click ID that Google Ads has set', oneOf: 'identifier' }),
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
      value: column({ description: 'What the conversion was worth, as an amount of money' }),
      quantity: column({ description: 'How many items the conversion covers' }),
    },
  },
})
