import { defineConnector, text } from '@penstock/connector'
import { dataManagerColumns } from './audience-columns.ts'
import { consent } from './consent.ts'
import { amazonAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Audiences of Amazon Data Manager for one advertiser account of the DSP. */
export const amazonAdsDataManagerDspAudiences = defineConnector({
  slug: 'amazon-ads-data-manager-dsp-audiences',
  name: 'Amazon Ads Data Manager DSP Audiences',
  platform: amazonAds,
  dataType: 'customer match',
  dataTypeCategory: 'audience activation',
  description:
    'Uploads your own audiences to Amazon Data Manager, for use by a single advertiser account of Amazon DSP.',
  actions: ['create', 'add', 'remove'],
  notes:
    'The user who signs in needs the audiences_edit permission. A row holds either hashed personal data or partner identifiers, not both, and an array has at most 10 identities. Consent is set once for the whole connection. Amazon may ask for a minimum audience size.',
  secrets: signIn,
  destination: {
    fields: {
      customerFacingId: text({
        label: 'Customer Facing ID (CFID)',
        description: 'Amazon’s ID of the DSP account that receives the audience',
        required: true,
      }),
      ...consent,
    },
    records: dataManagerColumns,
  },
})
