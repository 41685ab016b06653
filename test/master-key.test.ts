import assert from 'node:assert/strict'
import { createCipheriv, randomBytes } from 'node:crypto'
import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { findSealingKeyId, openKeyring } from '../packages/server/src/secrets/keyring.ts'
import { rotateMasterKey } from '../packages/server/src/secrets/rotate.ts'
import { generateMasterKey, type MasterKey, parseMasterKey, seal, unseal } from '../packages/server/src/secrets/seal.ts'
import { openSecrets, secretPlace } from '../packages/server/src/secrets/secrets.ts'
import { createTestDatabase } from './harness/database.ts'
import { callerOf, destination, destinationSecrets, source, sourceSecrets } from './harness/fixtures.ts'
import { http, prepareStage, tokenOf } from './harness/process.ts'
import { startTestService } from './harness/service.ts'
import { withSession } from './harness/session.ts'

/** What becomes of a master key that is lost, and what a sealed value is bound to. */

function newKey(): MasterKey {
  return parseMasterKey(generateMasterKey()) ?? assert.fail()
}

describe('a master key file that is missing', () => {
  test('is not replaced where the database is in use: every command refuses, and says what to do', async (t) => {
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
  const opened = await openSecrets(database, keyring, { accountId: id, connectorId: source.id })
  assert.deepEqual(opened, { secretAccessKey: sourceSecrets.secretAccessKey })
})

/** A value as it was sealed before its format was authenticated. */
function sealInFormat1({ key }: MasterKey, place: readonly string[], value: string): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 })
  cipher.setAAD(Buffer.from(JSON.stringify(place)))
  const sealed = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(1), nonce, cipher.getAuthTag(), sealed])
}

describe('a sealed value', () => {
  const place = ['secret', 'account', 'connector', 'name']
  const says = /^Error: (A sealed value does not open|This is not a sealed value)/

  test('opens in its place, in the format that it is in, and in that of before', () => {
    const key = newKey()
    const sealed = seal(key, place, 'what it is')
    assert.equal(sealed[0], 2)
    for (const one of [sealed, sealInFormat1(key, place, 'what it is')]) {
      assert.equal(unseal(key, place, one).toString(), 'what it is')
    }
  })

  test('does not open under another key, in another place, or with any byte changed, that of its format too', () => {
    const key = newKey()
    for (const sealed of [seal(key, place, 'what it is'), sealInFormat1(key, place, 'what it is')]) {
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
      for (const format of [0, 1, 2, 3, 255].filter((other) => other !== sealed[0])) {
        assert.throws(() => unseal(key, place, Buffer.concat([Buffer.of(format), sealed.subarray(1)])), says)
      }
      assert.throws(() => unseal(key, place, sealed.subarray(0, 20)), says)
    }
  })

  test('of the format before is sealed in the present one by a rotation', async (t) => {
    const text = generateMasterKey()
    const key = parseMasterKey(text) ?? assert.fail()
    const service = await startTestService({ PENSTOCK_MASTER_KEY: text })
    t.after(service.close)
    const caller = callerOf(service, await service.addOrganization())
    const { id: accountId } = await caller.addAccountWithSides()
    await caller.configureSides(accountId)
    const { database } = service
    const row = { accountId, connectorId: destination.id, name: 'password' }
    await database.pool.query('update secrets set sealed = $1 where account_id = $2 and connector_id = $3', [
      sealInFormat1(key, secretPlace(row), destinationSecrets.password),
      accountId,
      destination.id,
    ])
    const keyring = await openKeyring(database, key)
    const open = (ring: typeof keyring) => openSecrets(database, ring, { accountId, connectorId: destination.id })
    assert.deepEqual(await open(keyring), { password: destinationSecrets.password })
    const next = newKey()
    assert.equal(await rotateMasterKey(database, keyring, next, async () => {}), 2)
    assert.deepEqual(await open(await openKeyring(database, next)), { password: destinationSecrets.password })
    const { rows } = await database.pool.query('select distinct get_byte(sealed, 0) as format from secrets')
    assert.deepEqual(rows, [{ format: 2 }])
  })
})
