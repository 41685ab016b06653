import { column, date, defineConnector, number, select, text } from '@penstock/connector'
import { amazonAds } from './platform.ts'
import { signInOrTokens } from './sign-in.ts'

const dimension = (description: string, reports?: string[]) =>
  column({ description, kind: 'dimension', ...(reports ? { reports } : {}) })
const metric = (description: string, reports?: string[]) =>
  column({ description, kind: 'metric', ...(reports ? { reports } : {}) })

/** Reports of Amazon Ads, version 3 of its reporting API. */
export const amazonAdsReporting = defineConnector({
  slug: 'amazon-ads-reporting',
  name: 'Amazon Ads Reporting',
  platform: amazonAds,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description:
    'Reads reports on audiences, campaigns or regions from Amazon Ads, through version 3 of its reporting API.',
  actions: ['get'],
  notes:
    'Amazon prepares a report in the background after it was requested. The figures of a day are usually available on the next day.',
  secrets: signInOrTokens,
  source: {
    fields: {
      advertiserAccountId: text({
        label: 'Advertiser account ID',
        description: 'ID of the advertiser’s profile that the report is about',
        required: true,
      }),
      reportType: select({
        label: 'Report type',
        description: 'What the report breaks its figures down by',
        options: ['Audience', 'Campaign', 'Geo'],
        required: true,
      }),
      startDate: date({ label: 'Start date', description: 'First day of the report', required: true }),
      endDate: date({ label: 'End date', description: 'Last day of the report', required: true }),
      timeUnit: select({
        label: 'Time unit',
        description: 'Span of time that one row covers',
        options: ['DAILY'],
        required: true,
      }),
      lookbackWindow: number({
        label: 'Lookback window',
        description: 'How many days before the newest are read again, so that late conversions are counted; 0 for none',
        min: 0,
      }),
      schedule: select({
        label: 'Schedule',
        description: 'When the report is fetched: every day, or at custom times',
        options: ['Daily', 'Custom'],
        required: true,
      }),
    },
    records: {
      date: dimension('Day that the figures belong to'),
      campaignId: dimension('ID of the campaign'),
      adGroupId: dimension('ID of the ad group'),
      audienceId: dimension('ID of the audience', ['Audience']),
      audienceName: dimension('Name of the audience', ['Audience']),
      campaignName: dimension('Name of the campaign', ['Campaign']),
      adGroupName: dimension('Name of the ad group', ['Campaign']),
      creativeId: dimension('ID of the creative', ['Campaign']),
      creativeType: dimension('Kind of creative', ['Campaign']),
      countryCode: dimension('Code of the country where the ad was seen', ['Geo']),
      region: dimension('Region within that country', ['Geo']),
      impressions: metric('How often ads were shown'),
      clicks: metric('How often ads were clicked'),
      cost: metric('What was spent'),
      conversions: metric('Conversions credited to the ads'),
      purchases: metric('Purchases credited to the ads'),
      sales: metric('Value of the sales credited to the ads'),
      unitsSold: metric('Items sold', ['Audience', 'Campaign']),
      detailPageViews: metric('Views of product detail pages', ['Audience']),
      videoViews: metric('Views of video ads', ['Campaign']),
      videoCompleteRate: metric('Share of video ads that were watched to the end', ['Campaign']),
    },
  },
})
