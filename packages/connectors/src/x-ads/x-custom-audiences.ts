import { column, defineConnector, inspectBy, secret, text } from '@penstock/connector'
import { xAds } from './platform.ts'

/** Audience lists for X. */
export const xCustomAudiences = defineConnector({
  slug: 'x-custom-audiences',
  name: 'X Custom Audiences',
  platform: xAds,
  dataType: 'Custom Audiences',
  dataTypeCategory: 'audience activation',
  description: 'Delivers lists of people to X (Twitter), to target ads at them.',
  notes:
    'The Ads API of X uses OAuth 1.0a: enter the API key as the client ID, its secret as the client secret, the access token as the refresh token, and the access token secret. They are valid until they are revoked. X must have approved the app for its Ads API, and the user needs a role in the ad account. Rows without an audience share one that is created for the connection. X accepts or refuses a request as a whole: the rows that it reports are left out, and the others are sent again. X processes changes within 6 to 8 hours, and an audience can be targeted when 100 active users have been matched; X does not report who was matched. People stay for 13 months unless expires_at says otherwise. Handles are hashed in lower case and without @. Send only people who have agreed to it: X does not accept information on consent.',
  tested:
    'Our own test server, which follows the published documentation of X’s Ads API, signatures included; not X itself.',
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
      description: 'Access token of the user at X, which does not expire and is used instead of a refresh token',
      required: true,
    }),
    accessTokenSecret: secret({
      label: 'Access token secret',
      description: 'Secret that belongs to the access token; needed to move data',
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
        description: 'Name of the audience for rows without one; it is created if it does not exist',
      }),
      audienceId: text({
        label: 'Audience ID',
        description: 'ID of an existing audience, for rows without one',
      }),
    },
    records: {
      segment_name: column({
        description: 'Name of the audience to create',
        synonyms: ['segment', 'audience', 'audience_name', 'list_name'],
      }),
      segment_id: column({ description: 'ID of the audience to change', synonyms: ['audience_id', 'list_id'] }),
      action: column({
        description: 'Whether the person is added or removed',
        required: true,
        values: ['add', 'remove'],
      }),
      email: column({
        description: 'E-mail address; it is hashed before it is sent',
        normalise: 'email',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      phone_number: column({
        description: 'Phone number with its country code; it is hashed before it is sent',
        normalise: 'phone-e164',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      handle: column({
        description: 'Name of the user at X, with or without @; it is hashed before it is sent',
        oneOf: 'identifier',
        synonyms: ['twitter_handle', 'x_handle', 'username'],
      }),
      device_id: column({
        description: 'Advertising ID of a mobile device; it is hashed before it is sent',
        normalise: 'device-id',
        hashed: ['sha256'],
        oneOf: 'identifier',
        synonyms: ['maid', 'idfa', 'gaid'],
      }),
      twitter_id: column({
        description: 'ID of the user at X; it is hashed before it is sent',
        normalise: 'external-id',
        hashed: ['sha256'],
        oneOf: 'identifier',
        synonyms: ['x_id', 'x_user_id', 'twitter_user_id'],
      }),
      partner_user_id: column({
        description: 'Your own ID of the person that X has matched, not hashed',
        oneOf: 'identifier',
      }),
      effective_at: column({ description: 'When the person joins the audience, in ISO 8601 form' }),
      expires_at: column({ description: 'When the person leaves the audience, in ISO 8601 form' }),
    },
  },
})
