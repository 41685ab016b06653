import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { startVault, vaultOfTests } from '../packages/connectors/test/vault-server.ts'
import { readConfig } from '../packages/server/src/config.ts'
import { leaseSecret } from '../packages/server/src/secrets/leases.ts'
import { openSide } from '../packages/server/src/transfers/sides.ts'
import { firstConfiguration, firstSide } from './harness/configurations.ts'
import { createLink, openLink } from './harness/connect-links.ts'
import { localFolder, postgresql, postgresqlSecrets, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** Secrets that stay in HashiCorp Vault: a field refers to them, and jobs read them. */

const vault = await startVault()
const folder = await mkdtemp(join(tmpdir(), 'secret-references-'))
const managersFile = join(folder, 'managers.json')
const secretIdFile = join(folder, 'secret-id')
await writeFile(secretIdFile, vaultOfTests.secretId)
const manager = {
  type: 'vault',
  address: vault.url,
  auth: { method: 'approle', roleId: vaultOfTests.roleId, secretIdFile },
  allow: [{ prefix: 'penstock/{organizationId}/{accountId}/' }],
}
await writeFile(managersFile, JSON.stringify({ managers: { vault: manager } }))
const fixture = await startFixture({ PENSTOCK_SECRET_MANAGERS: managersFile, PENSTOCK_RETRY_SECONDS: '60' })
after(async () => {
  await fixture.close()
  await vault.close()
  await rm(folder, { recursive: true })
})
const { service, caller, accountId, target, targetUrl } = fixture
const { rows } = await service.database.pool.query('select organization_id from accounts where id = $1', [accountId])
const path = `penstock/${rows[0].organization_id}/${accountId}/database`
const reference = `secret://vault/${path}#password`
const { password, ...settings } = postgresqlSecrets(targetUrl)
const configure = (secretConfig: Record<string, string | number | null>, token?: string) =>
  caller.call('configureConnector', { accountId, id: postgresql.id, body: { secretConfig }, ...(token && { token }) })
const shown = async () => {
  const { secretConfig } = await caller.expect(
    caller.call('getConnectorConfiguration', { accountId, id: postgresql.id }),
  )
  return secretConfig[0]?.configuration.find(({ name }) => name === 'password')?.value
}
const check = () => caller.expect(caller.call('checkConnector', { accountId, id: postgresql.id }))
const opened = async (fresh: boolean) =>
  openSide(
    { ...service.service.deps, database: service.database },
    await firstSide(service.database, postgresql, accountId),
    { job: 'check', fresh },
  )
vault.put(path, { password: String(password) })
await caller.expect(configure({ ...settings, password: reference }))
await target.query('create table people (id int, name text)')
await writeFile(join(fixture.folder, 'people.csv'), 'id,name\n1,Ada\n2,Grace\n')
const connectionId = await fixture.connect(localFolder, { files: 'people.csv' }, postgresql, {
  table: 'people',
})

test('is shown as it is, is not stored as a value, and is listed', async () => {
  assert.equal(await shown(), reference)
  const { rows } = await service.database.pool.query('select reference from secrets where name = $1', ['password'])
  assert.deepEqual(rows, [{ reference }])
  const [listed] = await caller.expect(
    caller.call('listConnectorConfigurations', { accountId, query: { connectorId: postgresql.id } }),
  )
  assert.deepEqual([listed?.secrets, listed?.references], [['password'], { password: reference }])
})

test('moves data with the value of now, and the audit log names the reference and its job', async () => {
  const worker = await fixture.startWorker()
  const { id } = await fixture.start(connectionId)
  const transfer = await fixture.ended(connectionId, id)
  assert.deepEqual([transfer.status, transfer.error], ['succeeded', null])
  assert.equal((await target.query('select * from people')).rowCount, 2)
  assert.deepEqual(vault.signIns, ['approle'])
  const events = await caller.expect(caller.call('listAudit', { query: { action: 'readSecrets' } }))
  assert.deepEqual(
    events.map(({ actor, accountId, details }) => [actor.kind, accountId, details]),
    [['service', accountId, { job: 'transfer', transferId: id, references: { password: reference } }]],
  )

  // While Vault is sealed, a transfer retries.
  vault.put(path, { password: String(password), other: 'x' })
  vault.isSealed = true
  await worker.stop()
  await fixture.startWorker()
  const second = await fixture.start(connectionId)
  await until('the transfer retries', async () => {
    const { error } = await fixture.get(connectionId, second.id)
    return error?.code === 'secret_manager_unavailable'
  })
  vault.isSealed = false
  assert.equal((await fixture.ended(connectionId, second.id)).status, 'succeeded')
})

test('a check reads the newest value, a job one of the last minutes', async () => {
  assert.equal((await check()).ok, true)
  vault.put(path, { password: 'canary-rotated' })
  assert.equal((await opened(false)).secrets.password, String(password))
  assert.equal((await opened(true)).secrets.password, 'canary-rotated')
  assert.equal((await opened(false)).secrets.password, 'canary-rotated')
  vault.put(path, { password: String(password) })
  await check()
})

test('a rotated password works at once, although the old one is still in memory', async () => {
  const role = `rotated_${accountId}`
  const setPassword = async (text: string) => {
    await target.query(`alter role ${role} password '${text}'`)
    vault.put(path, { password: text })
  }
  await target.query(`create role ${role} login superuser password 'canary-one'`)
  vault.put(path, { password: 'canary-one' })
  await caller.expect(configure({ user: role }))
  assert.equal((await check()).ok, true)
  const discover = () =>
    caller.call('discoverValues', {
      accountId,
      id: postgresql.id,
      body: { field: 'table', role: 'Source', fresh: true },
    })
  await setPassword('canary-two')
  assert.equal((await discover()).status, 200)
  await fixture.startWorker()
  const move = async () => {
    const { id } = await fixture.start(connectionId)
    return fixture.ended(connectionId, id)
  }
  assert.equal((await move()).status, 'succeeded')
  await setPassword('canary-three')
  const rotated = await move()
  assert.deepEqual([rotated.status, rotated.error], ['succeeded', null])
  const log = await caller.expect(
    caller.call('listTransferLog', { accountId, id: connectionId, transferId: rotated.id }),
  )
  assert(log.some(({ text }) => text.includes('The secret is read from its secret manager again')))
  // A password that is wrong in the manager, too, is refused. A worker may still know the one before.
  await target.query(`alter role ${role} password 'canary-four'`)
  vault.put(path, { password: 'canary-wrong' })
  assert.equal((await discover()).status, 422)
  const failed = await move()
  assert.equal(failed.error?.code, 'invalid_credentials')
  assert.equal((await check()).ok, false)
  vault.put(path, { password: String(password) })
  await caller.expect(configure({ user: String(settings.user) }))
  await target.query(`drop role ${role}`)
  await caller.expect(
    caller.call('updateConnectionStatus', { accountId, id: connectionId, body: { action: 'activate' } }),
  )
  assert.equal((await check()).ok, true)
})

test('explains what is missing or away, without any value', async () => {
  const failed = async () => {
    const { ok, error, message } = await check()
    assert(!ok && !/canary/.test(message), message)
    return [error?.code, message]
  }
  vault.put(path, { other: 'canary' })
  const [code, message = ''] = await failed()
  assert.equal(code, 'secret_not_found')
  assert.match(message, new RegExp(`secret://vault/${path} has no key password`))
  vault.remove(path)
  assert.equal((await failed())[0], 'secret_not_found')
  vault.isSealed = true
  assert.equal((await failed())[0], 'secret_manager_unavailable')
  vault.isSealed = false
  vault.forbidden.add(path)
  assert.equal((await failed())[0], 'secret_not_allowed')
  vault.forbidden.delete(path)
  // A discovery and a preview are refused with the same code.
  const found = await caller.call('discoverValues', {
    accountId,
    id: postgresql.id,
    body: { field: 'table', role: 'Source' },
  })
  assert.match(found.text, /"secret_not_found"/)
  vault.put(path, { password: String(password) })
  assert.equal((await check()).ok, true)
})

test('a platform that replaces a secret does not replace a reference', async () => {
  const owner = await firstConfiguration(service.database, { accountId, connectorId: postgresql.id })
  const { keyring } = service.service.deps
  assert.equal(await leaseSecret(service.database, keyring, { ...owner, name: 'password' }), 'reference')
})

describe('saving', () => {
  const refusalOf = async (secret: string, token?: string) => {
    const { status, error, details } = await configure({ password: secret }, token)
    return [status, error, details[0]?.message ?? ''] as const
  }

  test('refuses a reference to what the sub-account may not use, and one that is not valid', async () => {
    for (const other of [
      'operator/master',
      `penstock/${accountId}/database`,
      path.replace(accountId, 'f'.repeat(16)),
    ]) {
      const [status, , message] = await refusalOf(`secret://vault/${other}#password`)
      assert.equal(status, 400)
      assert.match(message, /is not a secret that this sub-account may use: paths there must begin with penstock\//)
    }
    const [, , unknown] = await refusalOf('secret://other/any#password')
    assert.match(unknown, /is not a secret that this sub-account may use\. Ask your operator/)
    for (const wrong of [`secret://vault/${path}/../x#y`, `SECRET://vault/${path}#y`, 'secret://vault/%2e%2e#y']) {
      assert.match((await refusalOf(wrong))[2], /^must be a reference such as secret:\/\/vault\//)
    }
    assert.equal(await shown(), reference)
  })

  test('needs secrets:write, unless the reference stays', async () => {
    const client = await caller.expect(
      caller.call('createClient', { body: { name: 'Limited', scopes: ['connectors:write', 'connectors:read'] } }),
    )
    const { id: clientId, clientSecret } = client
    const { response } = await service.call('createToken', { body: { clientId, clientSecret } })
    const token = response.accessToken
    assert.equal((await configure({ password: reference }, token)).status, 200)
    assert.equal((await refusalOf(`${reference}2`, token))[0], 403)
    // Another host needs the secret again, and so the right to give it.
    assert.equal((await configure({ password: reference, host: 'db.example.com' }, token)).status, 403)
    assert.equal((await configure({ host: 'db.example.com' }, token)).status, 403)
    await caller.expect(configure({ host: 'db.example.com' }))
    await caller.expect(configure({ host: settings.host ?? '' }))
    assert.equal(await shown(), reference)
    const named = `secret://vault#password`
    const body = { secretConfig: { password: named }, secretName: path }
    await caller.expect(caller.call('configureConnector', { accountId, id: postgresql.id, body }))
    const renaming = { accountId, id: postgresql.id, body: { secretConfig: {}, secretName: `${path}2` } }
    assert.equal((await caller.call('configureConnector', { ...renaming, token })).status, 403)
    const escaping = { ...renaming, body: { secretConfig: {}, secretName: 'operator/master' } }
    assert.equal((await caller.call('configureConnector', escaping)).status, 400)
    assert.equal((await check()).ok, true)
    await caller.expect(configure({ password: reference }))
  })

  test('a connect link accepts only values', async () => {
    const link = await createLink(caller, accountId, { connectorIds: [postgresql.id] })
    const token = await openLink(service, link)
    const [status, , message] = await refusalOf(reference, token)
    assert.deepEqual([status, message.includes('a connect link does not accept references')], [400, true])
    // Nor does it lead a saved one to another server.
    const moved = await configure({ host: 'db.example.com' }, token)
    assert.deepEqual([moved.status, /must be entered again/.test(moved.text)], [400, true])
  })

  test('a value replaces a reference, and the other way round', async () => {
    await caller.expect(configure({ password: 'canary-value' }))
    assert.equal(await shown(), '********')
    await caller.expect(configure({ password: reference }))
    assert.equal(await shown(), reference)
    assert.equal((await check()).ok, true)
  })
})

test('the settings refuse what would be open to every tenant, and what is not known', async () => {
  const problemsOf = async (file: object) => {
    const path = join(folder, 'wrong.json')
    await writeFile(path, JSON.stringify(file))
    try {
      readConfig({ PENSTOCK_SECRET_MANAGERS: path })
      return []
    } catch (error) {
      return (error as Error).message.split('\n')
    }
  }
  const withAllow = (...allow: object[]) => problemsOf({ managers: { vault: { ...manager, allow } } })
  assert.deepEqual(await withAllow({ prefix: 'team/', accountId }, { prefix: 'all/{organizationId}/' }), [])
  assert.match((await withAllow({ prefix: 'team/' }))[0] ?? '', /allow\[0\]\.prefix would be open to every tenant/)
  for (const prefix of [
    '',
    'team',
    '../{accountId}/',
    '{accountId}',
    'a/{accountId}x/',
    'a/{other}/',
    'a//{accountId}/',
  ]) {
    assert.match((await withAllow({ prefix }))[0] ?? '', /allow\[0\]\.prefix must be/, prefix)
  }
  const wrong: [object, RegExp][] = [
    [{ managers: { vault: { ...manager, alow: [] } } }, /managers\.vault\.alow is not a known key/],
    [
      { managers: { vault: { ...manager, address: 'http://vault.internal:8200' } } },
      /must be an address that begins with https/,
    ],
    [{ managers: { Vault: manager } }, /"Vault" is not the name of a secret manager/],
    [{ managers: { vault: { ...manager, type: 'other' } } }, /type must be vault, aws, google, azure/],
    [{ managers: { vault: { ...manager, auth: { method: 'token', tokenFile: 'relative' } } } }, /absolute path/],
    [{ manager: {} }, /managers must be an object/],
  ]
  for (const [file, expected] of wrong) assert.match((await problemsOf(file)).join('\n'), expected)
})

test('the files of the guide are valid', async () => {
  const guide = await readFile(new URL('../docs/secret-managers.md', import.meta.url), 'utf8')
  const files = [...guide.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, file = '']) => file)
  assert.equal(files.length, 3)
  for (const file of files) {
    const path = join(folder, 'guide.json')
    await writeFile(path, file)
    assert(readConfig({ PENSTOCK_SECRET_MANAGERS: path }).secretManagers.length > 0)
  }
})
