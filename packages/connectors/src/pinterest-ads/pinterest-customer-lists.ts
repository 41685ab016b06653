import { column, defineConnector, inspectBy, secret, select, text } from '@penstock/connector'
import { authorization } from './authorization.ts'
import { pinterestAds } from './platform.ts'

/** Customer lists of Pinterest, each with the audience made from it. */
export const pinterestCustomerLists = defineConnector({
  slug: 'pinterest-customer-lists',
  name: 'Pinterest Customer Lists',
  platform: pinterestAds,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  description: 'Keeps a customer list at Pinterest up to date, and the audience that is based on it.',
  actions: ['create', 'add', 'remove'],
  notes:
    'Each data set fills one list, and each list belongs to one audience, which is created with it. The audience can be targeted when Pinterest has matched 100 people, which takes a day or two; Pinterest does not report which records it matched. The app needs the scopes ads:read and ads:write, and standard access, since trial access is limited to 1,000 requests a day. Send only people who have agreed to it: Pinterest does not accept information on consent. If Pinterest refuses digests, Penstock halves the batch until the rows are found.',
  tested: 'Our own test server, which follows the OpenAPI document that Pinterest publishes; not Pinterest itself.',
  api: { version: 'v5 (5.23.0)', ends: 'No end is known.' },
  secrets: {
    authType: select({
      label: 'Sign-in method',
      description: 'Whether access is granted to an API app, or by tokens that you enter',
      options: ['oauth2', 'api-token'],
      required: true,
    }),
    clientId: text({ label: 'Client ID', description: 'ID of the app that calls the API', required: true }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that belongs to the client ID',
      required: true,
    }),
    accessToken: secret({
      label: 'Access token',
      description: 'Access token for calls to the API',
      required: true,
      when: { authType: 'api-token' },
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Refresh token, which renews the access token when it expires',
      required: true,
    }),
  },
  authorization,
  check: async (context) => (await import('./check.ts')).checkPinterest(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 10_000, bytesMax: 4_000_000 }),
      open: async (context) => (await import('./deliver-customer-lists.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./check.ts')).assertAccount(context)),
    },
    fields: {
      adAccountId: text({
        label: 'Ad account ID',
        description: 'ID of the ad account that owns the audience',
        required: true,
      }),
      audienceName: text({
        label: 'Audience name',
        description: 'Name of the audience at Pinterest',
        required: true,
      }),
      audienceId: text({
        label: 'Audience ID',
        description: 'Leave empty before the first transfer; then enter the ID that it returned',
      }),
    },
    records: {
      segment_name: column({
        description: 'Name of the customer list',
        required: true,
        synonyms: ['segment', 'list_name', 'audience', 'audience_name'],
      }),
      segment_id: column({ description: 'ID of the audience to change', synonyms: ['audience_id'] }),
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
      email_sha256: column({
        description: 'Hashed e-mail address',
        normalise: 'email',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      idfa: column({
        description: 'Advertising ID of an iOS device; it is hashed before it is sent',
        normalise: 'device-id',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      idfa_sha256: column({
        description: 'Hashed advertising ID of an iOS device',
        normalise: 'device-id',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      maid: column({
        description: 'Advertising ID of a mobile device; it is hashed before it is sent',
        normalise: 'device-id',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      maid_sha256: column({
        description: 'Hashed advertising ID of a mobile device',
        normalise: 'device-id',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
    },
  },
})
