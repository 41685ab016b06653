import { definePlatform } from '@penstock/connector'

export const googleAnalytics = definePlatform({
  slug: 'google-analytics',
  name: 'Google Analytics',
  type: 'Data Provider',
  prepare: [
    'A Google user with the role Viewer or higher of the property: Analytics › Admin › Property access management.',
    'The property ID: digits in Analytics › Admin › Property details.',
  ],
  icon: 'googleanalytics',
  alsoCalled: ['ga4', 'ga'],
})
