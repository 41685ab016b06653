import { googleSignIn } from '../google/sign-in.ts'
import { googleConversions } from './conversions.ts'

/** Conversions that followed a click on an ad. */
export const googleAdsClickConversions = googleConversions({
  slug: 'google-ads-click-conversions',
  name: 'Google Ads Click Conversions',
  dataType: 'click conversions',
  description: 'Reports conversions to Google Ads, each with the ad click that led to it.',
  notes: 'Each row needs a gclid, gbraid or wbraid, and the conversion action must be one for imports from clicks.',
  secrets: googleSignIn('a user of the Google Ads account'),
  source: 'WEB',
  settings: {},
  columns: {},
  person: {
    anyOf: ['gclid', 'gbraid', 'wbraid'].map((click) => `adIdentifiers.${click}`),
    missing: 'The row has no gclid, gbraid or wbraid, so the click that led to the conversion is not known.',
    field: 'gclid',
  },
})
