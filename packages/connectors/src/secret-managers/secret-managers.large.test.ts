import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import * as awsSecrets from '@aws-sdk/client-secrets-manager'
import * as sts from '@aws-sdk/client-sts'
import { SecretClient } from '@azure/keyvault-secrets'
import { SecretManagerServiceClient } from '@google-cloud/secret-manager'
import type { ConnectorError, Egress } from '@penstock/connector'
import { createEgress } from '@penstock/connector/egress'
import { OAuth2Client } from 'google-auth-library'
import vaultClient from 'node-vault'
import {
  awsOfTests,
  azureOfTests,
  startAwsSecrets,
  startAzureSecrets,
  startGoogleSecrets,
  verifyAssertion,
} from '../../test/cloud-secrets-server.ts'
import { startVault, vaultOfTests } from '../../test/vault-server.ts'
import { openManager } from './index.ts'
import type { VaultAuth } from './manager-access.ts'

/**
 * Secrets of each manager, and what goes wrong there. A client that the manager's own vendor or users wrote makes the same
 * calls to the same server, so that the server is judged, too.
 */

const folder = await mkdtemp(join(tmpdir(), 'secret-managers-'))
const closers: (() => unknown)[] = [() => rm(folder, { recursive: true })]
after(async () => {
  for (const close of closers.reverse()) await close()
})
const file = async (name: string, content: string): Promise<string> => {
  const path = join(folder, name)
  await writeFile(path, `${content}\n`)
  return path
}
function egressTo(routes: Readonly<Record<string, string>>): Egress {
  const egress = createEgress({ networkPolicy: 'any', routes })
  closers.push(egress.close)
  return egress
}
/** Code of a refusal. No message contains a secret: those of tests contain `canary`. */
async function codeOf(reading: Promise<unknown>): Promise<string> {
  const error: ConnectorError = await reading.then(
    () => assert.fail('not refused'),
    (refusal) => refusal,
  )
  assert.equal(error.name, 'ConnectorError', String(error))
  assert(!/canary/.test(error.message), error.message)
  return `${error.code}: ${error.message}`
}

