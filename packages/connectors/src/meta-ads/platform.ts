import { definePlatform } from '@penstock/connector'

export const metaAds = definePlatform({
  slug: 'meta-ads',
  name: 'Meta Ads',
  type: 'Social Media Platform',
  prepare: [
    'Access to the ad account with the permission to manage campaigns: Business settings › Accounts › Ad accounts.',
    'An access token with the permission `ads_management`, and `leads_retrieval` for lead forms. The token of a system user does not expire: Business settings › Users › System users › Generate token.',
    'The ad account ID: the number after `act=` in the address of Ads Manager.',
    'For conversions, the ID of the dataset (pixel): Events Manager › Data sources › Settings.',
    'Only for the method “Sign in with Meta”: the ID and the secret of an app, from developers.facebook.com › My apps › App settings › Basic. Your administrator at Meta can create the app. Without an app, use the method “Access token”.',
  ],
  icon: 'meta',
  alsoCalled: ['facebook', 'instagram', 'fb'],
})
