import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { IdentityPoolClient } from 'google-auth-library'
import { startBigQueryServer } from '../packages/connectors/test/bigquery-server.ts'
import { startGoogleTokenServices } from '../packages/connectors/test/federation-google.ts'
import { startGcsServer } from '../packages/connectors/test/gcs-server.ts'
import { type GoogleAccounts, makeGoogleAccounts } from '../packages/connectors/test/google-accounts.ts'
import { inboxFile, localFolder } from './harness/connections.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { makeTrusted, startKeyless } from './harness/keyless.ts'

/**
 * Google Cloud Storage and BigQuery without a stored key: a provider of a workload identity pool trusts the sub-account. Google's
 * own library is judged by the same servers.
 */

const bucket = 'people'
const source = connectorBySlug('google-cloud-storage-source')
const destination = connectorBySlug('google-cloud-storage-destination')
const bigQuerySource = connectorBySlug('google-bigquery-source')
const bigQueryDestination = connectorBySlug('google-bigquery-destination')
const names = ['devstorage.read_write', 'bigquery', 'cloud-platform']

const made = makeTrusted()
const google = await startGoogleTokenServices(made.trusted, names)
const accounts: GoogleAccounts = { ...makeGoogleAccounts(names), accepts: google.accepts }
const gcs = await startGcsServer([bucket], accounts)
const bigQuery = await startBigQueryServer(accounts)
const keyless = await startKeyless(made, {
  ...gcs.routes,
  ...bigQuery.routes,
  'https://sts.googleapis.com': google.url,
  'https://iamcredentials.googleapis.com': google.url,
})
const { caller, accountId, service } = keyless
after(async () => {
  await keyless.close()
  await bigQuery.close()
  await gcs.close()
  await google.close()
})
const all = [source, destination, bigQuerySource, bigQueryDestination]
await caller.addConnectors(accountId, ...all)
const federated = { authType: 'workload-identity', workloadProvider: google.provider, serviceAccount: google.email }
for (const connector of all) await caller.expect(keyless.configure(connector, federated))
const subject = keyless.subjectOf(accountId)
beforeEach(() => {
  google.subjects.clear()
  google.subjects.add(subject)
  Object.assign(made.state, { isReachable: true, clockAheadMs: 0 })
})
const failureOf = async () => {
  const { ok, error, message } = await keyless.check(source)
  assert(!ok && !/canary|eyJ/.test(message), message)
  return `${error?.code}: ${message}`
}

test('moves files to and from a bucket, with another token once one is refused', async () => {
  for (const connector of all) await keyless.assertWorks(connector)
  const place = `gs://${bucket}/out/`
  await keyless.movesBothWays(destination, { outputPath: place, fileFormat: 'CSV' }, source, { bucketUri: place })
  assert(!/ya29|eyJ|canary/.test(service.logLines.join('\n')))
  const given = google.given
  // A transfer asks again when its token was withdrawn.
  const id = await keyless.connect(source, { bucketUri: place }, localFolder, { subfolder: 'again' })
  google.failure(/generateAccessToken/, { json: { accessToken: 'ya29.withdrawn', expireTime: '2999-01-01T00:00:00Z' } })
  const moved = await keyless.move(id)
  assert.deepEqual([moved.status, moved.error, moved.records.accepted], ['succeeded', null, 2])
  assert.equal(google.given, given + 1)
})

test('writes to BigQuery and reads from it', async () => {
  await bigQuery.run('create table crm.keyless (email varchar, city varchar)')
  const place = { projectId: 'example-project', dataset: 'crm', table: 'keyless' }
  const writes = { ...place, writeMode: 'Append' }
  const out = await keyless.move(await keyless.connect(localFolder, { files: inboxFile }, bigQueryDestination, writes))
  assert.deepEqual([out.status, out.error, out.records.accepted], ['succeeded', null, 2])
  const reads = { ...place, sqlQuery: 'select * from crm.keyless' }
  const back = await keyless.move(await keyless.connect(bigQuerySource, reads, localFolder, { subfolder: 'table' }))
  assert.deepEqual([back.status, back.error, back.records.accepted], ['succeeded', null, 2])
})

