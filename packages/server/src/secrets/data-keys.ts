import { randomBytes } from 'node:crypto'
import type { Db, Transaction } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import type { Keyring } from './keyring.ts'
import { findDataKey, insertDataKey } from './queries.ts'
import { type MasterKey, masterKey, seal, unseal } from './seal.ts'

/** Keys that many values are sealed under, with `seal` and `unseal`; each is itself sealed under a master key. */

/** What a data key is bound to. */
export const dataKeyPlace = (id: string) => ['data key', id]

/** Makes and stores a key. */
export async function makeDataKey(tx: Transaction, keyring: Keyring): Promise<{ id: string; key: MasterKey }> {
  const id = newIdentifier()
  const bytes = randomBytes(32)
  const master = await keyring.forSealing(tx)
  await insertDataKey.run(tx, { id, keyId: master.id, sealed: seal(master, dataKeyPlace(id), bytes) })
  return { id, key: masterKey(bytes) }
}

/** Opens a key. Throws where it is gone. */
export async function openDataKey(db: Db, keyring: Keyring, id: string): Promise<MasterKey> {
  const row = await findDataKey.first(db, { id })
  if (!row) throw new Error(`The data key ${id} is gone`)
  return masterKey(unseal(await keyring.forOpening(db, row.keyId), dataKeyPlace(id), row.sealed))
}
