import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { generateMasterKey, parseMasterKey } from '../packages/server/src/secrets/seal.ts'
import { commandsOn } from './harness/commands.ts'
import { createTestDatabase } from './harness/database.ts'
import { prepareStage, tokenOf } from './harness/process.ts'
import { assertKeyOpens, saveSecrets } from './harness/saved-secrets.ts'

/** `penstock key rotate` where the key is a setting: with a database of one's own, and with the embedded one. */

const credentials = { clientId: 'first', clientSecret: 'first-secret-of-some-length' }
const firstClient = { PENSTOCK_CLIENT_ID: credentials.clientId, PENSTOCK_CLIENT_SECRET: credentials.clientSecret }

describe('a key that is a setting', { concurrency: 2 }, () => {
  for (const [where, own] of [
    ['with DATABASE_URL', true],
    ['with the embedded PostgreSQL', false],
  ] as const) {
    test(`is rotated beside a running service, ${where}, in as many steps as it takes`, async (t) => {
      const stage = await prepareStage(t)
      const database = own ? await createTestDatabase() : undefined
      if (database) t.after(database.drop)
      const [old, next] = [generateMasterKey(), generateMasterKey()]
      const env = { ...firstClient, PENSTOCK_MASTER_KEY: old, ...(database ? { DATABASE_URL: database.url } : {}) }
      const served = await stage.serve({ env })
      const token = await tokenOf(served, stage.dataDirectory, credentials)
      const before = await saveSecrets(served, token)
      const url = database?.url ?? (await stage.databaseUrl())

      const withoutKey = commandsOn(stage, env)
      assert.match(
        await withoutKey.fails(2, 'key', 'rotate'),
        /PENSTOCK_NEXT_MASTER_KEY is needed .*openssl rand -base64 32/,
      )
      const withBadKey = commandsOn(stage, { ...env, PENSTOCK_NEXT_MASTER_KEY: 'canary-key' })
      assert.match(
        await withBadKey.fails(2, 'key', 'rotate'),
        /PENSTOCK_NEXT_MASTER_KEY must be 32 bytes .*openssl rand -base64 32/,
      )
      await assertKeyOpens(url, old, [before])

      const rotating = commandsOn(stage, { ...env, PENSTOCK_NEXT_MASTER_KEY: next })
      const keyId = parseMasterKey(next)?.id
      const previousKeyId = parseMasterKey(old)?.id
      assert.deepEqual(await rotating.json('key', 'rotate'), {
        keyId,
        resealed: 3,
        stillSealed: 0,
        previousKeyId,
        previousKeyFile: null,
      })
      const meanwhile = await saveSecrets(served, token)
      await assertKeyOpens(url, next, [before, meanwhile])
      assert.match(await rotating.fails(1, 'key', 'rotate'), /does not match this database.*Set PENSTOCK_MASTER_KEY/)
      assert.match((await rotating.run('doctor')).stdout, /^FAIL {2}master key .*Set PENSTOCK_MASTER_KEY/m)

      // The new key is set, as the command says. A second rotation to it changes nothing.
      const afterwards = { ...env, PENSTOCK_MASTER_KEY: next, PENSTOCK_NEXT_MASTER_KEY: next }
      const settled = commandsOn(stage, afterwards)
      assert.equal(
        await settled.done('key', 'rotate'),
        `Sealed 0 secrets under key ${keyId}.\nSet PENSTOCK_MASTER_KEY to the new key before you start any process again.\n`,
      )
      served.signal('SIGTERM')
      assert.equal((await served.ended).code, 0)

      const refused = await stage.penstock(['serve'], { env: { ...env, PENSTOCK_PORT: '0' } })
      assert.equal(refused.code, 1)
      assert.match(refused.stderr, /^penstock: The master key does not match this database/m)
      const again = await stage.serve({ env: afterwards })
      const all = [before, meanwhile, await saveSecrets(again, token)]
      await assertKeyOpens(database?.url ?? (await stage.databaseUrl()), next, all)

      const said = [withoutKey, withBadKey, rotating, settled].flatMap((commands) => commands.said)
      const logs = [served, again].flatMap((program) => Object.values(program.said))
      for (const text of [...said, ...logs, refused.stdout, refused.stderr]) {
        for (const secret of [old, next, 'canary-key', 'canary-s3-secret', credentials.clientSecret]) {
          assert(!text.includes(secret), text)
        }
      }
      assert(!existsSync(join(stage.dataDirectory, 'master.key')), 'what is a setting is not kept in a file')
    })
  }
})

test('a file in the place of the old key that holds another one is never overwritten, and stops the rotation', async (t) => {
  const stage = await prepareStage(t)
  const file = join(stage.dataDirectory, 'master.key')
  const served = await stage.serve()
  const token = await tokenOf(served, stage.dataDirectory)
  const accountId = await saveSecrets(served, token)
  const old = await readFile(file, 'utf8')
  const kept = join(stage.dataDirectory, `master.${parseMasterKey(old)?.id}.key`)
  await writeFile(kept, 'cut off')
  const commands = commandsOn(stage)
  assert.match(
    await commands.fails(1, 'key', 'rotate'),
    /does not hold the key \w{16}: move it away, then run this again/,
  )
  assert.deepEqual([await readFile(kept, 'utf8'), await readFile(file, 'utf8')], ['cut off', old])
  await assertKeyOpens(await stage.databaseUrl(), old, [accountId])
  await rm(kept)
  await commands.done('key', 'rotate')
  assert.equal(await readFile(kept, 'utf8'), old)
  await assertKeyOpens(await stage.databaseUrl(), await readFile(file, 'utf8'), [accountId])
})
