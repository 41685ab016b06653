import {
  type Connector,
  type ConnectorDefinition,
  defineConnector,
  definePlatform,
  type Withdrawal,
} from '@penstock/connector'
import { spotify } from './spotify/platform.ts'

const adikteev = definePlatform({ slug: 'adikteev', name: 'Adikteev', type: 'Demand-Side Platform (DSP)' })
const freewheel = definePlatform({ slug: 'freewheel', name: 'FreeWheel', type: 'Supply-Side Platform (SSP)' })
const nielsen = definePlatform({ slug: 'nielsen', name: 'Nielsen', type: 'Data Provider' })

type Withdrawn = Pick<
  ConnectorDefinition,
  'slug' | 'name' | 'platform' | 'dataType' | 'dataTypeCategory' | 'description'
> &
  Withdrawal & { readonly roles: Connector['roles'] }

const table: readonly Withdrawn[] = [
  {
    slug: 'adikteev-custom-audience',
    name: 'Adikteev Custom Audience',
    platform: adikteev,
    dataType: 'Custom Audiences',
    dataTypeCategory: 'audience activation',
    roles: ['Destination'],
    description: 'Delivers the audience segments of an advertiser to Adikteev, which retargets them in apps.',
    why: 'Adikteev publishes no description of how it takes audiences: that is part of each contract.',
    instead:
      'Send the file that was agreed with the SFTP Destination or the Amazon S3 Destination, or each row with the Webhook.',
  },
  {
    slug: 'adikteev-reporting',
    name: 'Adikteev Reporting',
    platform: adikteev,
    dataType: 'reporting',
    dataTypeCategory: 'reporting',
    roles: ['Source'],
    description: 'Reads the figures of Adikteev campaigns, for use outside of its dashboard.',
    why: 'Adikteev publishes no description of its reporting interface: that is part of each contract.',
    instead:
      'Have the reports delivered as files, and read them with the Amazon S3 Source, the SFTP Source or HTTPS File.',
  },
  {
    slug: 'fetch-audiences',
    name: 'Fetch Audiences',
    platform: definePlatform({ slug: 'fetch-rewards', name: 'Fetch Rewards', type: 'Data Provider' }),
    dataType: 'audiences',
    dataTypeCategory: 'audience activation',
    roles: ['Source'],
    description: 'Receives audiences that Fetch Rewards prepares and pushes, and sends them to a destination.',
    why: 'Fetch delivers its audiences as files whose layout each customer arranges with Fetch; no public document has it.',
    instead:
      'Have the files delivered to your own bucket or server, and read them with the Amazon S3 Source or the SFTP Source.',
  },
  {
    slug: 'freewheel-campaign-posting',
    name: 'FreeWheel Campaign Posting',
    platform: freewheel,
    dataType: 'campaign posting',
    dataTypeCategory: 'campaign management',
    roles: ['Destination'],
    description: 'Sends the data of your campaigns to FreeWheel.',
    why: 'The public interface of FreeWheel for campaigns signs in with a user name and a password, and not with a client ID and a secret key; which campaign data FreeWheel takes with these is described to customers under contract only.',
    instead:
      'Post each campaign to an address of yours with the Webhook, or leave files with the SFTP Destination where FreeWheel collects them.',
  },
  {
    slug: 'freewheel-events',
    name: 'FreeWheel Events',
    platform: freewheel,
    dataType: 'events',
    dataTypeCategory: 'events',
    roles: ['Source'],
    description: 'Reads the advertising events that FreeWheel recorded.',
    why: 'The log files of FreeWheel and their columns are described to customers under contract only.',
    instead: 'Have the log files delivered to your own bucket, and read them with the Amazon S3 Source.',
  },
  {
    slug: 'kochava-geo-events',
    name: 'Kochava Geo Events',
    platform: definePlatform({ slug: 'kochava', name: 'Kochava', type: 'Data Provider' }),
    dataType: 'geo events',
    dataTypeCategory: 'events',
    roles: ['Source', 'Destination'],
    description: 'Exchanges reports on events in apps with Kochava, in either direction, through an Amazon S3 bucket.',
    why: 'Kochava delivers reports with the columns that each report is set up with, to a bucket and under names that no public document describes, and takes files of events only by arrangement with its support.',
    instead:
      'Have the reports delivered to your own bucket, and read them with the Amazon S3 Source. Leave files for Kochava in the agreed bucket with the Amazon S3 Destination.',
  },
  {
    slug: 'maven-media-snapshots',
    name: 'Maven Media Snapshots',
    platform: definePlatform({ slug: 'maven', name: 'Maven', type: 'Media Management System' }),
    dataType: 'Insights',
    dataTypeCategory: 'reporting',
    roles: ['Source'],
    description: 'Receives the market snapshots that Maven delivers to an S3 bucket for media planners.',
    why: 'Maven delivers snapshots as files to a bucket of yours; no public document describes them.',
    instead: 'Read them with the Amazon S3 Source, which takes the columns from the files.',
  },
  {
    slug: 'narrative',
    name: 'Narrative Data Collaboration',
    platform: definePlatform({ slug: 'narrative', name: 'Narrative', type: 'Data Provider' }),
    dataType: 'data store',
    dataTypeCategory: 'data store',
    roles: ['Source'],
    description: 'Reads data that you bought on Narrative’s marketplace or that others share with you there.',
    why: 'Narrative describes how to order data, and leaves the layout of what it delivers to each order.',
    instead:
      'Have the data delivered to your own bucket or warehouse, and read it with the Amazon S3 Source or the Snowflake Source.',
  },
  {
    slug: 'nielsen-digital-ad-ratings',
    name: 'Nielsen Digital Ad Ratings',
    platform: nielsen,
    dataType: 'ads analytics',
    dataTypeCategory: 'reporting',
    roles: ['Source'],
    description: 'Reads the reach of digital ads by demographic group, and their viewability.',
    why: 'Nielsen describes the interface of Digital Ad Ratings to customers under contract only, and is replacing it by Nielsen ONE.',
    instead: 'Have the reports delivered as files, and read them with the Amazon S3 Source or the SFTP Source.',
  },
  {
    slug: 'nielsen-n1-ads',
    name: 'Nielsen N1 Ads',
    platform: nielsen,
    dataType: 'analytics',
    dataTypeCategory: 'reporting',
    roles: ['Source'],
    description: 'Reads Nielsen’s measurements across channels: reach, demographic groups and engagement.',
    why: 'Nielsen describes the interface of Nielsen ONE Ads to customers under contract only.',
    instead:
      'Have the measurements delivered as files, and read them with the Amazon S3 Source, the SFTP Source or the Snowflake Source.',
  },
  {
    slug: 'outfront-inventory',
    name: 'Outfront Inventory Availability',
    platform: definePlatform({ slug: 'outfront', name: 'Outfront', type: 'Supply-Side Platform (SSP)' }),
    dataType: 'reporting',
    dataTypeCategory: 'reporting',
    roles: ['Source'],
    description: 'Reads the billboard units that Outfront offers, with their availability, prices and impressions.',
    why: 'The address and the answers of Outfront’s inventory interface are described to partners only.',
    instead: 'Have the inventory delivered as a file, and read it with HTTPS File or the SFTP Source.',
  },
  {
    slug: 'pandora',
    name: 'Pandora',
    platform: definePlatform({ slug: 'pandora', name: 'Pandora', type: 'Media Management System', icon: 'pandora' }),
    dataType: 'data store',
    dataTypeCategory: 'data store',
    roles: ['Source'],
    description: 'Reads Pandora’s music catalogue.',
    why: 'Pandora has no public interface for its music catalogue; its partner interface is under contract.',
    instead: 'Read files that Pandora delivers to you with the Amazon S3 Source or the SFTP Source.',
  },
  {
    slug: 'spotify-web',
    name: 'Spotify Web',
    platform: spotify,
    dataType: 'data store',
    dataTypeCategory: 'data store',
    roles: ['Source'],
    description: 'Reads Spotify’s catalogue of titles, playlists and recommendations.',
    why: 'The Developer Terms of Spotify do not allow databases of its content beyond what an app needs to run, its recommendations are closed to apps since 27 November 2024, and apps in development mode cannot read several titles at once since February 2026.',
    instead: 'Read how your campaigns, ad sets and ads performed with Spotify Ads.',
  },
  {
    slug: 'tiktok-data-insights',
    name: 'TikTok Data Insights',
    platform: definePlatform({ slug: 'tiktok', name: 'TikTok', type: 'Social Media Platform', icon: 'tiktok' }),
    dataType: 'Insights',
    dataTypeCategory: 'reporting',
    roles: ['Source'],
    description: 'Reads the trends, the engagement and the performance of campaigns on TikTok.',
    why: 'No public document of TikTok describes insights besides those of its ad reports.',
    instead: 'Read the performance of campaigns, ad groups and ads with TikTok Ad Measurement.',
  },
  {
    slug: 'videoamp-audiences',
    name: 'VideoAmp Audiences',
    platform: definePlatform({ slug: 'videoamp', name: 'VideoAmp', type: 'Media Management System' }),
    dataType: 'audiences',
    dataTypeCategory: 'audience activation',
    roles: ['Destination'],
    description: 'Writes audiences to a table in your Snowflake account, which VideoAmp reads through a share.',
    why: 'A table in a share makes no audience: that takes a request to VideoAmp’s interface, whose content VideoAmp describes to customers who are signed in, and to no one else.',
    instead:
      'Write the people with the Snowflake Data Store to a table that you share with VideoAmp, and create the audience in VideoAmp.',
  },
]

/**
 * Connectors of earlier builds that never moved data. Sub-accounts that added one keep it and can remove it. They have no settings:
 * nothing would read them.
 */
export const withdrawnConnectors: readonly Connector[] = table.map(({ why, instead, roles, ...about }) =>
  defineConnector({
    ...about,
    status: 'withdrawn',
    withdrawn: { why, instead },
    secrets: {},
    ...(roles.includes('Source') && { source: {} }),
    ...(roles.includes('Destination') && { destination: {} }),
  }),
)
