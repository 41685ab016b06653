import type { Database, Db } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import type { Keyring } from './keyring.ts'
import {
  dropSecretLease,
  lockSecret,
  resealSecret,
  type SecretKey,
  type SecretRow,
  secretNames,
  takeSecretLease,
} from './queries.ts'
import { seal, unseal } from './seal.ts'
import { secretPlace } from './secrets.ts'

/**
 * Replacing secrets that are saved. One process at a time may replace a secret, by a lease in the database: no transaction
 * is open while a platform is asked for the new value.
 */

/** The right to replace a secret, and the value that was saved when it was given. */
export type HeldLease = { readonly secret: SecretKey; readonly id: string; readonly value: string }

/** How long the right lasts, in seconds: longer than a new value may take, and as long as a process that died keeps it. */
const leaseSeconds = 60

/**
 * Acquires the right to replace a secret: `busy` if another process has it, `missing` if no value is saved, and `reference`
 * if a secret manager has the value, which is not replaced there.
 */
export async function leaseSecret(
  db: Db,
  keyring: Keyring,
  secret: SecretKey,
): Promise<HeldLease | 'busy' | 'missing' | 'reference'> {
  const id = newIdentifier()
  const row = await takeSecretLease.first(db, { ...secret, leaseId: id, seconds: leaseSeconds })
  if (row) return { secret, id, value: await openSecret(db, keyring, secret, row) }
  const found = (await secretNames.all(db, secret)).find(({ name }) => name === secret.name)
  if (!found) return 'missing'
  return found.reference === null ? 'busy' : 'reference'
}

/** Gives the right back. */
export const releaseSecret = async (db: Db, { secret, id }: HeldLease): Promise<void> => {
  await dropSecretLease.run(db, { ...secret, leaseId: id })
}

/**
 * Saves a new value in place of the one that was read with the lease, and ends the lease.
 * @returns the value that is saved now: another one if it was changed since, and `null` if it was removed
 */
export function replaceSecret(
  database: Database,
  keyring: Keyring,
  lease: HeldLease,
  value: string,
): Promise<string | null> {
  const { secret } = lease
  return database.transaction(async (tx) => {
    // In the order in which configurations are saved: first the key, then the secrets.
    const key = await keyring.forSealing(tx)
    const row = await lockSecret.first(tx, secret)
    if (!row) return null
    await releaseSecret(tx, lease)
    // A rotation of the master key changes what is stored, and not the value.
    const saved = await openSecret(tx, keyring, secret, row)
    if (saved !== lease.value) return saved
    await resealSecret.run(tx, { ...secret, keyId: key.id, sealed: seal(key, secretPlace(secret), value) })
    return value
  })
}

const openSecret = async (
  db: Db,
  keyring: Keyring,
  secret: SecretKey,
  { keyId, sealed }: Pick<SecretRow, 'keyId' | 'sealed'>,
): Promise<string> => unseal(await keyring.forOpening(db, keyId), secretPlace(secret), sealed).toString('utf8')