describe('HashiCorp Vault', async () => {
  const vault = await startVault()
  closers.push(vault.close)
  const tokenFile = await file('vault-token', vaultOfTests.rootToken)
  const open = (auth: VaultAuth, address = vault.url) =>
    openManager({ type: 'vault', address, mount: 'secret', namespace: undefined, auth }, egressTo({}))
  const byToken = open({ method: 'token', tokenFile })
  const client = vaultClient({ endpoint: vault.url, token: vaultOfTests.rootToken })

  test('its client of Node writes and reads what the connector of secrets reads', async () => {
    await client.write('secret/data/penstock/ads', { data: { token: 'canary-1', 'a#b': 'canary-2' } })
    assert.deepEqual(JSON.parse(await byToken.read('penstock/ads')), { token: 'canary-1', 'a#b': 'canary-2' })
    assert.deepEqual((await client.read('secret/data/penstock/ads')).data.data.token, 'canary-1')
    await assert.rejects(client.read('secret/data/penstock/none'), /404/)
    await assert.rejects(client.write('auth/approle/login', { role_id: 'x', secret_id: 'y' }), /invalid role/)
  })

  test('signs in by AppRole and by Kubernetes once, and again when its token was revoked', async () => {
    vault.put('penstock/ads', { token: 'canary-1' })
    const secretIdFile = await file('secret-id', vaultOfTests.secretId)
    const jwtFile = await file('jwt', vaultOfTests.jwt)
    const byRole = open({ method: 'approle', mount: 'approle', roleId: vaultOfTests.roleId, secretIdFile })
    const byCluster = open({ method: 'kubernetes', mount: 'kubernetes', role: 'penstock', tokenFile: jwtFile })
    for (const manager of [byRole, byRole, byCluster, byCluster]) await manager.read('penstock/ads')
    assert.deepEqual(vault.signIns, ['approle', 'kubernetes'])
    vault.revokeTokens()
    await byRole.read('penstock/ads')
    assert.deepEqual(vault.signIns, ['approle', 'kubernetes', 'approle'])
    vault.forbidden.add('penstock/other')
    // A path that a policy forbids is no reason to sign in with every request.
    for (let time = 0; time < 3; time++) {
      assert.match(await codeOf(byRole.read('penstock/other')), /^secret_not_allowed: .* read penstock\/other/)
    }
    assert.equal(vault.signIns.length, 3)
  })

  test('explains a sign-in that is refused, and a file that is missing, without their content', async () => {
    const wrong = await file('wrong-id', 'canary-wrong')
    const refused = open({ method: 'approle', mount: 'approle', roleId: 'x', secretIdFile: wrong })
    assert.match(await codeOf(refused.read('penstock/ads')), /^secret_manager_unavailable: .*could not sign in/)
    const missing = open({ method: 'token', tokenFile: join(folder, 'none') })
    assert.match(await codeOf(missing.read('penstock/ads')), /^secret_manager_unavailable: .*\(ENOENT\)/)
    const empty = open({ method: 'token', tokenFile: await file('empty', '') })
    assert.match(await codeOf(empty.read('penstock/ads')), /^secret_manager_unavailable: .*is empty/)
  })

  test('tells what is not there from what is away', async () => {
    assert.match(
      await codeOf(byToken.read('penstock/none')),
      /^secret_not_found: Vault has no secret at penstock\/none/,
    )
    vault.put('penstock/deleted', { token: 'canary' })
    vault.remove('penstock/deleted')
    assert.match(await codeOf(byToken.read('penstock/deleted')), /^secret_not_found/)
    vault.isSealed = true
    assert.match(await codeOf(byToken.read('penstock/ads')), /^secret_manager_unavailable: .*is sealed/)
    vault.isSealed = false
    const failures = [
      { status: 307, headers: { location: 'http://169.254.169.254/' } },
      { status: 429, json: { errors: ['request path: canary rate limit quota exceeded'] } },
      { status: 200, text: '<html>canary</html>' },
      { status: 200, json: { data: { token: 'canary' } } },
      { status: 200, text: `{"data":{"data":"${'canary'.repeat(60_000)}"}}` },
      'reset',
    ] as const
    for (const failure of failures) {
      vault.failure(/penstock\/ads/, failure)
      assert.match(await codeOf(byToken.read('penstock/ads')), /^secret_manager_unavailable/, JSON.stringify(failure))
    }
    const away = open({ method: 'token', tokenFile }, 'http://127.0.0.1:9')
    assert.match(await codeOf(away.read('penstock/ads')), /^secret_manager_unavailable/)
    const metadata = open({ method: 'token', tokenFile }, 'http://169.254.169.254')
    assert.match(await codeOf(metadata.read('penstock/ads')), /^secret_manager_unavailable/)
  })

  test('sends its namespace', async () => {
    const own = await startVault({ namespace: 'team/data' })
    closers.push(own.close)
    own.put('penstock/ads', { token: 'canary' })
    const access = { type: 'vault', address: own.url, mount: 'secret', auth: { method: 'token', tokenFile } } as const
    const read = (namespace: string | undefined) =>
      openManager({ ...access, namespace }, egressTo({})).read('penstock/ads')
    assert.deepEqual(JSON.parse(await read('team/data')), { token: 'canary' })
    assert.match(await codeOf(read(undefined)), /^secret_not_found/)
  })
})

