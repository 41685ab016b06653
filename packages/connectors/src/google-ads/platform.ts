import { definePlatform } from '@penstock/connector'

export const googleAds = definePlatform({
  slug: 'google-ads',
  name: 'Google Ads',
  type: 'Demand-Side Platform (DSP)',
  icon: 'googleads',
  alsoCalled: ['adwords', 'youtube'],
})
