import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Account, Connection } from '@penstock/wire'
import { checkNames } from '../packages/server/src/cli/doctor.ts'
import { parseMasterKey } from '../packages/server/src/secrets/seal.ts'
import { type Commands, commandsOn } from './harness/commands.ts'
import { destination, destinationSettings, source, sourceSettings } from './harness/fixtures.ts'
import { type HttpCall, http, prepareStage, type Served, type Stage, tokenOf } from './harness/process.ts'
import { assertKeyOpens, saveSecrets } from './harness/saved-secrets.ts'
import { withSession } from './harness/session.ts'
import { until } from './harness/until.ts'

/** The operator's commands next to a running service, which applies each change. With the embedded PostgreSQL. */

describe('beside a running service', () => {
  let stage: Stage
  let served: Served
  let commands: Commands
  let token: string
  const finish: (() => Promise<void>)[] = []
  before(async () => {
    stage = await prepareStage({ after: (work) => void finish.push(work) })
    served = await stage.serve()
    commands = commandsOn(stage)
    token = await tokenOf(served, stage.dataDirectory)
  })
  after(async () => {
    for (const work of finish) await work()
  })

  const call = async <T>(path: string, request: HttpCall = {}): Promise<T> => {
    const { status, text, response } = await http(served.url, path, { token, ...request })
    assert(status < 300, `${path}: ${text}`)
    return response as T
  }
  const statusOf = async (path: string, as = token) => (await http(served.url, path, { token: as })).status

  test('commands use its PostgreSQL and leave it running', async () => {
    const postmaster = await stage.postmaster()
    assert(postmaster)
    assert.deepEqual(await commands.json('migrate'), { migrated: true })
    const list = await commands.json<{ name: string }[]>('org', 'list')
    assert.deepEqual(
      list.map(({ name }) => name),
      ['First organization'],
    )
    assert.equal(await commands.done('doctor').then((said) => said.match(/^ok /gm)?.length), checkNames.length)
    assert.deepEqual(await stage.postmaster(), postmaster)
    assert.equal(await statusOf('/accounts'), 200)
  })

  test('a new organization and a new client are accepted at once; a revoked client is refused within seconds', async () => {
    const made = ['org', 'create', '--name', 'Second', '--owner-email', 'second@example.com']
    const { organizationId, ...first } = await commands.json<Record<string, string>>(...made)
    assert(organizationId && first.clientId)
    const tokenOfFirst = await tokenOf(served, stage.dataDirectory, first)
    const added = await http(served.url, '/accounts', { method: 'POST', token: tokenOfFirst, body: { name: 'Theirs' } })
    assert.equal((added.response as Account).userEmail, 'second@example.com')

    const { organizationId: same, ...second } = await commands.json<Record<string, string>>(
      ...['client', 'create', '--organization', organizationId],
    )
    assert.equal(same, organizationId)
    const tokenOfSecond = await tokenOf(served, stage.dataDirectory, second)
    for (const as of [tokenOfFirst, tokenOfSecond]) {
      assert.deepEqual(
        ((await http(served.url, '/accounts', { token: as })).response as Account[]).map(({ name }) => name),
        ['Theirs'],
      )
    }

    await commands.done('client', 'revoke', first.clientId)
    await until('its token is refused', async () => (await statusOf('/accounts', tokenOfFirst)) === 401)
    const refused = await http(served.url, '/oauth/client-token', { method: 'POST', body: first })
    assert.deepEqual([refused.status, refused.error], [401, 'invalid_client'])
    assert.equal(await statusOf('/accounts', tokenOfSecond), 200, 'the other client of the organization is not')
    assert.equal(await statusOf('/accounts'), 200)
  })

  test('a deleted account is restored within 30 days, once, with what was deleted with it', async () => {
    const account = await call<Account>('/accounts', { method: 'POST', body: { name: 'Back again' } })
    const inAccount = `accountId=${account.id}`
    const connectorIds = [source.id, destination.id]
    await call(`/connectors?${inAccount}`, { method: 'POST', body: { connectorIds } })
    const connection = await call<Connection>(`/connections?${inAccount}`, {
      method: 'POST',
      body: {
        name: 'Along',
        srcConnectorId: source.id,
        destConnectorId: destination.id,
        srcConnectionConfig: sourceSettings,
        destConnectionConfig: destinationSettings,
      },
    })
    const path = `/connections/${connection.id}?${inAccount}`
    assert.match(await commands.fails(1, 'account', 'restore', account.id), /No account/, 'it is not deleted')
    await call(`/accounts/${account.id}`, { method: 'DELETE' })
    assert.deepEqual([await statusOf(`/accounts/${account.id}`), await statusOf(path)], [404, 404])

    const ageTo = (age: string) =>
      stage.databaseUrl().then((url) =>
        withSession(url, (session) =>
          session.query(
            `with gone as (update accounts set deleted_time = now() - $2::interval where id = $1)
            update connections set deleted_time = now() - $2::interval where account_id = $1`,
            [account.id, age],
          ),
        ),
      )
    await ageTo('30 days 1 second')
    assert.match(await commands.fails(1, 'account', 'restore', account.id), /within the last 30 days/)
    assert.equal(await statusOf(`/accounts/${account.id}`), 404)
    await ageTo('29 days 23 hours 50 minutes')
    assert.deepEqual(await commands.json('account', 'restore', account.id), { accountId: account.id, restored: true })
    assert.equal((await call<Connection>(path)).status, 'disabled')
    assert.equal((await call<Account>(`/accounts/${account.id}`)).connections, '1')
    assert.match(await commands.fails(1, 'account', 'restore', account.id), /No account/, 'it is back already')

    await call(`/accounts/${account.id}`, { method: 'DELETE' })
    assert.match(
      await commands.done('account', 'restore', account.id),
      new RegExp(`^Account ${account.id} is back.*\\.\n$`),
    )
    assert.equal(await statusOf(path), 200)
  })

  test('the key in the key file is replaced, the service saves under the new one at once, and the next start uses it', async () => {
    const file = join(stage.dataDirectory, 'master.key')
    const old = await readFile(file, 'utf8')
    const before = await saveSecrets(served, token)
    type Rotated = { keyId: string; resealed: number }
    const { keyId, resealed, ...rest } = await commands.json<Rotated>('key', 'rotate')
    const oldId = parseMasterKey(old)?.id
    const oldFile = join(stage.dataDirectory, `master.${oldId}.key`)
    assert.deepEqual([resealed, rest], [3, { previousKeyId: oldId, previousKeyFile: oldFile, stillSealed: 0 }])
    assert.equal(await readFile(oldFile, 'utf8'), old, 'the old key is kept, for backups')
    assert.equal((await stat(oldFile)).mode & 0o777, 0o600)
    const fresh = await readFile(file, 'utf8')
    assert.notEqual(fresh, old)
    assert.equal(parseMasterKey(fresh)?.id, keyId)
    const meanwhile = await saveSecrets(served, token)
    const url = await stage.databaseUrl()
    await assertKeyOpens(url, fresh, [before, meanwhile])
    await assert.rejects(assertKeyOpens(url, old, [before]), { name: 'MasterKeyMismatch' })

    const words = await commands.done('key', 'rotate')
    const last = await readFile(file, 'utf8')
    const freshFile = join(stage.dataDirectory, `master.${keyId}.key`)
    assert.deepEqual(words.trimEnd().split('\n'), [
      `Sealed 5 secrets under key ${parseMasterKey(last)?.id}.`,
      `The new key is in ${file}. Copy it to a safe place.`,
      `The old key ${keyId} is in ${freshFile}.`,
      'It no longer opens any value in the database.',
      'Backups made before this rotation open only with the old key: delete it when you no longer keep any of them.',
    ])
    assert.deepEqual([await readFile(oldFile, 'utf8'), await readFile(freshFile, 'utf8')], [old, fresh])
    for (const key of [old, fresh, last]) {
      for (const text of [...commands.said, served.said.stdout, served.said.stderr]) assert(!text.includes(key.trim()))
    }

    served.signal('SIGTERM')
    assert.equal((await served.ended).code, 0)
    assert.equal(await stage.postmaster(), undefined)
    assert.equal(await commands.json<unknown[]>('org', 'list').then(({ length }) => length), 2)
    assert.equal(await stage.postmaster(), undefined, 'alone, a command stops what it started')
    served = await stage.serve()
    await assertKeyOpens(await stage.databaseUrl(), last, [before, meanwhile, await saveSecrets(served, token)])
  })
})
