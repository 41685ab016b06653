import { column, defineConnector, inspectBy, secret, select, text } from '@penstock/connector'
import { microsoftAuthorization } from './authorization.ts'
import { microsoftApi } from './microsoft-version.ts'
import { microsoftAdvertising } from './platform.ts'

/** Customer match lists of Microsoft Advertising, filled with hashed e-mail addresses. */
export const microsoftAdsCustomerMatch = defineConnector({
  slug: 'microsoft-ads-customer-match',
  name: 'Microsoft Advertising Customer Match',
  platform: microsoftAdvertising,
  dataType: 'customer match',
  dataTypeCategory: 'audience activation',
  description: 'Keeps customer lists for Bing campaigns up to date with the hashed e-mail addresses of your customers.',
  actions: ['create', 'add', 'remove', 'replace'],
  notes:
    'Create one customer list by hand first, to accept the terms. Microsoft may take hours to process a change and 48 hours to show a size, and needs 300 matched people. Replace discards everyone on the list: the first batch of the transfer replaces, and later ones add. Give all rows of such a transfer this action, and do not replay its rejected rows. Each request needs a developer token, which you get in Microsoft’s developer portal. Send only people who have agreed to it: Microsoft does not accept information on consent.',
  tested:
    'Our own test server, which follows the published documentation of Microsoft Advertising’s Campaign Management API; not Microsoft itself.',
  api: microsoftApi,
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
    developerToken: secret({
      label: 'Developer token',
      description: 'Developer token that Microsoft Advertising gave you for its API',
      required: true,
      when: { authType: 'api-token' },
    }),
    appDeveloperToken: secret({
      label: 'Developer token of the app',
      description: 'Developer token that Microsoft Advertising gave you for its API; it is sent with each request',
      when: { authType: 'oauth2' },
    }),
  },
  authorization: microsoftAuthorization({ authType: 'oauth2' }),
  check: async (context) => (await import('./check.ts')).checkMicrosoft(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 1000, bytesMax: 1_000_000 }),
      open: async (context) => (await import('./deliver-customer-match.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./check.ts')).assertAccount(context)),
    },
    fields: {
      customerId: text({
        label: 'Customer ID',
        description: 'ID of the customer that the ad account belongs to, digits only',
        required: true,
      }),
      accountId: text({
        label: 'Account ID',
        description: 'ID of the ad account that owns the list, digits only',
        required: true,
      }),
    },
    records: {
      segment_name: column({
        description: 'Name of the list to create',
        synonyms: ['segment', 'audience', 'audience_name', 'list_name'],
      }),
      segment_id: column({ description: 'ID of the list to change', synonyms: ['audience_id', 'list_id'] }),
      action: column({
        description: 'Whether the person is added or removed',
        required: true,
        values: ['create', 'add', 'remove', 'replace'],
      }),
      email_sha256: column({
        description: 'Hashed e-mail address',
        normalise: 'email',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
    },
  },
})
