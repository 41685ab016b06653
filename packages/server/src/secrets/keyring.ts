import type { Database, Db, Transaction } from '../db/database.ts'
import type { Notices } from '../db/notices.ts'
import { currentMasterKey, holdCurrentMasterKey, insertFirstMasterKey } from './queries.ts'
import { type MasterKey, masterKey, seal, unseal } from './seal.ts'

/** What notices about master keys are called. */
export const masterKeyTopic = 'master-key'

/** The place that a master key is sealed for while it is handed on. */
export const nextKeyPlace = (keyId: string) => ['master key', keyId]

/** Processes that know a key hold this lock, shared; a rotation ends when nobody holds that of the old key any more. */
export const keyLockSql = {
  hold: `select pg_advisory_lock_shared(hashtext('penstock master key'), hashtext($1))`,
  release: `select pg_advisory_unlock_shared(hashtext('penstock master key'), hashtext($1))`,
  awaitNobody: `select pg_advisory_lock(hashtext('penstock master key'), hashtext($1))`,
}

/** The master keys that this process knows. Plain secrets exist only while it seals or opens them. */
export type Keyring = {
  /** The key that new secrets are sealed under, held in place until the transaction ends. */
  forSealing(tx: Transaction): Promise<MasterKey>
  /** The key with this identifier. Throws where this process cannot know it. */
  forOpening(db: Db, keyId: string): Promise<MasterKey>
}

/** The settings give another key than the one that the database's secrets are sealed under. */
export class MasterKeyMismatch extends Error {
  override name = 'MasterKeyMismatch'
  constructor(given: string, current: string) {
    super(
      `The master key does not fit this database: its secrets are sealed under key ${current}, the key given is ${given}. ` +
        'Set PENSTOCK_MASTER_KEY (or put back the file master.key) to the key that was used before.',
    )
  }
}

/**
 * Opens the keyring with the key of the settings. On a new database that key becomes the current one; during a rotation
 * the next key is learned from the database, sealed under the one given.
 * @throws MasterKeyMismatch where the key given opens nothing
 */
export async function openKeyring(database: Database, own: MasterKey, notices?: Notices): Promise<Keyring> {
  await insertFirstMasterKey.run(database, { keyId: own.id })
  const keys = new Map([[own.id, own]])

  const learn = (row: { keyId: string; sealedKey: Buffer | null } | undefined): MasterKey => {
    if (!row) throw new Error('The database names no current master key: its table master_keys was emptied by hand')
    const known = keys.get(row.keyId)
    if (known) return known
    for (const key of row.sealedKey ? keys.values() : []) {
      try {
        const learned = masterKey(unseal(key, nextKeyPlace(row.keyId), row.sealedKey as Buffer))
        keys.set(learned.id, learned)
        return learned
      } catch {
        // Sealed under another of our keys, or under none of them.
      }
    }
    throw new MasterKeyMismatch(own.id, row.keyId)
  }
  const keyring: Keyring = {
    forSealing: async (tx) => learn(await holdCurrentMasterKey.first(tx, {})),
    forOpening: async (db, keyId) => keys.get(keyId) ?? learn(await currentMasterKey.first(db, {})),
  }
  learn(await currentMasterKey.first(database, {}))
  if (notices) followRotations(notices, async (db) => learn(await currentMasterKey.first(db, {})))
  return keyring
}

/** Tells rotations, through a lock on the listening connection, which key this process is at. */
function followRotations(notices: Notices, current: (db: Db) => Promise<MasterKey>): void {
  let held: string | undefined
  let connection: Parameters<NonNullable<Parameters<Notices['on']>[1]['onHearing']>>[0] | undefined
  const follow = async () => {
    const client = connection
    if (!client) return
    const { id } = await current(client)
    if (id === held) return
    await client.query(keyLockSql.hold, [id])
    if (held) await client.query(keyLockSql.release, [held])
    held = id
  }
  notices.on(masterKeyTopic, {
    onNews: () => void follow().catch(() => connection?.end()),
    onDeaf: () => {
      connection = undefined
      held = undefined
    },
    onHearing: (client) => {
      connection = client
      held = undefined
      return follow()
    },
  })
}

/** Seals the next key under the current one, so that running processes can learn it. */
export const sealNextKey = (current: MasterKey, next: MasterKey): Buffer =>
  seal(current, nextKeyPlace(next.id), next.key.export())
