import { definePlatform } from '@penstock/connector'

export const amazonAds = definePlatform({
  slug: 'amazon-ads',
  name: 'Amazon Ads',
  type: 'Demand-Side Platform (DSP)',
  prepare: [
    'A user with access to the advertiser: Amazon Ads console › Account access and settings › Users.',
    'The advertiser ID or profile ID, and the region of the account: North America, Europe or Far East.',
  ],
  alsoCalled: ['amazon advertising', 'amazon dsp'],
})
