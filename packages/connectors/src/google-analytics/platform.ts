import { definePlatform } from '@penstock/connector'

export const googleAnalytics = definePlatform({
  slug: 'google-analytics',
  name: 'Google Analytics',
  type: 'Data Provider',
  icon: 'googleanalytics',
  alsoCalled: ['ga4', 'ga'],
})
