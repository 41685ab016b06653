import { canary, google, type Side, secret } from './side.ts'

/** Events and conversions. */
export const events: readonly Side[] = [
  {
    slug: 'meta-conversions',
    secrets: { clientId: '1', clientSecret: secret('meta'), accessToken: 'EAAexample7Zq9wT4vT8rPm2Lc6' },
    settings: { datasetId: '1234567890' },
    row: {
      ...{ event_name: 'Lead', event_time: Math.floor(Date.now() / 1000) - 60, action_source: 'website' },
      email: canary,
    },
  },
  {
    slug: 'meta-app-events',
    secrets: { clientId: '1', clientSecret: secret('meta'), refreshToken: 'EAAexample7Zq9wT4vT8rPm2Lc6' },
    settings: { datasetId: '1234567890', appPlatform: 'ios' },
    row: { event_name: 'Install', event_time: Math.floor(Date.now() / 1000) - 60, email: canary },
  },
  {
    slug: 'pinterest-conversions',
    secrets: { conversionToken: 'pina_example7Zq9wT4vT8rPm2Lc6' },
    settings: { adAccountId: '549755885175' },
    row: {
      ...{ event_name: 'lead', event_time: Math.floor(Date.now() / 1000) - 60, action_source: 'web' },
      email: canary,
    },
  },
  {
    slug: 'snapchat-conversions',
    secrets: { clientId: '1', clientSecret: secret('snap'), refreshToken: secret('refresh') },
    settings: { pixelId: 'c4e4f0a2-example' },
    row: {
      ...{ event_name: 'SIGN_UP', event_time: Math.floor(Date.now() / 1000) - 60, action_source: 'WEB' },
      ...{ conversion_value: 1, currency: 'EUR', email: canary },
    },
  },
  {
    slug: 'amazon-ads-dsp-events',
    secrets: { clientId: '1', clientSecret: secret('amazon'), refreshToken: secret('refresh') },
    settings: { country: 'US' },
    row: {
      ...{
        advertiserId: '590000000000000001',
        eventType: 'SIGN_UP',
        eventTime: new Date(Date.now() - 60_000).toISOString(),
      },
      ...{ eventValue: 1, currency: 'EUR', matchId: canary },
    },
  },
  {
    slug: 'amazon-dsp-conversions',
    secrets: {
      ...{ accountId: '590000000000000001', apiClientId: '1', apiScope: '1234567890123456' },
      ...{ clientSecret: secret('amazon'), refreshToken: secret('refresh') },
    },
    settings: { country: 'US' },
    row: {
      ...{ source: 'SERVER_TO_SERVER', conversionType: 'SIGN_UP', conversionDefinitionId: '5810', conversionValue: 1 },
      ...{ eventTime: new Date(Date.now() - 60_000).toISOString(), rampId: canary },
    },
  },
  {
    slug: 'linkedin-offline-conversions',
    secrets: { clientId: '1', clientSecret: secret('linkedin'), refreshToken: secret('refresh') },
    settings: { conversionRuleId: '104012', adAccountId: '512345678' },
    row: { event_time: Math.floor(Date.now() / 1000) - 60, email: canary },
  },
  {
    slug: 'microsoft-ads-events',
    secrets: {
      ...{ clientId: '1', clientSecret: secret('microsoft'), refreshToken: secret('refresh') },
      developerToken: secret('developer'),
    },
    settings: { customerId: '1234', accountId: '5678', conversionName: 'Lead' },
    row: { event_time: Math.floor(Date.now() / 1000) - 60, msclkid: '0a1b2c3d4e5f60718293a4b5c6d7e8f9', email: canary },
  },
  {
    slug: 'reddit-conversions',
    secrets: { conversionToken: secret('reddit-events') },
    settings: { pixelId: 'a2_example' },
    row: {
      event_name: 'Lead',
      event_time: Math.floor(Date.now() / 1000) - 60,
      action_source: 'website',
      email: canary,
    },
  },
  {
    slug: 'mparticle-events',
    secrets: { key: 'mparticle-key', secret: secret('mparticle') },
    settings: {},
    row: { event_name: 'Purchase', timestamp_unixtime_ms: Date.now() - 60_000, email: canary },
  },
  {
    slug: 'tiktok-events',
    secrets: { accessToken: 'tt-example7Zq9wT4vT8rPm2Lc6' },
    settings: { pixelCode: 'C4EXAMPLE' },
    row: { event: 'Purchase', event_time: Math.floor(Date.now() / 1000) - 60, email: canary },
  },
  {
    slug: 'google-ads-conversions',
    secrets: google,
    settings: { customerId: '1234567890', conversionActionId: '1234' },
    row: { event_time: '2026-01-31T12:00:00Z', transaction_id: canary, email: canary },
  },
  {
    slug: 'google-ads-click-conversions',
    secrets: google,
    settings: { customerId: '1234567890', conversionActionId: '1234' },
    row: { event_time: '2026-01-31T12:00:00Z', gclid: canary },
  },
  {
    slug: 'google-ads-offline-conversions',
    secrets: google,
    settings: { customerId: '1234567890', conversionActionId: '1234' },
    row: { event_time: '2026-01-31T12:00:00Z', store_id: canary, email: canary },
  },
  {
    slug: 'campaign-manager-360-conversions',
    secrets: google,
    settings: { profileId: '7001' },
    row: {
      ...{ floodlightActivityId: '5001', floodlightConfigurationId: '4001', timestampMicros: '1763632800000000' },
      ...{ matchId: canary, ordinal: '1' },
    },
  },
  {
    slug: 'the-trade-desk-offline-conversions',
    secrets: { advertiserSecretKey: secret('ttd'), apiToken: secret('ttdapi') },
    settings: { advertiserId: 'abc123', offlineDataProviderId: 'provider' },
    row: {
      ...{ DataProviderId: 'provider', TrackingTagId: 'tag', TimestampUtc: '2026-01-31T12:00:00Z', OrderId: canary },
      ...{ TDID: '12345678-1234-4321-8765-123456789abc' },
    },
  },
  {
    slug: 'the-trade-desk-real-time-conversions',
    secrets: { apiToken: 'ttdapi-example7Zq9wT4vT8rPm2Lc6' },
    settings: { advertiserId: 'abc123', trackingTagId: 'tag' },
    row: { event_name: 'purchase', order_id: canary, client_ip: '192.0.2.7' },
  },
]
