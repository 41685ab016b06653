import { defineConnector, text } from '@penstock/connector'
import { dataManagerColumns } from './audience-columns.ts'
import { consent } from './consent.ts'
import { amazonAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Audiences of Amazon Data Manager for a whole manager account. */
export const amazonAdsDataManagerAudiences = defineConnector({
  slug: 'amazon-ads-data-manager-audiences',
  name: 'Amazon Ads Data Manager Audiences',
  platform: amazonAds,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  description: 'Uploads your own audiences to Amazon Data Manager, for use by all advertisers of a manager account.',
  actions: ['create', 'add', 'remove'],
  notes:
    'A row holds either hashed personal data or partner identifiers, not both, and an array has at most 10 identities. Consent is set once for the whole connection. Amazon may ask for a minimum audience size.',
  secrets: signIn,
  destination: {
    fields: {
      managerId: text({
        label: 'Manager ID',
        description: 'ID of the manager account in Data Manager that receives the audience',
        required: true,
      }),
      ...consent,
    },
    records: dataManagerColumns,
  },
})
