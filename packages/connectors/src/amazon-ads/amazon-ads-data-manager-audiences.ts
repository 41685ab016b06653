import { idSetting } from '../kit/api.ts'
import { audienceDestination } from '../kit/audience-destination.ts'
import { authorization } from './authorization.ts'
import { consent } from './consent.ts'
import { accountPattern, dataManagerApi, dataManagerFacts, dataManagerSettings } from './data-manager.ts'
import { amazonAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Audiences of Ads data manager for a whole manager account. */
export const amazonAdsDataManagerAudiences = audienceDestination({
  ...dataManagerFacts,
  slug: 'amazon-ads-data-manager-audiences',
  name: 'Amazon Ads Data Manager Audiences',
  platform: amazonAds,
  dataType: 'audiences',
  description: 'Uploads your own audiences to Amazon Data Manager, for use by all advertisers of a manager account.',
  notes:
    'The user who signs in needs the permission ads_data_manager_edit in the manager account, whose terms of Ads data manager must be accepted. An audience is found by its name, or created by rows with the action add; rows without an audience share one that is created for the connection. Names have no spaces. Share a new audience once in Ads data manager with the advertisers or the instances of Amazon Marketing Cloud that are to use it; Amazon then keeps them up to date. A row can have hashed contact data, identifiers of partners, or both. Several rows of a batch with the same external_user_id count as one person, and the last of them is sent. Every person needs a country and a consent: of the row, else of the connection. Amazon reports people whose data is malformed; it matches the others later, and only Amazon shows how many were matched.',
  platformApi: dataManagerApi('amazon-ads-manager-account-id', 'managerId', 'ads_data_manager_edit'),
  secrets: signIn,
  authorization,
  account: 'managerId',
  settings: {
    managerId: idSetting({
      label: 'Manager ID',
      description: 'ID of the manager account in Data Manager that receives the audience',
      required: true,
      pattern: accountPattern,
      example: 'amzn1.ads1.ma1.abc123',
    }),
    ...dataManagerSettings,
    ...consent,
  },
})
