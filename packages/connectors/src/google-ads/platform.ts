import { definePlatform } from '@penstock/connector'

export const googleAds = definePlatform({
  slug: 'google-ads',
  name: 'Google Ads',
  type: 'Demand-Side Platform (DSP)',
  prepare: [
    'A Google user with at least standard access to the account: Google Ads › Admin › Access and security.',
    'The customer ID of the account: ten digits at the top right in Google Ads. If you work with a manager account, its customer ID too.',
    'For reports and adjustments, a developer token: Google Ads › Admin › API Center of a manager account.',
  ],
  icon: 'googleads',
  alsoCalled: ['adwords', 'youtube'],
})
