import { column, defineConnector, inspectBy, secret, select, text } from '@penstock/connector'
import { microsoftApi } from './microsoft-version.ts'
import { microsoftAdvertising } from './platform.ts'

/** Customer match lists of Microsoft Advertising, filled with hashed e-mail addresses. */
export const microsoftAdsCustomerMatch = defineConnector({
  slug: 'microsoft-ads-customer-match',
  name: 'Microsoft Advertising Customer Match',
  platform: microsoftAdvertising,
  dataType: 'customer match',
  dataTypeCategory: 'audience activation',
  description: 'Keeps customer lists for Bing campaigns current with the hashed e-mail addresses of your customers.',
  actions: ['create', 'add', 'remove', 'replace'],
  notes:
    'Make one customer list by hand first: that is how the terms are accepted. Microsoft may take hours to process a change, 48 hours to show a size, and needs 300 people matched. Replace discards everyone who was on the list: the first batch of a transfer that replaces does so, and later ones add to it, so give all rows of such a transfer this action, and do not replay its rejected rows. Each request carries a developer token, which Microsoft gives you in its developer portal. Send only people who have agreed to it: Microsoft takes no consent with them.',
  tested:
    'Our own test server, which follows what is published of Microsoft Advertising’s Campaign Management API; not Microsoft itself.',
  api: microsoftApi,
  secrets: {
    authType: select({
      label: 'Sign-in method',
      description: 'Whether access comes from consent given to an API app or from tokens that you enter',
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
      description: 'Token with which calls to the API are made',
      required: true,
      when: { authType: 'api-token' },
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Token that gets a new access token once the old one has expired',
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
      description: 'Developer token that Microsoft Advertising gave you for its API; each request carries it',
      when: { authType: 'oauth2' },
    }),
  },
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
        description: 'Number of the customer above the ad account, digits alone',
        required: true,
      }),
      accountId: text({
        label: 'Account ID',
        description: 'Number of the ad account in which the list is kept, digits alone',
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
        description: 'What happens to this person’s membership',
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
