import { boolean, column, defineConnector, secret, select, text } from '@penstock/connector'
import { metaAds } from './platform.ts'

/** Customer lists of Meta: created, filled, emptied or replaced by hashed identifiers. */
export const metaCustomAudiences = defineConnector({
  slug: 'meta-custom-audiences',
  name: 'Meta Custom Audiences',
  platform: metaAds,
  dataType: 'Custom Audiences',
  dataTypeCategory: 'audience activation',
  description: 'Builds audiences on Facebook and Instagram from your customer records and keeps their members current.',
  actions: ['create', 'add', 'remove', 'replace', 'delete'],
  notes:
    'A new audience is made by rows whose action is add. Replace discards all earlier members. Meta hides the exact size of audiences with fewer than 1,000 people.',
  secrets: {
    authType: select({
      label: 'Sign-in method',
      description: 'Whether access comes from consent given to an OAuth app or from a token that you enter',
      options: ['oauth2', 'api-token'],
      required: true,
    }),
    clientId: text({
      label: 'App ID',
      description: 'ID of your OAuth app at Meta',
      required: true,
      when: { authType: 'oauth2' },
    }),
    clientSecret: secret({
      label: 'App secret',
      description: 'Secret that belongs to the app ID',
      required: true,
      when: { authType: 'oauth2' },
    }),
    accessToken: secret({
      label: 'Access token',
      description: 'Token from an app that has permission to manage audiences',
      required: true,
    }),
  },
  destination: {
    fields: {
      advertiserId: text({
        label: 'Advertiser ID',
        description: 'Number of the ad account that owns the audiences',
        required: true,
      }),
      audienceSource: select({
        label: 'Audience source',
        description: 'Where the customer data came from, as Meta records it with the audience',
        options: ['CRM', 'Website', 'App'],
      }),
      idsField: text({ label: 'IDs field', description: 'Column of the source in which the identifiers stand' }),
      replaceExistingAudience: boolean({
        label: 'Replace existing audience',
        description: 'Whether each run discards the present members and starts from the rows it delivers',
      }),
    },
    records: {
      segment_name: column({ description: 'Name of the audience to create' }),
      segment_id: column({ description: 'ID of the audience to change' }),
      action: column({
        description: 'What happens to this person’s membership',
        required: true,
        values: ['add', 'remove', 'delete', 'replace'],
      }),
      email_sha256: column({ description: 'Hashed e-mail address', hashed: ['sha256'], oneOf: 'identifier' }),
      phone_sha256: column({
        description: 'Hashed phone number, written in E.164 before hashing',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      fname_sha256: column({ description: 'Hashed first name', hashed: ['sha256'], oneOf: 'identifier' }),
      lname_sha256: column({ description: 'Hashed last name', hashed: ['sha256'], oneOf: 'identifier' }),
      postal_code_sha256: column({ description: 'Hashed postal code', hashed: ['sha256'], oneOf: 'identifier' }),
      country_code_sha256: column({
        description: 'Hashed country code of two letters',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      dobm_sha256: column({
        description: 'Hashed month of birth, written MM',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      dobd_sha256: column({ description: 'Hashed day of birth, written DD', hashed: ['sha256'], oneOf: 'identifier' }),
      doby_sha256: column({
        description: 'Hashed year of birth, written YYYY',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      maid: column({ description: 'Advertising ID of a mobile device, not hashed', oneOf: 'identifier' }),
      extern_id: column({ description: 'Your own ID of the person, not hashed', oneOf: 'identifier' }),
      extern_id_sha256: column({
        description: 'Your own ID of the person, hashed',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
    },
  },
})
