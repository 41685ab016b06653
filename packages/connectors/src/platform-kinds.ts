import type { PlatformKind } from '@penstock/wire/rules'

/**
 * The platforms of each kind, by their slugs, in the order in which the README shows their logos. Every listed platform has exactly
 * one kind.
 */
export const platformsByKind: Readonly<Record<PlatformKind, readonly string[]>> = {
  database: ['postgresql', 'mysql'],
  warehouse: ['google-bigquery', 'snowflake', 'amazon-redshift', 'databricks', 'clickhouse'],
  'file store': [
    'amazon-s3',
    'google-cloud-storage',
    'azure-blob-storage',
    'dropbox',
    'sftp',
    'https-file',
    'local-folder',
    'file-upload',
    'google-sheets',
  ],
  'event stream': ['apache-kafka', 'event-stream', 'webhook', 'mparticle', 'radar', 'appsflyer', 'adjust', 'branch'],
  'customer platform': [
    'salesforce',
    'salesforce-marketing-cloud',
    'hubspot',
    'shopify',
    'stripe',
    'activecampaign',
    'braze',
    'klaviyo',
    'customer-io',
    'iterable',
    'mailchimp',
    'attentive',
    'intercom',
    'marketo',
    'sendgrid',
    'mixpanel',
    'amplitude',
    'acoustic',
    'liveramp',
    'uid2',
    'euid',
    'lotame',
    'adobe',
  ],
  'advertising platform': [
    'google-ads',
    'google-campaign-manager-360',
    'display-video-360',
    'google-ad-manager',
    'meta',
    'meta-ads',
    'microsoft-advertising',
    'bing-ads',
    'amazon-ads',
    'tiktok-ads',
    'linkedin-ads',
    'linkedin',
    'pinterest-ads',
    'snapchat-ads',
    'reddit-ads',
    'x-twitter',
    'x-ads',
    'criteo',
    'the-trade-desk',
    'yahoo-dsp',
    'nexxen',
  ],
  reports: ['google-analytics', 'google-search-console', 'apple-ads', 'spotify', 'taboola'],
  api: ['http-api', 'ecapi'],
  'own records': ['rejected-records', 'outcomes'],
}

const kinds = new Map(
  Object.entries(platformsByKind).flatMap(([kind, slugs]) =>
    slugs.map((slug) => [slug, kind as PlatformKind] as const),
  ),
)

/** The kind of a platform, by its slug. Undefined for the platform of a connector that the operator added. */
export const kindOfPlatform = (slug: string): PlatformKind | undefined => kinds.get(slug)
