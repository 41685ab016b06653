import type { Role } from '@penstock/wire'
import type { Db } from '../../db/database.ts'
import { recordsInDoubt } from '../ending-queries.ts'

/**
 * A transfer that ends without another attempt says how many records the destination may have beside the counted ones: those of batches that
 * were announced and not confirmed.
 */

/** A sentence about them, after a blank. Empty if there are none, or if a side ended the transfer: its error tells what it did. */
export async function sentenceOfDoubt(db: Db, id: string, side: Role | null): Promise<string> {
  if (side !== null) return ''
  const { records = 0 } = (await recordsInDoubt.first(db, { id })) ?? {}
  if (records === 0) return ''
  const [some, are] = records === 1 ? ['1 record', 'is'] : [`${records.toLocaleString('en')} records`, 'are']
  return ` The destination may also have ${some} of unanswered batches, which ${are} not counted.`
}
