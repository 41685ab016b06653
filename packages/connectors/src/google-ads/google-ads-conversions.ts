import { googleSignIn } from '../google/sign-in.ts'
import { eventSource, googleConversions } from './conversions.ts'

/** Conversions of any kind, for Google Ads. */
export const googleAdsConversions = googleConversions({
  slug: 'google-ads-conversions',
  name: 'Google Ads Conversions',
  dataType: 'Conversions',
  description: 'Reports conversions to a Google Ads account.',
  notes:
    'If events add data to those of a Google tag, use the conversion action of the website; each row then needs the transaction ID that the tag sent.',
  secrets: googleSignIn('a user of the Google Ads account', 'to send data'),
  source: 'WEB',
  settings: { eventSource: eventSource.setting },
  columns: { event_source: eventSource.column },
})
