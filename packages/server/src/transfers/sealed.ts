import type { Json } from '@penstock/connector'
import type { Db } from '../db/database.ts'
import type { DataKey } from '../secrets/data-keys.ts'
import { type MasterKey, type SealedPlace, seal, Unreadable, unseal, unsealJson } from '../secrets/seal.ts'

/**
 * Stored rows, and messages of platforms about them, are sealed (invariant 6): under the data key of the transfer, or
 * under the key of the connection if the next transfer needs them. Each is bound to its place.
 */
export const places = {
  // Under the key of the transfer.
  /** @param part its number */
  checkpoint: (transferId: string, part: number): SealedPlace => ['checkpoint', transferId, String(part)],
  /** @param part its number */
  announced: (transferId: string, part: number): SealedPlace => ['announced', transferId, String(part)],
  plan: (transferId: string): SealedPlace => ['plan', transferId],
  part: (transferId: string, number: number): SealedPlace => ['part', transferId, String(number)],
  deliveryState: (transferId: string, number: number): SealedPlace => ['delivery state', transferId, String(number)],
  reason: (transferId: string, number: number): SealedPlace => ['reason', transferId, String(number)],
  reject: (transferId: string, number: number): SealedPlace => ['reject', transferId, String(number)],
  edit: (transferId: string, number: number): SealedPlace => ['edit', transferId, String(number)],
  // Under the key of the connection.
  /** @param table of a connection that moves many tables */
  cursor: (connectionId: string, table: string | null = null): SealedPlace =>
    table === null ? ['cursor', connectionId] : ['cursor', connectionId, table],
  state: (connectionId: string): SealedPlace => ['state', connectionId],
  /** @param day ISO 8601 */
  audiences: (connectionId: string, day: string): SealedPlace => ['audiences', connectionId, day],
  digestKey: (connectionId: string): SealedPlace => ['digest key', connectionId],
  /** @param generation of the pages of digests */
  rowKeys: (connectionId: string, generation: string): SealedPlace => ['row keys', connectionId, generation],
}

/** Seals a value; nothing stays nothing. Throws if there is a value and no key. */
export function sealJson(key: MasterKey | undefined, place: SealedPlace, value: Json | null): Buffer | null {
  if (value === null) return null
  if (!key) throw new Error(`No key seals the ${place.join(' ')}`)
  return seal(key, place, JSON.stringify(value))
}

/**
 * Opens a value; nothing stays nothing.
 * @throws Unreadable if the value is not sealed or too deep, the key is gone, or the value was altered or moved
 */
export async function openJson(db: Db, key: DataKey, place: SealedPlace, sealed: Buffer | null): Promise<Json | null> {
  if (sealed === null) return null
  const opened = await key.open(db)
  if (!opened) throw noKey(place)
  return unsealJson(opened, place, sealed) as Json
}

/** Opens a text. Throws `Unreadable` if there is no key, or the text was altered or moved. */
export function openText(key: MasterKey | undefined, place: SealedPlace, sealed: Buffer): string {
  if (!key) throw noKey(place)
  return unseal(key, place, sealed).toString('utf8')
}

const noKey = (place: SealedPlace) => new Unreadable(`No key opens the sealed ${place.join(' ')}`)
