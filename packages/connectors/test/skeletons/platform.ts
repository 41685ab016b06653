import { definePlatform } from '@penstock/connector'

/** A made-up platform, whose API follows `example-connector-server.ts` or recorded answers. */
export const exampleAds = definePlatform({
  slug: 'example-ads',
  name: 'Example Ads',
  type: 'Demand-Side Platform (DSP)',
})
