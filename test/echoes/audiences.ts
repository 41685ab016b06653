import { canary, google, person, type Side, secret } from './side.ts'

/** Audiences, and contacts. */
export const audiences: readonly Side[] = [
  {
    slug: 'meta-custom-audiences',
    secrets: { authType: 'api-token', accessToken: 'EAAexample7Zq9wT4vT8rPm2Lc6' },
    settings: { advertiserId: '1234567890' },
    row: { segment_name: 'Buyers', action: 'add', email: canary },
  },
  {
    slug: 'snapchat-customer-lists',
    secrets: { clientId: '1', clientSecret: secret('snap'), refreshToken: secret('refresh') },
    settings: { advertiserId: '8adc3db7-example' },
    row: { segment_name: 'Buyers', action: 'add', email: canary },
  },
  {
    slug: 'activecampaign',
    secrets: { apiUrl: 'https://example.api-us1.com', apiKey: secret('activecampaign') },
    settings: { resultWaitSeconds: 0 },
    row: { email: canary, action: 'add' },
  },
  {
    slug: 'criteo-commerce-growth-audiences',
    secrets: { clientId: '1', clientSecret: secret('criteo'), refreshToken: secret('refresh') },
    settings: { advertiserId: '12345' },
    row: { segment_id: '678', action: 'add', email: canary },
  },
  {
    slug: 'linkedin-company-segments',
    secrets: { clientId: '1', clientSecret: secret('linkedin'), refreshToken: secret('refresh') },
    settings: { adAccountId: '512345678' },
    row: { segment_id: '678', action: 'add', company_name: canary },
  },
  {
    slug: 'linkedin-dmp-segments',
    secrets: { clientId: '1', clientSecret: secret('linkedin'), refreshToken: secret('refresh') },
    settings: { adAccountId: '512345678' },
    row: { segment_id: '678', action: 'add', email: canary },
  },
  {
    slug: 'microsoft-ads-customer-match',
    secrets: {
      authType: 'oauth2',
      clientId: '1',
      clientSecret: secret('microsoft'),
      refreshToken: secret('refresh'),
      appDeveloperToken: secret('developer'),
    },
    settings: { customerId: '1234', accountId: '5678' },
    row: { segment_id: '678', action: 'add', email_sha256: canary },
  },
  {
    slug: 'pinterest-customer-lists',
    secrets: { authType: 'oauth2', clientId: '1', clientSecret: secret('pinterest'), refreshToken: secret('refresh') },
    settings: { adAccountId: '549755885175', audienceName: 'Buyers' },
    row: { segment_name: 'Buyers', action: 'add', email: canary },
  },
  {
    slug: 'reddit-audiences',
    secrets: { clientId: '1', clientSecret: secret('reddit'), refreshToken: secret('refresh') },
    settings: { advertiserId: 't2_example' },
    row: { segment_name: 'Buyers', action: 'add', email_sha256: canary },
  },
  {
    slug: 'tiktok-audience-management',
    secrets: { clientId: '1', clientSecret: secret('tiktok'), accessToken: 'tt-example7Zq9wT4vT8rPm2Lc6' },
    settings: { advertiserId: '6900000000000000001' },
    row: { segment_name: 'Buyers', action: 'add', email: canary },
  },
  {
    slug: 'tiktok-customer-file-audiences',
    secrets: { clientId: '1', clientSecret: secret('tiktok'), accessToken: 'tt-example7Zq9wT4vT8rPm2Lc6' },
    settings: { advertiserId: '6900000000000000001' },
    row: { segment_name: 'Buyers', action: 'add', email: canary },
  },
  {
    slug: 'salesforce-crm',
    secrets: {
      authType: 'client-credentials',
      myDomain: 'example.my.salesforce.com',
      serviceClientId: '1',
      serviceClientSecret: secret('salesforce'),
    },
    settings: { objectName: 'Contact', operation: 'Insert', resultWaitSeconds: 0 },
    row: { Email: canary, MailingCity: 'Paris' },
  },
  {
    slug: 'salesforce-marketing-cloud-data-extensions',
    secrets: { clientId: '1', clientSecret: secret('marketing-cloud'), subdomain: 'mc' },
    settings: { operationType: 'Add Data', apiType: 'Insert', dataExtensionKey: 'People', resultWaitSeconds: 0 },
    row: person,
  },
  {
    slug: 'hubspot-crm',
    secrets: { authType: 'token', accessToken: 'pat-eu1-exampleZq7wXT4vT8rPm2Lc6' },
    settings: {
      objectType: 'contacts',
      properties: 'email',
      idProperty: 'email',
      operation: 'removeFromList',
      listId: '5',
    },
    row: person,
  },
  {
    slug: 'x-custom-audiences',
    secrets: {
      clientId: 'key',
      clientSecret: secret('x-key'),
      accessTokenSecret: secret('x-token'),
      refreshToken: '12-exampleZq7wXT4vT8rPm2Lc6',
    },
    settings: { accountId: 'acc1' },
    row: { segment_id: 'aud1', action: 'add', email: canary, partner_user_id: canary },
  },
  {
    slug: 'google-data-manager-audiences',
    secrets: google,
    settings: {
      accountType: 'Google Ads',
      advertiserId: '1234567890',
      audienceType: 'Contact Information',
      dataSourceType: 'first party',
      adUserDataConsent: 'Granted',
      adPersonalizationConsent: 'Granted',
    },
    row: { segment_name: 'Buyers', action: 'add', email: canary },
  },
  {
    slug: 'google-ads-customer-match',
    secrets: google,
    settings: {
      customerId: '1234567890',
      audienceType: 'Contact Information',
      retentionDays: 30,
      adUserDataConsent: 'Granted',
      adPersonalizationConsent: 'Granted',
    },
    row: { segment_name: 'Buyers', action: 'add', email: canary },
  },
  {
    slug: 'dv360-customer-match',
    secrets: google,
    settings: { advertiserId: '1234567890', audienceType: 'Contact Info', retentionDays: 30 },
    row: { segment_id: '42', action: 'add', email: canary },
  },
  {
    slug: 'the-trade-desk-first-party-audiences',
    secrets: { advertiserId: 'abc123', advertiserSecretKey: secret('ttd'), apiToken: secret('ttdapi') },
    settings: {},
    row: { segment_name: 'Buyers', action: 'add', TDID: '12345678-1234-4321-8765-123456789abc' },
  },
]
