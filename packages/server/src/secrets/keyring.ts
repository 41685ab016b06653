import type { Db, Transaction } from '../db/database.ts'
import type { Notices } from '../db/notices.ts'
import {
  anyKeyId,
  holdCurrentMasterKey,
  insertFirstMasterKey,
  type MasterKeyRow,
  masterKeyRows,
  sealedTables,
} from './queries.ts'
import { type MasterKey, masterKey, seal, Unreadable, unseal } from './seal.ts'

/** The channel of notices about master keys. */
export const masterKeyTopic = 'master-key'

/** The place that a master key is sealed for while it is passed on. */
const nextKeyPlace = (keyId: string) => ['master key', keyId]

/** Processes that know a key hold this lock, shared; a rotation ends when no process holds the lock of the old key any more. */
export const keyLockSql = {
  hold: `select pg_advisory_lock_shared(hashtext('penstock master key'), hashtext($1))`,
  release: `select pg_advisory_unlock_shared(hashtext('penstock master key'), hashtext($1))`,
  awaitUnused: `select pg_advisory_lock(hashtext('penstock master key'), hashtext($1))`,
}

/** The master keys that this process knows. Plain secrets exist only while it seals or opens them. */
export type Keyring = {
  /** The key that new secrets are sealed under, held in place until the transaction ends. */
  forSealing(tx: Transaction): Promise<MasterKey>
  /** The key that was the current one when this process last looked: who seals under it must see that it still is. */
  latest(): MasterKey
  /** The key with this identifier. Throws if this process cannot know it. */
  forOpening(db: Db, keyId: string): Promise<MasterKey>
}

/** The key in the settings is not the one that the secrets of the database are sealed under. */
export class MasterKeyMismatch extends Unreadable {
  override name = 'MasterKeyMismatch'
  constructor(given: string, current: string) {
    super(
      `The master key does not match this database: its secrets are sealed under key ${current}, the key given is ${given}. ` +
        'Set PENSTOCK_MASTER_KEY (or restore the file master.key) to the key that was used before.',
    )
  }
}

/**
 * The identifier of the master key that values of this database are sealed under; undefined where the database is new, so
 * that any key can become its first. Needs no migrated schema.
 */
export async function findSealingKeyId(db: Db): Promise<string | undefined> {
  const tables = await sealedTables.first(db, {})
  return tables?.exist ? (await anyKeyId.first(db, {}))?.keyId : undefined
}

/**
 * Opens the keyring with the key of the settings. On a new database that key becomes the current one; during a rotation
 * the next key is learned from the database, sealed under the one given.
 * @throws MasterKeyMismatch where the key given opens nothing
 */
export async function openKeyring(database: Db, own: MasterKey, notices?: Notices): Promise<Keyring> {
  await insertFirstMasterKey.run(database, { keyId: own.id })
  return readKeyring(database, own, notices)
}

/**
 * Opens the keyring of a database that has a master key, and writes nothing.
 * @throws MasterKeyMismatch if the key opens no secret of the database, or the database is new
 */
export async function readKeyring(database: Db, own: MasterKey, notices?: Notices): Promise<Keyring> {
  const keys = new Map([[own.id, own]])
  let latest = own
  const learn = async (db: Db): Promise<MasterKey> => {
    const rows = await masterKeyRows.all(db, {})
    learnKeys(keys, rows)
    const current = rows.find((row) => row.current)
    const keyId = current?.keyId ?? (await findSealingKeyId(db)) ?? 'none'
    latest = (current && keys.get(keyId)) ?? mismatch(own.id, keyId)
    return latest
  }
  await learn(database)
  if (notices) followRotations(notices, learn)
  return {
    forSealing: async (tx) => {
      const held = (await holdCurrentMasterKey.first(tx, {})) ?? (await holdCurrentMasterKey.first(tx, {}))
      return keys.get(held?.keyId ?? '') ?? learn(tx)
    },
    latest: () => latest,
    forOpening: async (db, keyId) => {
      if (!keys.has(keyId)) await learn(db)
      return keys.get(keyId) ?? mismatch(own.id, keyId)
    },
  }
}

const mismatch = (given: string, wanted: string): never => {
  throw new MasterKeyMismatch(given, wanted)
}

/** Opens every key that is sealed under one that is known, and so on from key to key. */
function learnKeys(keys: Map<string, MasterKey>, rows: readonly MasterKeyRow[]): void {
  for (let learned = true; learned; ) {
    learned = false
    for (const { keyId, sealedKey } of rows) {
      if (keys.has(keyId) || !sealedKey) continue
      const key = [...keys.values()].map((known) => openKey(known, keyId, sealedKey)).find((opened) => opened)
      if (key) keys.set(keyId, key)
      learned ||= key !== undefined
    }
  }
}

function openKey(known: MasterKey, keyId: string, sealedKey: Buffer): MasterKey | undefined {
  try {
    return masterKey(unseal(known, nextKeyPlace(keyId), sealedKey))
  } catch {
    // Sealed under another key.
    return undefined
  }
}

/** Shows rotations, through a lock on the listening connection, which key this process uses. */
function followRotations(notices: Notices, current: (db: Db) => Promise<MasterKey>): void {
  let held: string | undefined
  let connection: Parameters<NonNullable<Parameters<Notices['on']>[1]['onReconnect']>>[0] | undefined
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
    onMessage: () => void follow().catch(() => connection?.end()),
    onDisconnect: () => {
      connection = undefined
      held = undefined
    },
    onReconnect: (client) => {
      connection = client
      held = undefined
      return follow()
    },
  })
}

/** Seals the next key under the current one, so that running processes can learn it. */
export const sealNextKey = (current: MasterKey, next: MasterKey): Buffer =>
  seal(current, nextKeyPlace(next.id), next.key.export())
