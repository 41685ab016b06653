import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { ClientAssertionCredential } from '@azure/identity'
import { startAzureTestServer } from '../packages/connectors/test/azure-server.ts'
import { startFailingProxy } from '../packages/connectors/test/failing-proxy.ts'
import { startEntraTokenService } from '../packages/connectors/test/federation-azure.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { makeTrusted, startKeyless } from './harness/keyless.ts'

/**
 * Azure Blob Storage without a stored key: an application of Microsoft Entra ID trusts the sub-account. Microsoft's own library is
 * judged by the same token endpoint.
 */

const container = 'people'
const account = 'devstoreaccount1'
const scope = 'https://storage.azure.com/.default'
const source = connectorBySlug('azure-blob-storage-source')
const destination = connectorBySlug('azure-blob-storage-destination')

const made = makeTrusted()
const entra = await startEntraTokenService(made.trusted, scope)
const azure = await startAzureTestServer([container])
/** The emulator knows no tokens without TLS: they are verified before it, and a signature takes their place. */
const store = await startFailingProxy(azure.proxy.url, ({ headers }) => {
  const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
  delete headers.authorization
  if (entra.accepts(token)) return undefined
  return { status: 401, headers: { 'x-ms-error-code': 'InvalidAuthenticationInfo' } }
})
const signature = azure.sasUrl(container, 'racwdl').split('?')[1] ?? ''
store.rewrite = (url) => `${url}${url.includes('?') ? '&' : '?'}${signature}`
const login = 'https://login.microsoftonline.com'
const keyless = await startKeyless(made, {
  [`https://${account}.blob.core.windows.net`]: store.url,
  [login]: entra.url,
})
const { caller, accountId, service } = keyless
after(async () => {
  await keyless.close()
  await store.close()
  await azure.close()
  await entra.close()
})
await caller.addConnectors(accountId, source, destination)
const { tenantId: directoryId, clientId } = entra
const federated = { authType: 'workload-identity', accountName: account, directoryId, clientId }
for (const connector of [source, destination]) await caller.expect(keyless.configure(connector, federated))
const subject = keyless.subjectOf(accountId)
const audience = 'api://AzureADTokenExchange'
const right = { issuer: made.trusted.issuer, subject, audience }
beforeEach(() => {
  entra.credential = right
  Object.assign(made.state, { isReachable: true, clockAheadMs: 0 })
})
const failureOf = async () => {
  const { ok, error, message } = await keyless.check(destination)
  assert(!ok && !/canary|eyJ/.test(message), message)
  return `${error?.code}: ${message}`
}

test('moves files to and from a container, with another token once one is refused', async () => {
  const place = `https://${account}.blob.core.windows.net/${container}/out/`
  await keyless.movesBothWays(destination, { outputPath: place, fileFormat: 'CSV' }, source, { blobUri: place })
  assert(!/eyJ|canary/.test(service.logLines.join('\n')))
  const given = entra.given
  entra.failure(/POST/, { json: { token_type: 'Bearer', expires_in: 3599, access_token: 'eyJ.withdrawn' } })
  const id = await keyless.connect(source, { blobUri: place }, connectorBySlug('local-folder'), { subfolder: 'again' })
  const moved = await keyless.move(id)
  assert.deepEqual([moved.status, moved.error, moved.records.accepted], ['succeeded', null, 2])
  assert.equal(entra.given, given + 1)
})

test('says which credential the application needs', async () => {
  entra.credential = { ...right, subject: 'penstock:another:one' }
  assert.match(
    await failureOf(),
    /^invalid_credentials: .*needs a federated credential with the issuer https:\/\/penstock\.example\.com, the subject penstock:[0-9a-f]{16}:[0-9a-f]{16} and the audience api:\/\/AzureADTokenExchange/,
  )
  entra.credential = { ...right, audience: 'other' }
  assert.match(await failureOf(), /^invalid_credentials: .*the audience api:/)
  entra.credential = right
  made.state.isReachable = false
  assert.match(await failureOf(), /^platform_error: .*could not reach the issuer/)
  made.state.isReachable = true
  made.state.clockAheadMs = 600_000
  assert.match(await failureOf(), /^invalid_credentials: .*has expired/)
  made.state.clockAheadMs = 0
  await caller.expect(keyless.configure(destination, { clientId: directoryId }))
  assert.match(await failureOf(), /^invalid_credentials: .*does not know the tenant or the application/)
  await caller.expect(keyless.configure(destination, { clientId }))
  entra.failure(/POST/, { status: 200, text: '<canary' })
  assert.match(await failureOf(), /^malformed_response/)
})

test('sends tokens only to storage accounts of Azure, and accepts only identifiers', async () => {
  const asked = entra.received.length
  for (const accountName of [
    'https://evil.example.com',
    'https://x.blob.core.windows.net.evil.com',
    'http://127.0.0.1:1/x',
  ]) {
    await caller.expect(keyless.configure(destination, { accountName }))
    assert.match(await failureOf(), /^invalid_address/, accountName)
  }
  assert.equal(entra.received.length, asked)
  await caller.expect(keyless.configure(destination, { accountName: account }))
  for (const name of ['directoryId', 'clientId']) {
    const { status, details } = await keyless.configure(destination, { [name]: '../common' })
    assert.deepEqual([status, details[0]?.field], [400, `body.secretConfig.${name}`])
  }
})

test("Microsoft's own library gets a token with a token of the sub-account, and with no other", async () => {
  const tokenOf = async (assertion: string): Promise<string> => {
    const credential = new ClientAssertionCredential(directoryId, clientId, async () => assertion, {
      disableInstanceDiscovery: true,
      retryOptions: { maxRetries: 0 },
      httpClient: {
        async sendRequest(request) {
          const { method, body } = request
          const answer = await fetch(request.url.replace(login, entra.url), {
            method,
            headers: request.headers.toJSON(),
            ...(body === undefined || body === null ? {} : { body: String(body) }),
          })
          const headers = new Headers(answer.headers)
          return {
            request,
            status: answer.status,
            bodyAsText: await answer.text(),
            headers: {
              get: (name: string) => headers.get(name) ?? undefined,
              has: (name: string) => headers.has(name),
              set: (name: string, value: string | number | boolean) => headers.set(name, String(value)),
              delete: (name: string) => headers.delete(name),
              toJSON: () => Object.fromEntries(headers),
              [Symbol.iterator]: () => headers[Symbol.iterator](),
            },
          }
        },
      },
    })
    return credential.getToken(scope).then(
      ({ token }) => (entra.accepts(token) ? 'accepted' : 'another'),
      ({ message }) => String(message),
    )
  }
  assert.equal(await tokenOf(await keyless.token(accountId, audience)), 'accepted')
  const another = await keyless.addAccount()
  assert.match(await tokenOf(await keyless.token(another, audience)), /AADSTS700213/)
  assert.match(await tokenOf(await keyless.token(accountId, 'sts.amazonaws.com')), /AADSTS700212/)
  const replayed = await keyless.token(accountId, audience)
  made.state.clockAheadMs = 301_000
  assert.match(await tokenOf(replayed), /AADSTS700024/)
})
