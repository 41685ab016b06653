import { definePlatform } from '@penstock/connector'

export const microsoftAdvertising = definePlatform({
  slug: 'microsoft-advertising',
  name: 'Microsoft Advertising',
  type: 'Demand-Side Platform (DSP)',
  alsoCalled: ['bing'],
})