describe('AWS Secrets Manager', async () => {
  const region = 'eu-central-1'
  const server = await startAwsSecrets(region)
  closers.push(server.close)
  server.secrets.set('penstock/ads', '{"token":"canary-1"}')
  server.forbidden.add('penstock/other')
  const routes = {
    [`https://secretsmanager.${region}.amazonaws.com`]: server.url,
    [`https://sts.${region}.amazonaws.com`]: server.url,
  }
  const { accessKeyId, secretAccessKey, roleArn } = awsOfTests
  const keyFile = await file('aws-key', secretAccessKey)
  const access = (secretAccessKeyFile: string) =>
    ({ type: 'aws', region, auth: { method: 'access-key', accessKeyId, secretAccessKeyFile } }) as const
  const byKey = openManager(access(keyFile), egressTo(routes))

  test("reads what AWS's own client reads, and is refused in the same way", async () => {
    const own = new awsSecrets.SecretsManagerClient({
      endpoint: server.url,
      region,
      maxAttempts: 1,
      credentials: { accessKeyId, secretAccessKey },
    })
    closers.push(() => own.destroy())
    const read = (SecretId: string) => own.send(new awsSecrets.GetSecretValueCommand({ SecretId }))
    assert.equal((await read('penstock/ads')).SecretString, '{"token":"canary-1"}')
    assert.equal(await byKey.read('penstock/ads'), '{"token":"canary-1"}')
    await assert.rejects(read('penstock/none'), { name: 'ResourceNotFoundException' })
    assert.match(await codeOf(byKey.read('penstock/none')), /^secret_not_found: .* no secret penstock\/none/)
    await assert.rejects(read('penstock/other'), { name: 'AccessDeniedException' })
    assert.match(await codeOf(byKey.read('penstock/other')), /^secret_not_allowed/)
    const wrong = openManager(access(await file('wrong-key', 'canary-wrong')), egressTo(routes))
    assert.match(await codeOf(wrong.read('penstock/ads')), /^secret_manager_unavailable: .*could not sign in/)
    server.failure(/POST/, { status: 500, text: 'canary' })
    assert.match(await codeOf(byKey.read('penstock/ads')), /^secret_manager_unavailable/)
  })

  test('takes on a role with a token, as the client of the token service does, and again once it has expired', async () => {
    server.trusted.add('canary.web.identity')
    const auth = {
      method: 'web-identity',
      roleArn,
      tokenFile: await file('web-identity', 'canary.web.identity'),
    } as const
    const byRole = openManager({ type: 'aws', region, auth }, egressTo(routes))
    assert.equal(await byRole.read('penstock/ads'), '{"token":"canary-1"}')
    await byRole.read('penstock/ads')
    server.expireSessions()
    await byRole.read('penstock/ads')
    assert.deepEqual(server.sessions, ['penstock-secrets', 'penstock-secrets'])
    const own = new sts.STSClient({ endpoint: server.url, region, maxAttempts: 1 })
    closers.push(() => own.destroy())
    const assume = (WebIdentityToken: string) =>
      own.send(new sts.AssumeRoleWithWebIdentityCommand({ RoleArn: roleArn, RoleSessionName: 'own', WebIdentityToken }))
    assert.equal((await assume('canary.web.identity')).Credentials?.SessionToken, awsOfTests.session.token)
    await assert.rejects(assume('canary.other'), { name: 'InvalidIdentityTokenException' })
    const untrusted = { ...auth, tokenFile: await file('untrusted', 'canary.other') }
    const refused = openManager({ type: 'aws', region, auth: untrusted }, egressTo(routes))
    assert.match(await codeOf(refused.read('penstock/ads')), /^secret_manager_unavailable: .*does not accept the token/)
  })
})

