import type { Client } from 'pg'
import type { DatabaseUrl } from '../db/addresses.ts'
import type { Database } from '../db/database.ts'
import { openSession } from '../db/session.ts'
import { auditKeyPlace } from './audit-key.ts'
import { dataKeyPlace } from './data-keys.ts'
import { type Keyring, keyLockSql, masterKeyTopic, sealNextKey } from './keyring.ts'
import { oauthAppPlace } from './oauth-apps.ts'
import {
  announceMasterKey,
  auditKeyUnderOtherKey,
  countUnderKey,
  dataKeysUnderOtherKeys,
  deleteRetiredMasterKeys,
  dropSealedMasterKey,
  insertNextMasterKey,
  masterKeyRows,
  oauthAppsUnderOtherKeys,
  resealAuditKey,
  resealDataKey,
  resealOAuthApp,
  resealSecret,
  retireMasterKeys,
  secretsUnderOtherKeys,
} from './queries.ts'
import { type MasterKey, seal, unseal } from './seal.ts'
import { secretPlace } from './secrets.ts'

const batchRows = 500
/** Less than a statement may take, so that it is the lock that gives up. */
const awaitProcessesMs = 25_000

/**
 * Makes `next` the master key, in steps that each can be interrupted and claimed again by running it once more:
 * 1. `next` is stored, sealed under the current key, and becomes the current one; running processes learn it.
 * 2. Every secret, every data key, every app and the key of the audit log is sealed again under it, while the service runs.
 * 3. `keep` puts it where the next start will read it.
 * 4. Once no process works with the old key any more, the sealed copy and the old key's name are dropped, so that the
 *    old key opens nothing from here on.
 * Until then the old key in the settings still opens everything. Throws where another rotation is active.
 * @returns how many values were sealed again
 */
export async function rotateMasterKey(
  { database, databaseUrl }: { readonly database: Database; readonly databaseUrl: DatabaseUrl },
  keyring: Keyring,
  next: MasterKey,
  keep: () => Promise<void>,
): Promise<number> {
  // The lock of the rotation belongs to a session.
  const session = await openSession(databaseUrl, 'key rotation')
  try {
    const { rows } = await session.query(rotationLockSql)
    if (!rows[0]?.locked) throw new Error('Another rotation of the master key is running. Wait until it has ended.')
    await startRotation(database, keyring, next)
    const resealed = await resealAll(database, keyring, next)
    await keep()
    await awaitOldKeysUnused(database, session, next)
    await database.transaction(async (tx) => {
      await deleteRetiredMasterKeys.run(tx, {})
      await dropSealedMasterKey.run(tx, {})
    })
    return resealed
  } finally {
    // The end of the session would release it as well, but only once the server has noticed.
    await session.query(rotationUnlockSql).catch(() => {})
    await session.end()
  }
}

/** How many secrets, data keys, apps and keys of the audit log still need this key. */
export const countSealedUnder = async (database: Database, keyId: string): Promise<number> =>
  (await countUnderKey.first(database, { keyId }))?.sealed ?? 0

const rotationLockSql = `select pg_try_advisory_lock(hashtext('penstock master key rotation'), 0) as locked`
const rotationUnlockSql = `select pg_advisory_unlock(hashtext('penstock master key rotation'), 0)`

function startRotation(database: Database, keyring: Keyring, next: MasterKey): Promise<void> {
  return database.transaction(async (tx) => {
    const current = await keyring.forSealing(tx)
    if (current.id === next.id) return
    await retireMasterKeys.run(tx, {})
    await insertNextMasterKey.run(tx, { keyId: next.id, sealedKey: sealNextKey(current, next) })
    await announceMasterKey.run(tx, { topic: masterKeyTopic, value: next.id })
  })
}

async function resealAll(database: Database, keyring: Keyring, next: MasterKey): Promise<number> {
  let resealed = 0
  for (;;) {
    const batch = await resealBatch(database, keyring, next)
    if (batch === 0) return resealed
    resealed += batch
  }
}

function resealBatch(database: Database, keyring: Keyring, next: MasterKey): Promise<number> {
  return database.transaction(async (tx) => {
    const rows = await secretsUnderOtherKeys.all(tx, { keyId: next.id, limit: batchRows })
    for (const row of rows) {
      const place = secretPlace(row)
      const plain = unseal(await keyring.forOpening(tx, row.keyId), place, row.sealed)
      await resealSecret.run(tx, { ...row, keyId: next.id, sealed: seal(next, place, plain) })
    }
    const dataKeys = await dataKeysUnderOtherKeys.all(tx, { keyId: next.id, limit: batchRows })
    for (const row of dataKeys) {
      const place = dataKeyPlace(row.id)
      const plain = unseal(await keyring.forOpening(tx, row.keyId), place, row.sealed)
      await resealDataKey.run(tx, { id: row.id, keyId: next.id, sealed: seal(next, place, plain) })
    }
    const apps = await oauthAppsUnderOtherKeys.all(tx, { keyId: next.id, limit: batchRows })
    for (const row of apps) {
      const place = oauthAppPlace(row)
      const plain = unseal(await keyring.forOpening(tx, row.keyId), place, row.sealed)
      const { env, slug } = row
      await resealOAuthApp.run(tx, { env, slug, keyId: next.id, sealed: seal(next, place, plain) })
    }
    const auditKeys = await auditKeyUnderOtherKey.all(tx, { keyId: next.id })
    for (const row of auditKeys) {
      const plain = unseal(await keyring.forOpening(tx, row.keyId), auditKeyPlace, row.sealed)
      await resealAuditKey.run(tx, { keyId: next.id, sealed: seal(next, auditKeyPlace, plain) })
    }
    return rows.length + dataKeys.length + apps.length + auditKeys.length
  })
}

/** Waits until every process has released its lock on the old key. */
async function awaitOldKeysUnused(database: Database, session: Client, next: MasterKey): Promise<void> {
  const old = (await masterKeyRows.all(database, {})).filter(({ keyId }) => keyId !== next.id)
  try {
    await session.query(`set lock_timeout = '${awaitProcessesMs}ms'`)
    for (const { keyId } of old) await session.query(keyLockSql.awaitUnused, [keyId])
  } catch (error) {
    throw new Error(
      'Every secret is sealed under the new key, but a running process still works with the old one. ' +
        'Restart processes that do not respond, then run the rotation again to finish it.',
      { cause: error },
    )
  }
}
