import { definePlatform } from '@penstock/connector'

export const amazonAds = definePlatform({
  slug: 'amazon-ads',
  name: 'Amazon Ads',
  type: 'Demand-Side Platform (DSP)',
  alsoCalled: ['amazon advertising', 'amazon dsp'],
})
