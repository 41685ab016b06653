import { idSetting } from '../kit/api.ts'
import { audienceDestination } from '../kit/audience-destination.ts'
import { authorization } from './authorization.ts'
import { consent } from './consent.ts'
import { accountPattern, dataManagerApi, dataManagerFacts, dataManagerSettings } from './data-manager.ts'
import { amazonAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Audiences of Ads data manager for one advertiser account of the DSP. */
export const amazonAdsDataManagerDspAudiences = audienceDestination({
  ...dataManagerFacts,
  slug: 'amazon-ads-data-manager-dsp-audiences',
  name: 'Amazon Ads Data Manager DSP Audiences',
  platform: amazonAds,
  dataType: 'customer match',
  description:
    'Uploads your own audiences to Amazon Data Manager, for use by a single advertiser account of Amazon DSP.',
  notes:
    'The user who signs in needs the permission audiences_edit on the account, whose terms of Ads data manager must be accepted. An audience is found by its name, or created by rows with the action add; rows without an audience share one that is created for the connection. Names have no spaces. If a new audience does not appear in the DSP within a day, share it once in Ads data manager with the advertiser. A row can have hashed contact data, identifiers of partners, or both. Several rows of a batch with the same external_user_id count as one person, and the last of them is sent. Every person needs a country and a consent: of the row, else of the connection. Amazon reports people whose data is malformed; it matches the others later, and only Amazon shows how many were matched.',
  platformApi: dataManagerApi('amazon-ads-accountid', 'customerFacingId', 'audiences_edit'),
  secrets: signIn,
  authorization,
  account: 'customerFacingId',
  settings: {
    customerFacingId: idSetting({
      label: 'Customer Facing ID (CFID)',
      description: 'Amazon’s ID of the DSP account that receives the audience',
      required: true,
      pattern: accountPattern,
      example: 'ENTITY1ABCDEF',
    }),
    ...dataManagerSettings,
    ...consent,
  },
})
