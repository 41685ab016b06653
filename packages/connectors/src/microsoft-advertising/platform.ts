import { definePlatform } from '@penstock/connector'

export const microsoftAdvertising = definePlatform({
  slug: 'microsoft-advertising',
  name: 'Microsoft Advertising',
  type: 'Demand-Side Platform (DSP)',
  prepare: [
    'A Microsoft user with the role Standard user or higher: Microsoft Advertising › Settings › Account access.',
    'The customer ID and the account ID: `cid` and `aid` in the address of Microsoft Advertising.',
    'A developer token: developers.ads.microsoft.com › Account.',
  ],
  alsoCalled: ['bing'],
})
