import { accountKey, canary, google, jsonKey, person, type Side, s3, secret } from './side.ts'

/** Files, and rows that are sent unchanged. */
export const files: readonly Side[] = [
  {
    slug: 'webhook',
    secrets: {
      url: 'https://peer.example.com/hook',
      signingSecret: `whsec_${Buffer.from('a signing secret of 32 bytes ...').toString('base64')}`,
      authorizationHeader: `Bearer ${secret('hook')}`,
    },
    settings: {},
    row: person,
  },
  {
    slug: 'google-sheets',
    secrets: { authType: 'service-account', jsonKey },
    settings: { spreadsheet: '1AbcDEFghijKLMnopQRstuVWxyz0123456789example' },
    row: person,
  },
  { slug: 'amazon-s3-source', secrets: s3, settings: { bucketUri: 's3://bucket/in/*.csv' } },
  {
    slug: 'amazon-s3-source',
    secrets: { ...s3, endpoint: 'https://peer.example.com' },
    settings: { bucketUri: 's3://bucket/in/*.csv' },
  },
  {
    slug: 'amazon-s3-destination',
    secrets: { ...s3, endpoint: 'https://peer.example.com' },
    settings: { outputPath: 's3://bucket/out', fileFormat: 'CSV' },
    row: person,
  },
  {
    slug: 'the-trade-desk-reds',
    secrets: { ...s3, endpoint: 'https://peer.example.com' },
    settings: { bucketUri: 's3://bucket/impressions', columns: 'LogEntryTime,ImpressionId' },
  },
  {
    slug: 'adobe-audience-manager',
    secrets: { ...s3, endpoint: 'https://peer.example.com' },
    settings: { bucketUri: 's3://bucket/out' },
  },
  {
    slug: 'adobe-audience-manager',
    secrets: { ...s3, endpoint: 'https://peer.example.com' },
    settings: { outputPath: 's3://bucket/acme', dataSourceId: '478' },
    row: { userId: 'canary7f3a91@example.com', traits: '77' },
  },
  {
    slug: 'lotame-audiences',
    secrets: { ...s3, endpoint: 'https://peer.example.com' },
    settings: { outputPath: 's3://bucket/acme' },
    row: { EMAIL: canary, audienceSegments: '77', consent: 'true' },
  },
  {
    slug: 'azure-blob-storage-source',
    secrets: { authType: 'account-key', accountName: 'https://peer.example.com', accessKey: accountKey },
    settings: { blobUri: 'container/in/*.csv' },
  },
  {
    slug: 'azure-blob-storage-destination',
    secrets: {
      authType: 'sas-url',
      sasUrl: 'https://peer.blob.core.windows.net/container?sv=2024-11-04&sig=k9QpZ7wX4vT8rPm2Lc6%2Bq1Ns5Yb3Hd0Jf',
    },
    settings: { outputPath: 'out' },
    row: person,
  },
  { slug: 'google-cloud-storage-source', secrets: { jsonKey }, settings: { bucketUri: 'gs://bucket/in/*.csv' } },
  {
    slug: 'google-cloud-storage-destination',
    secrets: { jsonKey },
    settings: { outputPath: 'gs://bucket/out' },
    row: person,
  },
  { slug: 'dropbox', secrets: google, settings: { path: '/in/' } },
  { slug: 'dropbox', secrets: google, settings: { outputPath: '/out/' }, row: person },
  {
    slug: 'http-api',
    secrets: {
      url: 'https://peer.example.com/',
      authentication: 'API key',
      apiToken: secret('key'),
      keyIn: 'query',
      keyName: 'key',
      secondKey: secret('second'),
      secondKeyName: 'X-Second',
      definition: 'streams: { people: { path: /people, query: { token: a }, pages: { by: url, at: next } } }',
    },
    settings: { stream: 'people' },
  },
  {
    slug: 'https-file',
    secrets: {
      url: 'https://peer.example.com/',
      authentication: 'bearer token',
      bearerToken: secret('bearer'),
      secretQuery: 'key=pX7Zq9wT4vT8rPm2Lc6',
    },
    settings: { path: 'people.csv' },
  },
  {
    slug: 'sftp-source',
    secrets: {
      hostname: 'peer.example.com',
      port: 22,
      username: 'loader',
      authentication: 'password',
      password: secret('sftp'),
      hostKeyCheck: 'first-use',
    },
    settings: { path: '/in/*.csv' },
  },
]
