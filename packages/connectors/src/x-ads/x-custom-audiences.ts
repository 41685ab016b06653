import { column, defineConnector, inspectBy, secret, text } from '@penstock/connector'
import { xAds } from './platform.ts'

/** Audience lists for X. */
export const xCustomAudiences = defineConnector({
  slug: 'x-custom-audiences',
  name: 'X Custom Audiences',
  platform: xAds,
  dataType: 'Custom Audiences',
  dataTypeCategory: 'audience activation',
  description: 'Delivers lists of people to X (Twitter), so that ads can be aimed at them.',
  notes:
    'The Ads API of X signs requests with OAuth 1.0a: enter the API key as client ID, its secret as client secret, the access token as refresh token, and the access token secret; they do not end until they are revoked. X must have admitted the app to its Ads API, and the user needs a role in the ad account. Rows that name no audience share one that is made for the connection. X takes a request as a whole or not at all: rows that it names are left out and the rest is sent again. It processes changes within 6 to 8 hours, and an audience can be targeted once it matches 100 active users; who was matched X does not say. People stay for 13 months unless expires_at says otherwise. Handles are hashed in lower case and without @. Send only people who have agreed to it: X takes no consent with them.',
  tested: 'Our own test server, which follows what is published of X’s Ads API, signatures included; not X itself.',
  api: { version: 'Ads API v12', ends: 'No end is known.' },
  secrets: {
    clientId: text({
      label: 'Client ID',
      description: 'API key (consumer key) of your app at X',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'API key secret (consumer secret) that belongs to it',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Access token of the user at X, which does not end and takes the place of a refresh token',
      required: true,
    }),
    accessTokenSecret: secret({
      label: 'Access token secret',
      description: 'Secret that belongs to the access token; data moves only with it',
    }),
  },
  check: async (context) => (await import('./check.ts')).checkX(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 2_500, bytesMax: 2_000_000 }),
      open: async (context) => (await import('./deliver-custom-audiences.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./check.ts')).assertAccount(context)),
    },
    fields: {
      accountId: text({ label: 'Account ID', description: 'ID of the ad account at X that owns the audiences' }),
      audienceName: text({
        label: 'Audience name',
        description: 'Name of the audience for rows that name none; it is made where there is none',
      }),
      audienceId: text({
        label: 'Audience ID',
        description: 'ID of an audience that exists, for rows that name none',
      }),
    },
    records: {
      segment_name: column({
        description: 'Name of the audience to create',
        synonyms: ['segment', 'audience', 'audience_name', 'list_name'],
      }),
      segment_id: column({ description: 'ID of the audience to change', synonyms: ['audience_id', 'list_id'] }),
      action: column({
        description: 'What happens to this person’s membership',
        required: true,
        values: ['add', 'remove'],
      }),
      email: column({
        description: 'E-mail address; it is hashed on the way',
        normalise: 'email',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      phone_number: column({
        description: 'Phone number with its country code; it is hashed on the way',
        normalise: 'phone-e164',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      handle: column({
        description: 'Name of the user at X, with or without @; it is hashed on the way',
        oneOf: 'identifier',
        synonyms: ['twitter_handle', 'x_handle', 'username'],
      }),
      device_id: column({
        description: 'Advertising ID of a mobile device; it is hashed on the way',
        normalise: 'device-id',
        hashed: ['sha256'],
        oneOf: 'identifier',
        synonyms: ['maid', 'idfa', 'gaid'],
      }),
      twitter_id: column({
        description: 'Number of the user at X; it is hashed on the way',
        normalise: 'external-id',
        hashed: ['sha256'],
        oneOf: 'identifier',
        synonyms: ['x_id', 'x_user_id', 'twitter_user_id'],
      }),
      partner_user_id: column({
        description: 'Your own ID of the person that X has matched, as it is',
        oneOf: 'identifier',
      }),
      effective_at: column({ description: 'From when the person belongs to the audience, in ISO 8601' }),
      expires_at: column({ description: 'When the person leaves the audience, in ISO 8601' }),
    },
  },
})
