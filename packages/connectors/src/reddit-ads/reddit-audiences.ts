import { column, defineConnector, inspectBy, secret, text } from '@penstock/connector'
import { authorization } from './authorization.ts'
import { redditAds } from './platform.ts'

/** Audiences of Reddit, made of hashed identifiers. */
export const redditAudiences = defineConnector({
  slug: 'reddit-audiences',
  name: 'Reddit Audiences',
  platform: redditAds,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  description: 'Creates audiences at Reddit from hashed identifiers and keeps their members up to date.',
  actions: ['create', 'add', 'remove'],
  notes:
    'One audience may contain both kinds of identifier. Rows without an audience share one that is created for the connection. An audience can be used when Reddit has matched 1,000 people. The app needs the scopes adsread and adsedit, and a permanent refresh token. Reddit accepts or refuses a request as a whole, and does not report what it matched. If it refuses a row, Penstock finds and reports it. Send only people who have agreed to it: Reddit does not accept information on consent.',
  tested: 'Our own test server, which follows the published documentation of Reddit’s Ads API v3; not Reddit itself.',
  api: { version: 'v3', ends: 'No end is known.' },
  secrets: {
    clientId: text({ label: 'Client ID', description: 'ID of your OAuth app at Reddit', required: true }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that belongs to the client ID',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Refresh token for access to Reddit',
      required: true,
    }),
  },
  authorization,
  check: async (context) => (await import('./check.ts')).checkReddit(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 2500, bytesMax: 2_000_000 }),
      open: async (context) => (await import('./deliver-audiences.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./check.ts')).assertAccount(context)),
    },
    fields: {
      advertiserId: text({
        label: 'Advertiser ID',
        description: 'ID of the Reddit ad account that owns the audiences',
        required: true,
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
      email_sha256: column({
        description:
          'Hashed e-mail address; before hashing, remove dots and everything from a plus sign on from the part before the @',
        normalise: 'email-no-dots-no-tag',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      maid_sha256: column({
        description:
          'Hashed advertising ID of a mobile device; before hashing, an IDFA is in upper case and an Android ID in lower case',
        // Each as its platform writes it, so that neither may be changed.
        normalise: 'text',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
    },
  },
})
