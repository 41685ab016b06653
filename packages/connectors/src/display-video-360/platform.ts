import { definePlatform } from '@penstock/connector'

export const displayVideo360 = definePlatform({
  slug: 'display-video-360',
  name: 'Display & Video 360',
  type: 'Demand-Side Platform (DSP)',
  prepare: [
    'A Google user with read access to reporting of the partner or advertiser: Display & Video 360 › User management.',
    'The partner ID or advertiser ID: in the address of the page, and below the name.',
  ],
  icon: 'googledisplayandvideo360',
  alsoCalled: ['dv360', 'doubleclick'],
})
