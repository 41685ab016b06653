import type { Json } from '@penstock/connector'
import type { Db } from '../db/database.ts'
import type { DataKey } from '../secrets/data-keys.ts'
import { type MasterKey, type SealedPlace, seal, unseal } from '../secrets/seal.ts'

/**
 * What is kept of rows, and of what platforms say of them, is sealed (invariant 6): under the data key of the transfer,
 * or under that of the connection what the next transfer needs. Each is bound to its place.
 */
export const places = {
  // Under the key of the transfer.
  checkpoint: (transferId: string): SealedPlace => ['position', transferId],
  deliveryState: (transferId: string, number: number): SealedPlace => ['receipt', transferId, String(number)],
  reason: (transferId: string, number: number): SealedPlace => ['reason', transferId, String(number)],
  reject: (transferId: string, number: number): SealedPlace => ['reject', transferId, String(number)],
  // Under the key of the connection.
  cursor: (connectionId: string): SealedPlace => ['marker', connectionId],
  state: (connectionId: string): SealedPlace => ['memory', connectionId],
}

/** Seals a value; nothing stays nothing. Throws where there is a value and no key. */
export function sealJson(key: MasterKey | undefined, place: SealedPlace, value: Json | null): Buffer | null {
  if (value === null) return null
  if (!key) throw new Error(`No key seals the ${place.join(' ')}`)
  return seal(key, place, JSON.stringify(value))
}

/**
 * Opens a value of a row.
 * @param plain what the version before stored; where there is such a value, it is newer than the sealed one
 * @throws where the key is gone, or the value was altered or moved
 */
export async function openJson(
  db: Db,
  key: DataKey,
  place: SealedPlace,
  { sealed, plain }: { sealed: Buffer | null; plain: Json | null },
): Promise<Json | null> {
  return plain ?? (sealed && JSON.parse(openText(await key.open(db), place, sealed)))
}

/** Opens a text. Throws where there is no key, or the text was altered or moved. */
export function openText(key: MasterKey | undefined, place: SealedPlace, sealed: Buffer): string {
  if (!key) throw new Error(`No key opens the sealed ${place.join(' ')}`)
  return unseal(key, place, sealed).toString('utf8')
}
