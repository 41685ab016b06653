import { googleSignIn } from '../google/sign-in.ts'
import { googleConversions } from './conversions.ts'

/** Conversions that followed a click on an ad. */
export const googleAdsClickConversions = googleConversions({
  slug: 'google-ads-click-conversions',
  name: 'Google Ads Click Conversions',
  dataType: 'click conversions',
  description: 'Reports conversions to Google Ads, each with the ad click or the contact data of the person.',
  notes:
    'The conversion action must be one for imports from clicks. Each row needs a gclid, gbraid or wbraid, or contact data, by which Google finds the click (enhanced conversions for leads).',
  secrets: googleSignIn('a user of the Google Ads account'),
  source: 'WEB',
  settings: {},
  columns: {},
})
