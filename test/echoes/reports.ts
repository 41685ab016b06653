import { ecKey, google, type Side, secret } from './side.ts'

/** The app of a connector, and what it was granted. */
const app = (name: string) => ({ clientId: '1', clientSecret: secret(name), refreshToken: secret(`${name} refresh`) })

/** Keys of OAuth 1.0a. */
const x = {
  clientId: 'key',
  clientSecret: secret('x-key'),
  refreshToken: secret('x-token'),
  accessTokenSecret: secret('x-token-secret'),
}

/** Reports of advertising platforms. */
export const reports: readonly Side[] = [
  {
    slug: 'meta-insights',
    secrets: { clientId: '1', clientSecret: secret('meta'), accessToken: 'EAAexample7Zq9wT4vT8rPm2Lc6' },
    settings: { accountIds: '1234567890' },
  },
  {
    slug: 'google-ads-reporting',
    secrets: { ...google, developerToken: secret('developer') },
    settings: { accountIds: '123-456-7890' },
  },
  { slug: 'google-analytics-4', secrets: google, settings: { accountIds: '123' } },
  { slug: 'google-search-console', secrets: google, settings: { accountIds: 'sc-domain:example.com' } },
  { slug: 'google-ad-manager', secrets: google, settings: { accountIds: '123' } },
  { slug: 'dv360-reporting', secrets: google, settings: { accountIds: '123' } },
  {
    slug: 'bing-ads-reporting',
    secrets: { ...app('microsoft'), developerToken: secret('developer') },
    settings: { accountIds: '123' },
  },
  { slug: 'amazon-ads-reporting', secrets: { authType: 'oauth2', ...app('amazon') }, settings: { accountIds: '123' } },
  {
    slug: 'tiktok-ad-reporting',
    secrets: { clientId: '1', clientSecret: secret('tiktok'), accessToken: secret('token') },
    settings: { accountIds: '123' },
  },
  { slug: 'linkedin-analytics', secrets: app('linkedin'), settings: { accountIds: '512' } },
  { slug: 'pinterest-ads-analytics', secrets: app('pinterest'), settings: { accountIds: '549' } },
  { slug: 'pinterest-ads-management', secrets: app('pinterest'), settings: { accountIds: '549' } },
  { slug: 'snapchat-reporting', secrets: app('snapchat'), settings: { accountIds: 'acc-1' } },
  { slug: 'reddit-ads-reporting', secrets: app('reddit'), settings: { accountIds: 't2_shop' } },
  { slug: 'criteo-reporting', secrets: app('criteo'), settings: { accountIds: '123' } },
  { slug: 'criteo-retail-media-reporting', secrets: app('criteo'), settings: { accountIds: '123' } },
  {
    slug: 'taboola-backstage',
    secrets: { clientId: '1', clientSecret: secret('taboola') },
    settings: { accountIds: 'shop' },
  },
  { slug: 'x-ad-analytics', secrets: x, settings: { accountIds: '18ce54d4x5t' } },
  { slug: 'x-campaign-measurement', secrets: x, settings: { accountIds: '18ce54d4x5t' } },
  {
    slug: 'apple-search-ads',
    secrets: { clientId: 'client', teamId: 'team', keyId: 'key', privateKey: ecKey },
    settings: { accountIds: '123' },
  },
  {
    slug: 'spotify-ads',
    secrets: app('spotify'),
    settings: { accountIds: 'ce4ff15e-f04d-48b9-9ddf-fb3c85fbd57a' },
  },
  {
    slug: 'the-trade-desk-my-reports',
    secrets: { apiToken: secret('trade desk') },
    settings: { accountIds: 'abc', templateId: '1' },
  },
  {
    slug: 'yahoo-dsp-reporting',
    secrets: { clientId: '1', clientSecret: secret('yahoo') },
    settings: { accountIds: '123' },
  },
  {
    slug: 'linkedin-audience-insights',
    secrets: app('linkedin'),
    settings: { accountIds: '512', targeting: '{"include":{"and":[]}}' },
  },
  { slug: 'stripe-billing', secrets: { apiKey: secret('rk-live') }, settings: {} },
]
