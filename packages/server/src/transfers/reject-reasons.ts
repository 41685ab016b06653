import type { MasterKey } from '../secrets/seal.ts'
import type { RejectRow } from './reject-queries.ts'
import { openText, places } from './sealed.ts'

/** In place of the reason of a record that was erased. */
const erasedReason = 'The record was erased at the request of the person.'
/** In place of a reason whose key the operator has lost. */
const lostReason = 'The reason was sealed under a key that was lost.'

/** The reason of a rejected record, or why it has none. Throws `Unreadable` if it was altered. @param key of its transfer */
export function reasonIn(
  key: MasterKey | undefined,
  transferId: string,
  { number, reasonSealed, erased }: Pick<RejectRow, 'number' | 'reasonSealed' | 'erased'>,
): string {
  if (reasonSealed) return openText(key, places.reason(transferId, number), reasonSealed)
  return erased ? erasedReason : lostReason
}
