import { column, defineConnector } from '@penstock/connector'
import { tiktokAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Delivery and result figures of TikTok's ads. */
export const tiktokAdReporting = defineConnector({
  slug: 'tiktok-ad-reporting',
  name: 'TikTok Ad Measurement',
  platform: tiktokAds,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads the delivery and the results of campaigns on TikTok.',
  actions: ['get'],
  secrets: signIn,
  source: {
    records: {
      advertiser_id: column({ kind: 'dimension', description: 'ID of the advertiser' }),
      advertiser_name: column({ kind: 'dimension', description: 'Name of the advertiser' }),
      ad_account_id: column({ kind: 'dimension', description: 'ID of the ad account' }),
      ad_account_name: column({ kind: 'dimension', description: 'Name of the ad account' }),
      campaign_id: column({ kind: 'dimension', description: 'ID of the campaign' }),
      campaign_name: column({ kind: 'dimension', description: 'Name of the campaign' }),
      adgroup_id: column({ kind: 'dimension', description: 'ID of the ad group' }),
      adgroup_name: column({ kind: 'dimension', description: 'Name of the ad group' }),
      ad_id: column({ kind: 'dimension', description: 'ID of the ad' }),
      ad_name: column({ kind: 'dimension', description: 'Name of the ad' }),
      date: column({ kind: 'dimension', description: 'Day that the row covers' }),
      impressions: column({ kind: 'metric', description: 'How often the ad was shown' }),
      clicks: column({ kind: 'metric', description: 'Number of clicks' }),
      spend: column({ kind: 'metric', description: 'Money spent' }),
      conversion: column({ kind: 'metric', description: 'Number of conversions' }),
      ctr: column({ kind: 'metric', description: 'Share of impressions that were clicked' }),
      cpc: column({ kind: 'metric', description: 'Average cost of a click' }),
      cpm: column({ kind: 'metric', description: 'Average cost of a thousand impressions' }),
      conversion_rate_v2: column({
        kind: 'metric',
        description: 'Share that led to a conversion, by the second version of TikTok’s formula',
      }),
      reach: column({ kind: 'metric', description: 'Number of people who saw the ad at least once' }),
      frequency: column({ kind: 'metric', description: 'How often each of these people saw the ad, on average' }),
      video_play_actions: column({ kind: 'metric', description: 'How often the video started to play' }),
      video_watched_2s: column({ kind: 'metric', description: 'Video plays that lasted two seconds or longer' }),
      video_watched_6s: column({ kind: 'metric', description: 'Video plays that lasted six seconds or longer' }),
      video_views_p25: column({ kind: 'metric', description: 'Video plays that reached one quarter' }),
      video_views_p50: column({ kind: 'metric', description: 'Video plays that reached one half' }),
      video_views_p75: column({ kind: 'metric', description: 'Video plays that reached three quarters' }),
      video_views_p100: column({ kind: 'metric', description: 'Video plays that reached the end' }),
      engagements: column({ kind: 'metric', description: 'How often people interacted with the ad' }),
    },
  },
})
