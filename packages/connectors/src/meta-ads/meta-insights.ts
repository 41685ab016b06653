import { column, defineConnector, secret } from '@penstock/connector'
import { app } from './app.ts'
import { metaAds } from './platform.ts'

/** Delivery and result figures of Meta's ads. */
export const metaInsights = defineConnector({
  slug: 'meta-insights',
  name: 'Meta Insights',
  platform: metaAds,
  dataType: 'Insights',
  dataTypeCategory: 'reporting',
  description: 'Reads the delivery and the results of campaigns on Meta.',
  actions: ['get'],
  secrets: {
    ...app,
    accessToken: secret({
      label: 'Long-lived access token',
      description: 'Token that Meta issued when access was granted',
      required: true,
    }),
  },
  source: {
    records: {
      date_start: column({ kind: 'dimension', description: 'First day that the row covers' }),
      date_stop: column({ kind: 'dimension', description: 'Last day that the row covers' }),
      account_id: column({ kind: 'dimension', description: 'ID of the ad account' }),
      account_name: column({ kind: 'dimension', description: 'Name of the ad account' }),
      ad_id: column({ kind: 'dimension', description: 'ID of the ad' }),
      ad_name: column({ kind: 'dimension', description: 'Name of the ad' }),
      adset_id: column({ kind: 'dimension', description: 'ID of the ad set' }),
      adset_name: column({ kind: 'dimension', description: 'Name of the ad set' }),
      buying_type: column({ kind: 'dimension', description: 'How the ads were bought, such as by auction' }),
      campaign_id: column({ kind: 'dimension', description: 'ID of the campaign' }),
      campaign_name: column({ kind: 'dimension', description: 'Name of the campaign' }),
      conversion_values: column({ kind: 'dimension', description: 'Values of the conversions, by kind' }),
      device_platform: column({ kind: 'dimension', description: 'Kind of device on which the ad was seen' }),
      media_asset: column({ kind: 'dimension', description: 'Image or video that was shown' }),
      objective: column({ kind: 'dimension', description: 'Goal set for the campaign' }),
      publisher_platform: column({ kind: 'dimension', description: 'Meta platform that showed the ad' }),
      user_segment_key: column({ kind: 'dimension', description: 'Segment of users to which the row belongs' }),
      actions: column({ kind: 'metric', description: 'What people did because of the ad, counted by kind' }),
      clicks: column({ kind: 'metric', description: 'Number of clicks' }),
      conversions: column({ kind: 'metric', description: 'Number of conversions, by kind' }),
      impressions: column({ kind: 'metric', description: 'How often the ad was on screen' }),
      inline_link_clicks: column({ kind: 'metric', description: 'Clicks on links inside the ad' }),
      reach: column({ kind: 'metric', description: 'Number of people who saw the ad at least once' }),
      spend: column({ kind: 'metric', description: 'Money spent, in the currency of the ad account' }),
      video_continuous_2_sec_watched_actions: column({
        kind: 'metric',
        description: 'Video plays that ran for two seconds without a break',
      }),
      video_p100_watched_actions: column({ kind: 'metric', description: 'Video plays that reached the end' }),
      video_p25_watched_actions: column({ kind: 'metric', description: 'Video plays that reached one quarter' }),
      video_p50_watched_actions: column({ kind: 'metric', description: 'Video plays that reached one half' }),
      video_p75_watched_actions: column({ kind: 'metric', description: 'Video plays that reached three quarters' }),
    },
  },
})
