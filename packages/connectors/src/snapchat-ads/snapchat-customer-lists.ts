import { column, defineConnector, number, text } from '@penstock/connector'
import { snapchatAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Audiences of Snapchat, made of hashed identifiers. */
export const snapchatCustomerLists = defineConnector({
  slug: 'snapchat-customer-lists',
  name: 'Snapchat Customer Lists',
  platform: snapchatAds,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  description: 'Builds list audiences at Snapchat from hashed identifiers and keeps their members current.',
  actions: ['create', 'add', 'remove'],
  notes:
    'A transfer carries identifiers of one kind. Snapchat needs a few seconds after an audience is made before it takes members.',
  secrets: signIn,
  destination: {
    fields: {
      advertiserId: text({
        label: 'Advertiser ID',
        description: 'ID of the Snapchat ad account that owns the audiences',
        required: true,
      }),
      lifespanDays: number({
        label: 'Lifespan (days)',
        description: 'How many days a person stays in the audience',
        min: 1,
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
        description: 'Hashed e-mail address',
        normalise: 'email',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      phone_sha256: column({
        description: 'Hashed phone number, with its country code',
        normalise: 'phone-digits',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      maid_sha256: column({
        description: 'Hashed advertising ID of a mobile device (IDFA or GAID)',
        normalise: 'device-id',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
    },
  },
})