test("Google Secret Manager: reads what Google's own client reads, and is refused in the same way", async () => {
  const server = await startGoogleSecrets()
  closers.push(server.close)
  const [secret, other, none] = ['ads', 'other', 'none'].map((name) => `projects/example/secrets/${name}`) as [
    string,
    string,
    string,
  ]
  server.secrets.set(secret, 'canary-google')
  server.forbidden.add(other)
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const email = 'penstock@example.iam.gserviceaccount.com'
  const key = {
    type: 'service_account',
    client_email: email,
    private_key: privateKey.export({ format: 'pem', type: 'pkcs8' }),
  }
  const keyFile = await file('google-key', JSON.stringify(key))
  const routes = {
    'https://secretmanager.googleapis.com': server.url,
    'https://oauth2.googleapis.com': server.url,
  }
  const access = { type: 'google', auth: { method: 'service-account', keyFile } } as const
  const manager = openManager(access, egressTo(routes))
  const { hostname, port } = new URL(server.url)
  const authClient = new OAuth2Client()
  authClient.setCredentials({ access_token: server.token })
  const own = new SecretManagerServiceClient({
    fallback: true,
    protocol: 'http',
    apiEndpoint: hostname,
    port: Number(port),
    authClient: authClient as never,
  })
  closers.push(() => own.close())
  const read = async (name: string) => String((await own.accessSecretVersion({ name }))[0].payload?.data)
  assert.equal(await read(`${secret}/versions/latest`), 'canary-google')
  assert.equal(await manager.read(secret), 'canary-google')
  const asked = server.received.find(({ path }) => path === '/token')
  const assertion = new URLSearchParams(asked?.text).get('assertion') ?? ''
  assert(await verifyAssertion(assertion, publicKey, email))
  assert.equal(await manager.read(`${secret}/versions/2`), 'canary-google')
  await assert.rejects(read(`${none}/versions/latest`), { code: 5 })
  assert.match(await codeOf(manager.read(none)), /^secret_not_found/)
  await assert.rejects(read(`${other}/versions/latest`), { code: 7 })
  assert.match(await codeOf(manager.read(other)), /^secret_not_allowed/)
  assert.match(await codeOf(manager.read(`${secret}/versions/9`)), /^secret_not_found: .*disabled or destroyed/)
  server.failure(/GET/, { status: 503, text: 'canary' })
  assert.match(await codeOf(manager.read(secret)), /^secret_manager_unavailable/)
  const broken = { ...access, auth: { ...access.auth, keyFile: await file('broken-key', '{"canary":') } }
  assert.match(await codeOf(openManager(broken, egressTo(routes)).read(secret)), /^secret_manager_unavailable/)
})

test("Azure Key Vault: reads what Azure's own client reads, and is refused in the same way", async () => {
  const server = await startAzureSecrets()
  closers.push(server.close)
  const { tenantId, clientId, clientSecret, assertion, vault } = azureOfTests
  server.secrets.set('ads', 'canary-azure')
  server.forbidden.add('other')
  const host = `https://${vault}.vault.azure.net`
  const routes = { [host]: server.url, 'https://login.microsoftonline.com': server.url }
  const of = { type: 'azure', tenantId, clientId } as const
  const clientSecretFile = await file('azure-secret', clientSecret)
  const bySecret = openManager({ ...of, auth: { method: 'client-secret', clientSecretFile } }, egressTo(routes))
  const tokenFile = await file('azure-token', assertion)
  const federated = openManager({ ...of, auth: { method: 'federated', tokenFile } }, egressTo(routes))
  const own = new SecretClient(
    host,
    { getToken: async () => ({ token: 'eyJ.canary-azure-token', expiresOnTimestamp: Date.now() + 3_600_000 }) },
    {
      retryOptions: { maxRetries: 0 },
      httpClient: {
        async sendRequest(request) {
          const url = request.url.replace(host, server.url)
          const answer = await fetch(url, { method: request.method, headers: request.headers.toJSON() })
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
              [Symbol.iterator]: () => headers[Symbol.iterator]() as never,
            },
          }
        },
      },
    },
  )
  assert.equal((await own.getSecret('ads')).value, 'canary-azure')
  assert.equal(await bySecret.read(`${vault}/ads`), 'canary-azure')
  assert.equal(await federated.read(`${vault}/ads`), 'canary-azure')
  await assert.rejects(own.getSecret('none'), { code: 'SecretNotFound' })
  assert.match(await codeOf(bySecret.read(`${vault}/none`)), /^secret_not_found/)
  await assert.rejects(own.getSecret('other'), { code: 'Forbidden' })
  assert.match(await codeOf(bySecret.read(`${vault}/other`)), /^secret_not_allowed/)
  const auth = { method: 'client-secret', clientSecretFile: await file('wrong-secret', 'canary-wrong') } as const
  const wrong = openManager({ ...of, auth }, egressTo(routes))
  assert.match(await codeOf(wrong.read(`${vault}/ads`)), /^secret_manager_unavailable: .*could not sign in/)
})
