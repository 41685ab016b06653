import { randomBytes } from 'node:crypto'
import type { Db, Transaction } from '../db/database.ts'
import type { Keyring } from './keyring.ts'
import { findAuditKey, insertAuditKey } from './queries.ts'
import { seal, unseal } from './seal.ts'

/** The key that the ends of the audit logs are sealed with: one of a database, itself sealed under a master key. */

/** Place that the key is bound to. */
export const auditKeyPlace = ['audit key']

/** The 32 bytes of the key; undefined if none was made yet. Throws `Unreadable` if no known master key opens it. */
export async function openAuditKey(db: Db, keyring: Keyring): Promise<Buffer | undefined> {
  const row = await findAuditKey.first(db, {})
  return row && unseal(await keyring.forOpening(db, row.keyId), auditKeyPlace, row.sealed)
}

/** The same, made if there is none. */
export async function makeAuditKey(tx: Transaction, keyring: Keyring): Promise<Buffer> {
  const found = await openAuditKey(tx, keyring)
  if (found) return found
  const master = await keyring.forSealing(tx)
  await insertAuditKey.run(tx, { keyId: master.id, sealed: seal(master, auditKeyPlace, randomBytes(32)) })
  const made = await openAuditKey(tx, keyring)
  if (!made) throw new Error('The key of the audit log was not stored')
  return made
}
