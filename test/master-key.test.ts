import assert from 'node:assert/strict'
import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { findSealingKeyId, openKeyring } from '../packages/server/src/secrets/keyring.ts'
import { generateMasterKey, type MasterKey, parseMasterKey, seal, unseal } from '../packages/server/src/secrets/seal.ts'
import { openSecrets } from '../packages/server/src/secrets/secrets.ts'
import { firstConfiguration } from './harness/configurations.ts'
import { createTestDatabase } from './harness/database.ts'
import { callerOf, source, sourceSecrets } from './harness/fixtures.ts'
import { http, prepareStage, tokenOf } from './harness/process.ts'
import { startTestService } from './harness/service.ts'
import { withSession } from './harness/session.ts'
import { large } from './harness/tiers.ts'

/** A lost master key, and the binding of sealed values. */

function newKey(): MasterKey {
  return parseMasterKey(generateMasterKey()) ?? assert.fail()
}

describe('a master key file that is missing', () => {
  test('is not replaced where the database is in use: every command refuses, and says what to do', large, async (t) => {
    const stage = await prepareStage(t)
    const file = join(stage.dataDirectory, 'master.key')
    const served = await stage.serve()
    const token = await tokenOf(served, stage.dataDirectory)
    served.signal('SIGTERM')
    assert.equal((await served.ended).code, 0)
    await rename(file, `${file}.away`)

    for (const command of [['serve'], ['key', 'rotate']]) {
      const { code, stderr } = await stage.penstock(command, { env: { PENSTOCK_PORT: '0' } })
      assert.equal(code, 1, command.join(' '))
      assert.match(
        stderr,
        /^penstock: \S+master\.key is missing, .* sealed under its key [0-9a-f]{16}\. Restore the file from a backup, or set PENSTOCK_MASTER_KEY/m,
      )
      assert(!(await readdir(stage.dataDirectory)).includes('master.key'), 'a new key was made')
    }
    const { code, stdout } = await stage.penstock(['doctor'])
    assert.equal(code, 1)
    assert.match(stdout, /^FAIL {2}master key +\S+master\.key is missing/m)

    await rename(`${file}.away`, file)
    const again = await stage.serve()
    assert.equal((await http(again.url, '/accounts', { token })).status, 200)
  })

  test('is made for a new database, migrated or not', async (t) => {
    const database = await createTestDatabase()
    t.after(database.drop)
    const service = await startTestService()
    t.after(service.close)
    assert.match((await findSealingKeyId(service.database)) ?? '', /^[0-9a-f]{16}$/)
    await withSession(database.url, async (session) => {
      assert.equal(await findSealingKeyId(session), undefined)
      await session.query('drop schema public cascade; create schema public')
      assert.equal(await findSealingKeyId(session), undefined)
    })
  })
})

test('no other key becomes the first one while values are sealed under it', async (t) => {
  const [first, other] = [generateMasterKey(), newKey()]
  const service = await startTestService({ PENSTOCK_MASTER_KEY: first })
  t.after(service.close)
  const caller = callerOf(service, await service.addOrganization())
  const { id } = await caller.addAccountWithSides()
  await caller.configureSides(id)
  const { database } = service
  await database.pool.query('delete from master_keys')
  const key = parseMasterKey(first) ?? assert.fail()
  await assert.rejects(openKeyring(database, other), { name: 'MasterKeyMismatch', message: new RegExp(key.id) })
  assert.equal((await database.pool.query('select from master_keys')).rowCount, 0)
  const keyring = await openKeyring(database, key)
  const opened = await openSecrets(
    database,
    keyring,
    await firstConfiguration(database, { accountId: id, connectorId: source.id }),
  )
  assert.deepEqual(opened, { secretAccessKey: sourceSecrets.secretAccessKey })
})

describe('a sealed value', () => {
  const place = ['secret', 'account', 'connector', 'name']
  const says = /^Error: (A sealed value does not open|This is not a sealed value)/

  test('opens in its place', () => {
    const key = newKey()
    assert.equal(unseal(key, place, seal(key, place, 'what it is')).toString(), 'what it is')
  })

  test('does not open under another key, in another place, or with any byte changed, including that of its format', () => {
    const key = newKey()
    const sealed = seal(key, place, 'what it is')
    assert.throws(() => unseal(newKey(), place, sealed), says)
    assert.throws(() => unseal(key, ['secret', 'account', 'connector', 'other'], sealed), says)
    assert.throws(() => unseal(key, place.slice(1), sealed), says)
    for (let at = 0; at < sealed.length; at++) {
      for (const bit of [1, 2, 128]) {
        const altered = Buffer.from(sealed)
        altered[at] = (altered[at] ?? 0) ^ bit
        assert.throws(() => unseal(key, place, altered), says, `byte ${at}`)
      }
    }
    assert.throws(() => unseal(key, place, sealed.subarray(0, 20)), says)
  })
})
