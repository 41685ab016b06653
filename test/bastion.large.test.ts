import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { startOpenSsh } from '../packages/connectors/test/openssh-server.ts'
import { makeSshKey } from '../packages/connectors/test/ssh-keys.ts'
import { startLogicalPostgres } from './harness/logical-postgres.ts'
import { skipWithout } from './harness/programs.ts'
import { postgresql, postgresqlSecrets, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** A configuration with a bastion, through the API, a worker and its runners. */

const directory = await mkdtemp(join(tmpdir(), 'penstock-bastion-'))
after(() => rm(directory, { recursive: true, force: true }))
const [hostKey, userKey] = [makeSshKey('ed25519'), makeSshKey('ed25519')]
const fingerprint = `SHA256:${createHash('sha256')
  .update(Buffer.from(hostKey.public.split(' ')[1] ?? '', 'base64'))
  .digest('base64')
  .replace(/=+$/, '')}`
const sshd = await startOpenSsh(directory, hostKey.private, [userKey.public])
if (sshd) after(() => sshd.close())
const server = await startLogicalPostgres()
after(() => server.stop())
const pool = new pg.Pool({ connectionString: server.url, max: 2 })
pool.on('error', () => {})
after(() => pool.end())
const query = async (text: string) => (await pool.query(text)).rows
const fixture = await startFixture()
after(() => fixture.close())
const { caller, accountId } = fixture
await fixture.startWorker()

describe('a configuration with a bastion', { skip: skipWithout('sshd') }, () => {
  if (!sshd) return
  const configure = (secretConfig: Record<string, string | number | null>) =>
    caller.call('configureConnector', { accountId, id: postgresql.id, body: { secretConfig } })
  const check = () => caller.expect(caller.call('checkConnector', { accountId, id: postgresql.id }))

  test('is trusted once a person confirms its key, without its secrets', async () => {
    const { host, port, ...signIn } = postgresqlSecrets(server.url)
    await caller.expect(
      configure({
        ...signIn,
        host: host ?? '',
        port: port ?? 0,
        connectThrough: 'bastion',
        bastionHost: '127.0.0.1',
        bastionPort: sshd.port,
        bastionUser: sshd.username,
        bastionPrivateKey: userKey.private,
      }),
    )
    const { ok, checks, error } = await check()
    assert.deepEqual([ok, error?.code], [false, 'host_key_not_trusted'])
    const { suggestion } = checks.at(-1) ?? {}
    assert.deepEqual(suggestion, { field: 'bastionHostKey', value: fingerprint })
    await caller.expect(configure({ bastionHostKey: fingerprint }))
    const checked = await check()
    assert.ok(checked.ok, checked.message)
    assert.deepEqual(
      checked.checks.map(({ suggestion: none }) => none),
      [null, null, null],
    )
  })

  test('does not send saved secrets through another bastion', async () => {
    for (const change of [{ bastionHost: 'localhost' }, { bastionPort: 2222 }, { bastionHostKey: null }]) {
      const refused = await configure(change)
      assert.equal(refused.status, 400, JSON.stringify(change))
      assert.match(refused.text, /secretConfig\.password.*must be entered again/)
    }
    assert.match((await configure({ bastionHostKey: 'SHA256:short' })).text, /bastionHostKey.*must be a fingerprint/)
    const shown = await caller.call('getConnectorConfiguration', { accountId, id: postgresql.id })
    assert.doesNotMatch(shown.text, /BEGIN/)
  })

  test('transfers a table, also if the bastion is killed meanwhile, and then its changes', async () => {
    await query('create schema crm')
    await query('create table crm.people (id int primary key, name text)')
    await query(`insert into crm.people select i, repeat('x', 400) from generate_series(1, 100000) i`)
    await query('create publication penstock for table crm.people')
    await query('create table crm.copy (id int primary key, name text)')
    const source = { schema: 'crm', table: 'people', syncMode: 'Changes', publication: 'penstock', slot: 'bastion' }
    const upsert = { schema: 'crm', table: 'copy', writeMode: 'Upsert', keyColumns: 'id' }
    const connection = await fixture.connect(postgresql, source, postgresql, upsert)
    const { id } = await fixture.start(connection)
    await until('rows arrive', async () => (await query('select 1 from crm.copy limit 1')).length > 0)
    sshd.signal('SIGKILL')
    const copied = await fixture.ended(connection, id)
    assert.deepEqual([copied.status, copied.error], ['succeeded', null])
    await query(`update crm.people set name = 'changed' where id = 1`)
    await query('delete from crm.people where id = 2')
    const { id: next } = await fixture.start(connection)
    const followed = await fixture.ended(connection, next)
    assert.deepEqual([followed.status, followed.error], ['succeeded', null])
    const same = 'select count(*)::int as count, md5(string_agg(id || name, null order by id)) as digest from crm.'
    assert.deepEqual(await query(`${same}copy`), await query(`${same}people`))
    const [{ count }] = await query('select count(*)::int as count from crm.copy')
    assert.equal(count, 99_999)
  })

  test('fails with both fingerprints if the key of the bastion has changed', async () => {
    await sshd.close()
    const changedKey = makeSshKey('ed25519')
    const changed = await startOpenSsh(directory, changedKey.private, [userKey.public], { port: sshd.port })
    assert.ok(changed)
    after(() => changed.close())
    const { error, checks } = await check()
    assert.equal(error?.code, 'host_key_not_trusted')
    assert.match(error?.message ?? '', /shows the host key SHA256:.* than SHA256:.*/)
    assert.ok(error?.message.includes(fingerprint))
    assert.equal(checks.at(-1)?.suggestion, null)
  })
})
