import { column, defineConnector } from '@penstock/connector'
import { snapchatAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Delivery and result figures of Snapchat's ads. */
export const snapchatReporting = defineConnector({
  slug: 'snapchat-reporting',
  name: 'Snapchat Reporting',
  platform: snapchatAds,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads the delivery and the results of campaigns on Snapchat.',
  actions: ['get'],
  secrets: signIn,
  source: {
    records: {
      day: column({ kind: 'dimension', description: 'Day that the row covers' }),
      campaign_id: column({ kind: 'dimension', description: 'ID of the campaign' }),
      campaign: column({ kind: 'dimension', description: 'Name of the campaign' }),
      ad_squad_id: column({ kind: 'dimension', description: 'ID of the ad squad' }),
      ad_squad: column({ kind: 'dimension', description: 'Name of the ad squad' }),
      ad_id: column({ kind: 'dimension', description: 'ID of the ad' }),
      ad_name: column({ kind: 'dimension', description: 'Name of the ad' }),
      impressions: column({ kind: 'metric', description: 'How often the ad was shown' }),
      swipes: column({ kind: 'metric', description: 'How often people swiped up on the ad' }),
      view_time_millis: column({ kind: 'metric', description: 'Time for which the ad was viewed, in milliseconds' }),
      screen_time_millis: column({
        kind: 'metric',
        description: 'Time for which the ad was on screen, in milliseconds',
      }),
      quartile_1: column({ kind: 'metric', description: 'Video views that reached one quarter' }),
      quartile_2: column({ kind: 'metric', description: 'Video views that reached one half' }),
      quartile_3: column({ kind: 'metric', description: 'Video views that reached three quarters' }),
      view_completion: column({ kind: 'metric', description: 'Video views that reached the end' }),
      spend: column({ kind: 'metric', description: 'Money spent' }),
      video_views: column({ kind: 'metric', description: 'Number of video views' }),
      uniques: column({ kind: 'metric', description: 'Number of people who saw the ad at least once' }),
      frequency: column({ kind: 'metric', description: 'How often each of these people saw the ad, on average' }),
    },
  },
})
