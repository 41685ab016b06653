import { column, defineConnector, secret, text } from '@penstock/connector'
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
    'One audience may hold both kinds of identifier. Reddit may require a minimum size before an audience is used.',
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
  destination: {
    fields: {
      advertiserId: text({
        label: 'Advertiser ID',
        description: 'ID of the Reddit ad account that owns the audiences',
        required: true,
      }),
    },
    records: {
      segment_name: column({ description: 'Name of the audience to create' }),
      segment_id: column({ description: 'ID of the audience to change' }),
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
        description: 'Hashed advertising ID of a mobile device',
        normalise: 'device-id',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
    },
  },
})
