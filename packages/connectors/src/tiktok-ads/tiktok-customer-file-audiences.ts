import { column, defineConnector, text } from '@penstock/connector'
import { tiktokAds } from './platform.ts'
import { segmentColumns } from './segment-columns.ts'
import { signIn } from './sign-in.ts'

/** Audiences of TikTok, made of customer files. */
export const tiktokCustomerFileAudiences = defineConnector({
  slug: 'tiktok-customer-file-audiences',
  name: 'TikTok Customer File Audiences',
  platform: tiktokAds,
  dataType: 'custom file audiences',
  dataTypeCategory: 'audience activation',
  description: 'Builds audiences at TikTok from files of your customers and keeps their members current.',
  actions: ['create', 'add', 'remove'],
  notes:
    'An audience can be used once TikTok has matched 1,000 people. TikTok limits how often its API may be called. It asked advertisers to confirm its policy for the EU by 10 January 2026: make sure that yours is confirmed.',
  secrets: signIn,
  destination: {
    fields: {
      advertiserId: text({
        label: 'Advertiser ID',
        description: 'ID of the TikTok advertiser that owns the audiences',
        required: true,
      }),
    },
    records: {
      ...segmentColumns,
      email: column({
        description: 'E-mail address; it is hashed on the way',
        normalise: 'email-plain-local',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      email_sha256: column({
        description: 'Hashed e-mail address',
        normalise: 'email-plain-local',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      phone: column({
        description: 'Phone number in E.164; it is hashed on the way',
        normalise: 'phone-digits',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      phone_sha256: column({
        description: 'Hashed phone number',
        normalise: 'phone-digits',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      maid: column({
        description: 'Advertising ID of a mobile device (GAID or IDFA), not hashed',
        oneOf: 'identifier',
      }),
      maid_sha256: column({
        description: 'Hashed advertising ID of a mobile device (GAID or IDFA)',
        normalise: 'device-id',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
    },
  },
})
