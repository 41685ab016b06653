import type { Announced } from '@penstock/engine'
import type { Database } from '../../db/database.ts'
import { DataKey } from '../../secrets/data-keys.ts'
import type { Keyring } from '../../secrets/keyring.ts'
import { openJson, places } from '../sealed.ts'
import type { WorkRow } from './claim-queries.ts'
import { nameOfPart } from './queries.ts'

/** The batch that the transfer before this one may have delivered. */
export type Carried = { readonly pending: number; readonly announced: Announced }

/**
 * Opens the batch that a transfer without success announced, and that the next one repeats under the same settings; `undefined` if there is
 * no such batch, or the next transfer sends all rows again anyway.
 */
export async function openCarried(db: Database, keyring: Keyring, work: WorkRow): Promise<Carried | undefined> {
  const { carriedFrom: from, carriedPart, carriedDataKeyId, carriedSealed, unconfirmed: pending } = work
  if (from === null || pending === null) return undefined
  // Only this statement reads under the key, which was kept with the announcement.
  const key = new DataKey(keyring, carriedDataKeyId, async () => {})
  const opened = (await openJson(db, key, places.announced(from, carriedPart), carriedSealed)) as Announced | null
  if (opened?.settings === undefined && !opened?.earlier) return undefined
  const transferId = nameOfPart({ id: from, part: carriedPart, parts: carriedPart })
  const named = (announced: Announced): Announced => ({ transferId, ...announced })
  const { earlier } = opened
  return { pending, announced: { ...named(opened), first: 1, ...(earlier && { earlier: earlier.map(named) }) } }
}
