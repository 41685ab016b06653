import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import type { Connector, Egress, Row, Values } from '@penstock/connector'
import { connectors } from '@penstock/connectors'
import { loadConnector } from '@penstock/connectors/load'
import { runJob } from '../packages/engine/src/jobs.ts'
import type { Confirmation, Job, SecretHost, TransferHost, TransferState } from '../packages/engine/src/protocol.ts'

/**
 * A platform that repeats what it was sent, secrets and values of rows, in any encoding and anywhere in its answers: none of
 * it is in what a connector reports.
 */

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const jsonKey = JSON.stringify({
  ...{
    type: 'service_account',
    project_id: 'example-project',
    private_key_id: 'f00dfeedf00dfeed',
    private_key: privateKey,
  },
  ...{
    client_email: 'loader@example-project.iam.gserviceaccount.com',
    token_uri: 'https://oauth2.googleapis.com/token',
  },
})
/** A secret with characters that every encoding changes. */
const secret = (name: string) => `${name}/Zq7+w"X'9&<k>=\\4v%Tü8rPm2Lc6`
const accountKey = Buffer.from('an account key of 64 bytes '.padEnd(64, 'q7Zx9')).toString('base64')
const issuedToken = 'ya29.issued-for-this-transfer-5b1e77c2'
const canary = 'canary7f3a91@example.com'