test('says which provider, subject and grant are missing', async () => {
  google.subjects.clear()
  assert.match(
    await failureOf(),
    /^permission_denied: .*Grant principal:\/\/iam\.googleapis\.com\/projects\/123456789012\/locations\/global\/workloadIdentityPools\/example\/subject\/penstock:[0-9a-f]{16}:[0-9a-f]{16} the role roles\/iam\.workloadIdentityUser/,
  )
  google.subjects.add(subject)
  made.state.isReachable = false
  assert.match(await failureOf(), /^platform_error: .*could not reach the issuer/)
  made.state.isReachable = true
  made.state.clockAheadMs = 600_000
  assert.match(
    await failureOf(),
    /^invalid_credentials: .*must exist, trust the issuer https:\/\/penstock\.example\.com/,
  )
  made.state.clockAheadMs = 0
  for (const failure of [
    { status: 200, text: '<canary' },
    { status: 200, json: { access_token: 'a\nb' } },
  ]) {
    google.failure(/token/, failure)
    assert.match(await failureOf(), /^malformed_response/)
  }
  google.failure(/generateAccessToken/, { status: 200, json: { accessToken: 'canary', expireTime: 'never' } })
  assert.match(await failureOf(), /^malformed_response/)
  google.failure(/generateAccessToken/, { status: 429, json: {} })
  assert.match(await failureOf(), /^rate_limited/)
})

test('accepts only names of Google', async () => {
  for (const [name, value] of [
    ['workloadProvider', 'rubbish'],
    ['workloadProvider', `//iam.googleapis.com/${google.provider}`],
    ['workloadProvider', `${google.provider}/../../x`],
    ['serviceAccount', 'mover@example.com'],
    ['serviceAccount', 'mover@x.gserviceaccount.com:generateIdToken?x='],
    ['serviceAccount', '../x@a.gserviceaccount.com'],
  ] as const) {
    const { status, details } = await keyless.configure(source, { [name]: value })
    assert.deepEqual([status, details[0]?.field], [400, `body.secretConfig.${name}`], value)
  }
})

describe("Google's own library", () => {
  /** Its token for the bucket, or the reason of the refusal. */
  const tokenOf = async (identity: string): Promise<string> => {
    const client = new IdentityPoolClient({
      type: 'external_account',
      audience: `//iam.googleapis.com/${google.provider}`,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      subject_token_supplier: { getSubjectToken: async () => identity },
      token_url: `${google.url}/v1/token`,
      service_account_impersonation_url: `${google.url}/v1/projects/-/serviceAccounts/${google.email}:generateAccessToken`,
      scopes: ['https://www.googleapis.com/auth/cloud-platform'],
    })
    return client.getAccessToken().then(
      ({ token }) => (google.accepts(token ?? '') ? 'accepted' : 'another'),
      ({ message }) => String(message),
    )
  }
  const audience = `//iam.googleapis.com/${google.provider}`

  test('gets a token with a token of the sub-account, and with no other', async () => {
    assert.equal(await tokenOf(await keyless.token(accountId, audience)), 'accepted')
    assert.equal(await tokenOf(await keyless.token(accountId, `https:${audience}`)), 'accepted')
    const another = await keyless.addAccount()
    assert.match(await tokenOf(await keyless.token(another, audience)), /iam\.serviceAccounts\.getAccessToken/)
    assert.match(await tokenOf(await keyless.token(accountId, 'sts.amazonaws.com')), /The audience/)
    const replayed = await keyless.token(accountId, audience)
    made.state.clockAheadMs = 301_000
    assert.match(await tokenOf(replayed), /The expired/)
  })
})
