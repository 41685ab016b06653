import { column, defineConnector, text } from '@penstock/connector'
import { membershipColumns } from './audience-columns.ts'
import { amazonAds } from './platform.ts'
import { signInOrTokens } from './sign-in.ts'

/** Advertiser audiences, made and kept up to date in Amazon DSP itself. */
export const amazonAdsDspAudiences = defineConnector({
  slug: 'amazon-ads-dsp-audiences',
  name: 'Amazon Ads DSP Audiences',
  platform: amazonAds,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  description:
    'Creates audiences from your own data in Amazon DSP directly, without Data Manager, and keeps them up to date.',
  actions: ['create', 'add', 'remove'],
  notes:
    'An audience needs some 2,000 matched users. Amazon processes data within about 15 minutes, but it can take up to 36 hours until the audience appears in the DSP.',
  secrets: signInOrTokens,
  destination: {
    fields: {
      advertiserId: text({
        label: 'Advertiser ID',
        description: 'ID of the DSP advertiser that owns the audience',
        required: true,
      }),
      externalUserId: text({
        label: 'External user ID',
        description:
          'Name of the column with your own user ID; without one, an ID is derived from the e-mail address or phone number',
      }),
    },
    records: {
      ...membershipColumns,
      email_sha256: column({
        description: 'SHA-256 of the e-mail address',
        normalise: 'email',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      phone_sha256: column({
        description: 'SHA-256 of the phone number',
        normalise: 'phone-digits',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      external_user_id: column({ description: 'Your own ID of the user; generated if it is missing' }),
    },
  },
})
