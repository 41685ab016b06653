import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import type { Database, Transaction } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import { makeDataKey, openDataKey } from '../secrets/data-keys.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { seal, Unreadable, unseal } from '../secrets/seal.ts'
import {
  deleteRetiredSigningKeys,
  insertSigningKey,
  lockSigningKeys,
  publishedKeys,
  retireSigningKeys,
  type SigningKeyRow,
} from './queries.ts'

/**
 * The keys that sign identity tokens. They are sealed in the database, so every process signs with the same key. A new key is
 * published for a day before it signs, because clouds keep the published keys for hours.
 */

/** RS256 is the only algorithm that AWS, Google and Azure all accept. */
const modulusLength = 2048
/** A key is replaced after this time. */
const keptDays = 90
/** How long a key is published before it signs, and after it has signed the last token. */
const leadHours = 24
const overlapHours = 1

export type KeyDeps = { readonly database: Database; readonly keyring: Keyring }

const place = (id: string) => ['signing key', id]
const makePair = promisify(generateKeyPair)

/** The keys that are published, the newest first. One of them signs. Makes the first one, and the next one if that is due. */
export async function currentKeys(deps: KeyDeps): Promise<readonly SigningKeyRow[]> {
  const rows = await publishedKeys.all(deps.database, { keptDays })
  if (!isDue(rows)) return rows
  return addKey(deps, isDue)
}

/**
 * Adds a key.
 * @param at `later`: it signs once clouds know it, and the other keys stay valid until then. `once`: it signs from now on, and
 *   the other keys are withdrawn, because somebody may know them
 * @returns the published keys
 */
export const rotateSigningKey = (deps: KeyDeps, at: 'later' | 'once'): Promise<readonly SigningKeyRow[]> =>
  addKey(deps, () => true, at)

const isDue = ([newest]: readonly SigningKeyRow[]): boolean => newest === undefined || newest.isOld

async function addKey(
  { database, keyring }: KeyDeps,
  isWanted: (rows: readonly SigningKeyRow[]) => boolean,
  at: 'later' | 'once' = 'later',
): Promise<readonly SigningKeyRow[]> {
  const pair = await makePair('rsa', { modulusLength })
  return database.transaction(async (tx) => {
    await lockSigningKeys.run(tx, {})
    const rows = await publishedKeys.all(tx, { keptDays })
    if (!isWanted(rows)) return rows
    const hours = at === 'once' || !rows.some(({ signs }) => signs) ? 0 : leadHours
    await storeKey(tx, keyring, pair, hours, at === 'once' ? 0 : hours + overlapHours)
    await deleteRetiredSigningKeys.run(tx, {})
    return publishedKeys.all(tx, { keptDays })
  })
}

async function storeKey(
  tx: Transaction,
  keyring: Keyring,
  { privateKey, publicKey }: { readonly privateKey: KeyObject; readonly publicKey: KeyObject },
  lead: number,
  keptHours: number,
): Promise<void> {
  const id = newIdentifier()
  const { id: dataKeyId, key } = await makeDataKey(tx, keyring)
  const sealed = seal(key, place(id), privateKey.export({ format: 'der', type: 'pkcs8' }))
  const { kty, n, e } = publicKey.export({ format: 'jwk' })
  await insertSigningKey.run(tx, {
    id,
    dataKeyId,
    sealed,
    publicKey: JSON.stringify({ kty, n, e }),
    leadHours: lead,
  })
  await retireSigningKeys.run(tx, { id, keptHours })
}

/** A private key, and the identifier that its tokens name. */
export type SigningKey = { readonly id: string; readonly key: KeyObject }

/** Opens the key that signs now. */
export async function openSigningKey(
  { database, keyring }: KeyDeps,
  rows: readonly SigningKeyRow[],
): Promise<SigningKey> {
  const row = rows.find(({ signs }) => signs)
  if (!row) throw new Error('No signing key signs yet')
  const dataKey = await openDataKey(database, keyring, row.dataKeyId)
  if (!dataKey) throw new Unreadable(`The data key of the signing key ${row.id} is gone`)
  const der = unseal(dataKey, place(row.id), row.sealed)
  return { id: row.id, key: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) }
}