type Side = {
  readonly slug: string
  readonly secrets: Values
  readonly settings: Values
  /** A row that a destination gets. */
  readonly row?: Readonly<Record<string, string | number>>
}
const s3 = {
  ...{ accessKeyId: 'AKIAEXAMPLE', secretAccessKey: secret('aws'), sessionToken: secret('session') },
}
const google = { clientId: '1', clientSecret: secret('google'), refreshToken: secret('refresh') }
const person = { email: canary, city: 'Paris' }
const sides: readonly Side[] = [
  {
    slug: 'webhook',
    secrets: {
      url: 'https://peer.example.com/hook',
      signingSecret: `whsec_${Buffer.from('a signing secret of 32 bytes ...').toString('base64')}`,
      authorizationHeader: `Bearer ${secret('hook')}`,
    },
    ...{ settings: {}, row: person },
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
    ...{ settings: { outputPath: 's3://bucket/out', fileFormat: 'CSV' }, row: person },
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
    ...{ settings: { outputPath: 'out' }, row: person },
  },
  { slug: 'google-cloud-storage-source', secrets: { jsonKey }, settings: { bucketUri: 'gs://bucket/in/*.csv' } },
  {
    slug: 'google-cloud-storage-destination',
    ...{ secrets: { jsonKey }, settings: { outputPath: 'gs://bucket/out' }, row: person },
  },
  {
    slug: 'https-file',
    secrets: {
      ...{ url: 'https://peer.example.com/', authentication: 'bearer token', bearerToken: secret('bearer') },
      secretQuery: 'key=pX7Zq9wT4vT8rPm2Lc6',
    },
    settings: { path: 'people.csv' },
  },
  {
    slug: 'google-bigquery-source',
    secrets: { jsonKey },
    settings: {
      ...{ projectId: 'example-project', dataset: 'crm', table: 'people', keyColumns: 'id' },
      sqlQuery: 'select * from crm.people',
    },
  },
  {
    slug: 'snowflake-source',
    secrets: {
      ...{ authType: 'basic', username: 'loader', password: secret('snow'), snowflakeAccount: 'xy12345' },
    },
    settings: {
      ...{ dataSourceType: 'Table Reference', warehouse: 'load_wh', database: 'sales', schema: 'public' },
      ...{ table: 'people', syncMode: 'Full', keyColumns: 'id' },
    },
  },
  {
    slug: 'snowflake-destination',
    secrets: { authType: 'basic', username: 'loader', password: secret('snow'), accountLocator: 'xy12345' },
    settings: { warehouse: 'load_wh', database: 'sales', schema: 'public', table: 'people', writeMode: 'Append' },
    row: person,
  },
  {
    slug: 'meta-custom-audiences',
    secrets: { authType: 'api-token', accessToken: 'EAAexample7Zq9wT4vT8rPm2Lc6' },
    settings: { advertiserId: '1234567890' },
    row: { segment_name: 'Buyers', action: 'add', email: canary },
  },
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
    slug: 'linkedin-dmp-segments',
    secrets: { clientId: '1', clientSecret: secret('linkedin'), refreshToken: secret('refresh') },
    settings: { adAccountId: '512345678' },
    row: { segment_id: '678', action: 'add', email: canary },
  },
  {
    slug: 'linkedin-offline-conversions',
    secrets: { clientId: '1', clientSecret: secret('linkedin'), refreshToken: secret('refresh') },
    settings: { conversionRuleId: '104012', adAccountId: '512345678' },
    row: { event_time: Math.floor(Date.now() / 1000) - 60, email: canary },
  },
  {
    slug: 'microsoft-ads-customer-match',
    secrets: {
      ...{ authType: 'oauth2', clientId: '1', clientSecret: secret('microsoft'), refreshToken: secret('refresh') },
      appDeveloperToken: secret('developer'),
    },
    settings: { customerId: '1234', accountId: '5678' },
    row: { segment_id: '678', action: 'add', email_sha256: canary },
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
    slug: 'pinterest-customer-lists',
    secrets: {
      ...{ authType: 'oauth2', clientId: '1', clientSecret: secret('pinterest'), refreshToken: secret('refresh') },
    },
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
    slug: 'salesforce-marketing-cloud-data-extensions',
    secrets: { clientId: '1', clientSecret: secret('marketing-cloud'), subdomain: 'mc' },
    settings: { operationType: 'Add Data', apiType: 'Insert', dataExtensionKey: 'People', resultWaitSeconds: 0 },
    row: person,
  },
  {
    slug: 'mparticle-events',
    secrets: { key: 'mparticle-key', secret: secret('mparticle') },
    settings: {},
    row: { event_name: 'Purchase', timestamp_unixtime_ms: Date.now() - 60_000, email: canary },
  },
  {
    slug: 'x-custom-audiences',
    secrets: {
      ...{ clientId: 'key', clientSecret: secret('x-key'), accessTokenSecret: secret('x-token') },
      refreshToken: '12-exampleZq7wXT4vT8rPm2Lc6',
    },
    settings: { accountId: 'acc1' },
    row: { segment_id: 'aud1', action: 'add', email: canary, partner_user_id: canary },
  },
  {
    slug: 'tiktok-events',
    secrets: { accessToken: 'tt-example7Zq9wT4vT8rPm2Lc6' },
    settings: { pixelCode: 'C4EXAMPLE' },
    row: { event: 'Purchase', event_time: Math.floor(Date.now() / 1000) - 60, email: canary },
  },
  {
    slug: 'google-data-manager-audiences',
    secrets: google,
    settings: {
      ...{ accountType: 'Google Ads', advertiserId: '1234567890', audienceType: 'Contact Information' },
      ...{ dataSourceType: 'first party', adUserDataConsent: 'Granted', adPersonalizationConsent: 'Granted' },
    },
    row: { segment_name: 'Buyers', action: 'add', email: canary },
  },
  {
    slug: 'google-ads-customer-match',
    secrets: google,
    settings: {
      ...{ customerId: '1234567890', audienceType: 'Contact Information', retentionDays: 30 },
      ...{ adUserDataConsent: 'Granted', adPersonalizationConsent: 'Granted' },
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
    slug: 'the-trade-desk-first-party-audiences',
    secrets: { advertiserId: 'abc123', advertiserSecretKey: secret('ttd'), apiToken: secret('ttdapi') },
    settings: {},
    row: { segment_name: 'Buyers', action: 'add', TDID: '12345678-1234-4321-8765-123456789abc' },
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
  {
    slug: 'postgresql',
    secrets: { host: 'peer.example.com', database: 'crm', user: 'loader', password: secret('pg'), tlsMode: 'disable' },
    ...{ settings: { table: 'people' }, row: person },
  },
  {
    slug: 'mysql',
    secrets: { host: 'peer.example.com', database: 'crm', user: 'loader', password: secret('my'), tlsMode: 'disable' },
    ...{ settings: { table: 'people' }, row: person },
  },
  {
    slug: 'sftp-source',
    secrets: {
      ...{ hostname: 'peer.example.com', port: 22, username: 'loader', authentication: 'password' },
      ...{ password: secret('sftp'), hostKeyCheck: 'first-use' },
    },
    settings: { path: '/in/*.csv' },
  },
]

const encodings: Readonly<Record<string, (text: string) => string>> = {
  raw: (text) => text,
  Base64: (text) => Buffer.from(text).toString('base64'),
  'Base64 inside a longer text': (text) => Buffer.from(`a:${text}:b`).toString('base64'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  'percent-encoded': encodeURIComponent,
  'percent-encoded twice': (text) => encodeURIComponent(encodeURIComponent(text)),
  'escaped for JSON': (text) => JSON.stringify(text).slice(1, -1),
  'escaped for JSON twice': (text) => JSON.stringify(JSON.stringify(text)).slice(1, -1),
  hexadecimal: (text) => Buffer.from(text).toString('hex'),
}
const statuses = [200, 400, 403, 404, 422, 500]

const isNoHttp = (slug: string) => ['postgresql', 'mysql', 'sftp-source'].includes(slug)

/** What the platform knows of a side. */
function known({ slug, secrets, row }: Side, connector: Connector): string[] {
  const saved = Object.entries(connector.secrets).flatMap(([key, { type }]) =>
    type === 'Password' && typeof secrets[key] === 'string' ? [secrets[key]] : [],
  )
  const isIssued = 'jsonKey' in secrets || 'refreshToken' in secrets
  // What is not HTTP fails here before a row is sent.
  const isSent = row !== undefined && !isNoHttp(slug)
  return [
    ...saved.filter((value) => value !== jsonKey).map((value) => /[?&]sig=([^&]+)/.exec(value)?.[1] ?? value),
    ...(isIssued ? [issuedToken] : []),
    ...(isSent ? [canary] : []),
  ]
}

/** Whether a text holds a form, or a part of it that is long enough to mean it. */
function holds(text: string, form: string): boolean {
  const length = Math.min(form.length, 16)
  for (let at = 0; at + length <= form.length; at++) if (text.includes(form.slice(at, at + length))) return true
  return false
}

/** An egress whose every answer repeats a text wherever platforms have texts. */
function echo(said: string, status: number): Egress {
  // Some platforms' own codes decide whether their words are shown.
  const isCoded = status === 422 || status === 400
  const [code, reason, message] = isCoded ? ['001003', 'invalidQuery', `Syntax error: ${said}`] : [said, said, said]
  const one = { code, reason, message, status: said, location: said, title: said, description: said }
  const members = {
    ...{ ...one, error_description: said, sqlState: said, statementHandle: said },
    error: { ...one, errors: [one], details: [{ ...one, '@type': 'x', metadata: { reason: said } }], type: said },
    ...{ errors: [one], data: { ...one }, request_id: said, uploadId: said, nextPageToken: said },
    rejected: [{ index: 0, reason: said, field: said }],
  }
  return {
    resolve: async () => '127.0.0.1',
    request: async (url, { method } = {}) => {
      const { host, pathname } = new URL(url)
      if (status !== 401 && /token|oauth/i.test(pathname)) {
        const issued = { access_token: issuedToken, expires_in: 3600, token_type: 'Bearer' }
        return Response.json(issued)
      }
      const isXml = /amazonaws|windows\.net/.test(host) || (host === 'peer.example.com' && !/hook|csv/.test(pathname))
      const text = said.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
      const xml = `<?xml version="1.0"?><Error><Code>${text}</Code><Message>${text}</Message><Region>${text}</Region><UploadId>${text}</UploadId><ETag>${text}</ETag></Error>`
      const header = said.replace(/[^\x20-\x7e]/g, '')
      return new Response(method === 'HEAD' ? null : isXml ? xml : JSON.stringify(members), {
        status,
        statusText: header,
        headers: {
          'content-type': isXml ? 'application/xml' : 'application/json',
          ...{ etag: header, 'x-amz-bucket-region': header.toLowerCase(), 'x-ms-error-code': header },
          ...{ 'x-ms-request-id': header, 'www-authenticate': header, 'retry-after': '1' },
        },
      })
    },
  }
}

/** A server that is not HTTP: it says the text in the form in which each of these protocols has errors, and hangs up. */
async function startTalker(slug: string, said: () => string) {
  const server = net.createServer((socket) => {
    socket.on('error', () => {})
    if (slug === 'mysql') {
      const body = Buffer.concat([Buffer.from([0xff, 0x15, 0x04]), Buffer.from(`#28000${said()}`)])
      socket.end(Buffer.concat([Buffer.from([body.length & 255, body.length >> 8, 0, 0]), body]))
    } else if (slug === 'postgresql') {
      socket.once('data', () => {
        const fields = Buffer.from(`SERROR\0C42P01\0M${said()}\0D${said()}\0H${said()}\0t${said()}\0n${said()}\0\0`)
        const head = Buffer.alloc(5)
        head.write('E')
        head.writeInt32BE(fields.length + 4, 1)
        socket.end(Buffer.concat([head, fields]))
      })
    } else socket.end(`SSH-2.0-${said()}\r\n`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}

/** Everything that a job reports, as text. */
async function reportOf(side: Side, kind: 'check' | 'preview' | 'transfer', egress: Egress): Promise<string> {
  const said: unknown[] = []
  const opened = { slug: side.slug, secrets: side.secrets, settings: side.settings }
  const columns = Object.keys(side.row ?? {})
  const rows: Row[] = [Object.values(side.row ?? {})]
  const state: TransferState = {
    ...{ source: null, destination: opened, replay: { columns, rows: 1 }, confirmed: true, read: 0, checkpoint: null },
    ...{
      pending: null,
      unconfirmed: null,
      columns: null,
      startedTime: new Date(0).toISOString(),
      cursor: null,
      state: null,
    },
    ...{ replaced: null, deliveryStates: [], rejectsLeft: 10 },
  }
  const host: TransferHost & SecretHost = {
    leaseSecret: () => assert.fail('no connector of these renews a secret'),
    replaceSecret: () => assert.fail('nothing was leased'),
    releaseSecret: () => assert.fail('nothing was leased'),
    open: async () => state,
    beginBatch: async () => {},
    confirm: async ({ rejects }: Confirmation) => {
      said.push(rejects.map(({ reason, field }) => ({ reason, field })))
      return false
    },
    reportRetry: async (retry) => void said.push(retry),
    readRejects: async (number) =>
      number > 0 ? [] : rows.map((row, i) => ({ number: i + 1, raw: JSON.stringify(row) })),
  }
  const job = {
    check: { kind, connector: opened, deadlineMs: 20_000 },
    preview: {
      kind,
      source: opened,
      destination: { slug: 'webhook', settings: {} },
      unmapped: true,
      deadlineMs: 20_000,
    },
    transfer: {
      kind,
      id: '0f1e2d3c4b5a6978',
      connectionId: '0f1e2d3c4b5a6979',
      retry: { firstMs: 0, mostMs: 0, totalMs: 0 },
      replaceShareMin: 0,
    },
  }[kind] as Job
  const runtime = { loadConnector, egress, plainHttp: { loopback: false, allow: [] }, localFolders: [] }
  said.push(await runJob(job, { runtime, host, signal: new AbortController().signal, onProgress: () => {} }))
  return JSON.stringify(said)
}

test('every connector that reaches a platform is looked at', () => {
  const reaching = connectors.filter(
    ({ slug, check, source, destination }) =>
      slug !== 'local-folder' && (check ?? source?.open ?? destination?.deliver) !== undefined,
  )
  const seen = new Set(sides.map(({ slug }) => slug))
  // The destinations over SFTP share the session and its errors with the source.
  const overSftp = ['sftp-destination', 'nexxen-audiences']
  assert.deepEqual(
    reaching.map(({ slug }) => slug).filter((slug) => !seen.has(slug) && !overSftp.includes(slug)),
    [],
  )
})

describe('what a platform repeats is not in what is reported of it', () => {
  for (const side of sides) {
    test(`${side.slug} ${side.secrets.endpoint ?? ''}`, async (t) => {
      const connector = await loadConnector(side.slug)
      const kinds = [
        ...(connector.check ? (['check'] as const) : []),
        ...(connector.source?.open ? (['preview'] as const) : []),
        ...(connector.destination?.deliver && side.row ? (['transfer'] as const) : []),
      ]
      const isHttp = !isNoHttp(side.slug)
      let said = ''
      const talker = isHttp ? undefined : await startTalker(side.slug, () => said)
      t.after(() => talker?.close())
      const secrets = talker ? { ...side.secrets, port: talker.port } : side.secrets
      const leaks: string[] = []
      const lookFor = async (value: string, encoding: string, text: string, status: number) => {
        said = text
        for (const kind of kinds) {
          const report = await reportOf({ ...side, secrets }, kind, echo(`it says ${text} here`, status))
          // What is reported is looked at as it is, and as JSON has it.
          if (holds(report, text) || holds(report, JSON.stringify(text).slice(1, -1))) {
            leaks.push(`${kind}, status ${status}, ${value.slice(0, 6)}… ${encoding}: ${report.slice(0, 300)}`)
          }
        }
      }
      const looks = known(side, connector).flatMap((value) =>
        Object.entries(encodings).flatMap(([encoding, encode]) =>
          (isHttp ? statuses : [0]).map((status) => () => lookFor(value, encoding, encode(value), status)),
        ),
      )
      // Connectors wait before they repeat a request, so they are looked at side by side; a talker says one text at a time.
      if (isHttp) await Promise.all(looks.map((look) => look()))
      else for (const look of looks) await look()
      assert.deepEqual(leaks.slice(0, 5), [])
    })
  }
})
