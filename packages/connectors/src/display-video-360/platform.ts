import { definePlatform } from '@penstock/connector'

export const displayVideo360 = definePlatform({
  slug: 'display-video-360',
  name: 'Display & Video 360',
  type: 'Demand-Side Platform (DSP)',
  icon: 'googledisplayandvideo360',
  alsoCalled: ['dv360', 'doubleclick'],
})
