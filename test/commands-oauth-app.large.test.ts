import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { openKeyring } from '../packages/server/src/secrets/keyring.ts'
import { openOAuthApp } from '../packages/server/src/secrets/oauth-apps.ts'
import { generateMasterKey, parseMasterKey } from '../packages/server/src/secrets/seal.ts'
import { commandsOn } from './harness/commands.ts'
import { createEmptyDatabase, createTestDatabase } from './harness/database.ts'
import { prepareStage } from './harness/process.ts'

/** `penstock oauth-app`, and what other commands do with the apps. */

const clientSecret = 'canary-client-secret'

/** The app of Google in a database, opened with a key. */
async function openApp(url: string, key: string) {
  const masterKey = parseMasterKey(key)
  assert(masterKey)
  const database = openDatabase({ url, poolSize: 2 })
  try {
    const keyring = await openKeyring(database, masterKey)
    return await openOAuthApp(database, keyring, { env: 'production', slug: 'google' })
  } finally {
    await database.close()
  }
}

test('an app is registered, listed, sealed again, backed up, restored and removed', async (t) => {
  const stage = await prepareStage(t)
  const database = await createTestDatabase()
  t.after(database.drop)
  const [key, next] = [generateMasterKey(), generateMasterKey()]
  const env = {
    DATABASE_URL: database.url,
    PENSTOCK_MASTER_KEY: key,
    PENSTOCK_NEXT_MASTER_KEY: next,
    PENSTOCK_PUBLIC_URL: 'https://penstock.example.com/data',
  }
  const commands = commandsOn(stage, env)
  const secretFile = join(stage.base, 'secret')
  const set = (...args: string[]) => ['oauth-app', 'set', ...args]
  assert.match(
    await commands.fails(2, ...set('unknown', '--client-id', 'a', '--secret-file', secretFile)),
    /The platform unknown does not support apps\. Choose one of amazon-ads, dropbox, google, hubspot, linkedin-ads/,
  )
  await writeFile(secretFile, '\n')
  assert.match(
    await commands.fails(2, ...set('google', '--client-id', 'a', '--secret-file', secretFile)),
    /--secret-file must hold the client secret/,
  )
  // Standard input is empty here.
  assert.match(await commands.fails(2, ...set('google', '--client-id', 'a')), /Standard input must hold/)
  await writeFile(secretFile, `${clientSecret}\n`)
  assert.deepEqual(await commands.json(...set('google', '--client-id', 'client-1', '--secret-file', secretFile)), {
    platform: 'google',
    clientId: 'client-1',
    redirectUri: 'https://penstock.example.com/data/oauth/callback',
  })
  assert.deepEqual(await openApp(database.url, key), { clientId: 'client-1', clientSecret })

  // From standard input, instead of the earlier secret.
  const script = 'printf "%s\\n" canary-client-secret-2 | penstock oauth-app set google --client-id client-2'
  const piped = await stage.start('sh', ['-c', script], { env }).ended
  assert.equal(piped.code, 0, piped.stderr)
  assert.match(piped.stdout, /^Register this redirect URI with Google: https:\/\/penstock\.example\.com\/data\/oauth/m)
  assert.deepEqual(await openApp(database.url, key), { clientId: 'client-2', clientSecret: 'canary-client-secret-2' })
  const list = await commands.json<{ platform: string; clientId: string | null }[]>('oauth-app', 'list')
  assert.deepEqual(
    list.filter(({ clientId }) => clientId !== null).map(({ platform, clientId }) => [platform, clientId]),
    [['google', 'client-2']],
  )
  assert(list.length >= 7)

  const { resealed } = await commands.json<{ resealed: number }>('key', 'rotate')
  assert.equal(resealed, 1)
  assert.deepEqual(await openApp(database.url, next), { clientId: 'client-2', clientSecret: 'canary-client-secret-2' })

  const rotated = commandsOn(stage, { ...env, PENSTOCK_MASTER_KEY: next })
  const backup = join(stage.base, 'penstock.backup')
  await rotated.done('backup', backup)
  const restored = await createEmptyDatabase()
  t.after(restored.drop)
  await commandsOn(stage, { ...env, DATABASE_URL: restored.url, PENSTOCK_MASTER_KEY: next }).done('restore', backup)
  assert.deepEqual(await openApp(restored.url, next), { clientId: 'client-2', clientSecret: 'canary-client-secret-2' })

  assert.deepEqual(await rotated.json('oauth-app', 'remove', 'google'), { platform: 'google', removed: true })
  assert.match(await rotated.fails(1, 'oauth-app', 'remove', 'google'), /No app of google is registered/)
  assert.equal(await openApp(database.url, next), undefined)
  for (const said of [...commands.said, ...rotated.said, piped.stdout, piped.stderr]) {
    assert(!said.includes('canary'), said)
  }
})
