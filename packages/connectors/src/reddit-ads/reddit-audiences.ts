import { column, defineConnector, inspectBy, secret, text } from '@penstock/connector'
import { redditAds } from './platform.ts'

/** Audiences of Reddit, made of hashed identifiers. */
export const redditAudiences = defineConnector({
  slug: 'reddit-audiences',
  name: 'Reddit Audiences',
  platform: redditAds,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  description: 'Builds audiences at Reddit from hashed identifiers and keeps their members current.',
  actions: ['create', 'add', 'remove'],
  notes:
    'One audience may hold both kinds of identifier. Rows that name no audience share one that is made for the connection. An audience can be used once Reddit has matched 1,000 people. The app needs the scopes adsread and adsedit, and a refresh token that was granted permanently. Reddit takes all of a request or nothing, and does not say what it matched: a row that it refuses is found and named. Send only people who have agreed to it: Reddit takes no consent with them.',
  tested: 'Our own test server, which follows what is published of Reddit’s Ads API v3; not Reddit itself.',
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
      description: 'Token with which access to Reddit is renewed',
      required: true,
    }),
  },
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
        description: 'What happens to this person’s membership',
        required: true,
        values: ['add', 'remove'],
      }),
      email_sha256: column({
        description: 'Hashed e-mail address; before hashing, take dots and plus signs out of the part before the @',
        normalise: 'email-no-dots-no-tag',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      maid_sha256: column({
        description:
          'Hashed advertising ID of a mobile device; before hashing, an IDFA is in capitals and an Android ID in small letters',
        // Each as its platform writes it, so that neither may be changed.
        normalise: 'text',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
    },
  },
})
