import type { Database } from '../db/database.ts'
import { type Keyring, keyLockSql, masterKeyTopic, sealNextKey } from './keyring.ts'
import {
  announceMasterKey,
  deleteRetiredMasterKeys,
  dropSealedMasterKey,
  insertNextMasterKey,
  resealSecret,
  retiredMasterKeys,
  retireMasterKeys,
  secretsUnderOtherKeys,
} from './queries.ts'
import { type MasterKey, seal, unseal } from './seal.ts'
import { secretPlace } from './secrets.ts'

const batchRows = 500

/**
 * Makes `next` the master key, in steps that each can be interrupted and taken up again by running it once more with
 * the same `next`:
 * 1. `next` is stored, sealed under the current key, and becomes the current one; running processes learn it.
 * 2. Every secret is sealed again under it, while the service runs.
 * 3. `keep` puts it where the next start will read it.
 * 4. Once no process works with the old key any more, the sealed copy and the old key's name are dropped, so that the
 *    old key opens nothing from here on.
 * @returns how many secrets were sealed again
 */
export async function rotateMasterKey(
  database: Database,
  keyring: Keyring,
  next: MasterKey,
  keep: () => Promise<void>,
): Promise<number> {
  await database.transaction(async (tx) => {
    const current = await keyring.forSealing(tx)
    if (current.id === next.id) return
    await retireMasterKeys.run(tx, {})
    await insertNextMasterKey.run(tx, { keyId: next.id, sealedKey: sealNextKey(current, next) })
    await announceMasterKey.run(tx, { topic: masterKeyTopic, value: next.id })
  })
  let resealed = 0
  for (;;) {
    const batch = await resealBatch(database, keyring, next)
    if (batch === 0) break
    resealed += batch
  }
  await keep()
  await awaitOldKeysUnused(database)
  await database.transaction(async (tx) => {
    await deleteRetiredMasterKeys.run(tx, {})
    await dropSealedMasterKey.run(tx, {})
  })
  return resealed
}

function resealBatch(database: Database, keyring: Keyring, next: MasterKey): Promise<number> {
  return database.transaction(async (tx) => {
    const rows = await secretsUnderOtherKeys.all(tx, { keyId: next.id, limit: batchRows })
    for (const row of rows) {
      const place = secretPlace(row)
      const plain = unseal(await keyring.forOpening(tx, row.keyId), place, row.sealed)
      await resealSecret.run(tx, { ...row, keyId: next.id, sealed: seal(next, place, plain) })
    }
    return rows.length
  })
}

/** Waits until every process has said, by giving up its lock, that it moved on. */
async function awaitOldKeysUnused(database: Database): Promise<void> {
  const client = await database.pool.connect()
  try {
    await client.query(`set statement_timeout = '60s'`)
    for (const { keyId } of await retiredMasterKeys.all(database, {}))
      await client.query(keyLockSql.awaitNobody, [keyId])
  } catch (error) {
    throw new Error(
      'Every secret is sealed under the new key, but a running process still works with the old one. ' +
        'Restart processes that do not answer, then run the rotation again to finish it.',
      { cause: error },
    )
  } finally {
    client.release(true)
  }
}
