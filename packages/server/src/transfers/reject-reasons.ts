import type { KeptFault, KeptReject } from '@penstock/engine'
import type { MasterKey } from '../secrets/seal.ts'
import type { RejectRow } from './reject-queries.ts'
import { openText, places } from './sealed.ts'

/** In place of the reason of a record that was erased. */
const erasedReason = 'The record was erased at the request of the person.'
/** In place of a reason whose key the operator has lost. */
const lostReason = 'The reason was sealed under a key that was lost.'

/** Why a record was rejected, and its further faults. */
export type Reasons = Pick<KeptReject, 'reason' | 'others'>

/** Precedes the further faults. No reason contains it, because the database could not keep it. */
const separator = '\0'

/** The reason as it is sealed, with the further faults of the record. */
export const textOfReasons = ({ reason, others }: Reasons): string =>
  others.length === 0 ? reason : `${reason}${separator}${JSON.stringify(others)}`

/** Reads what `textOfReasons` wrote. */
export function reasonsOf(text: string): Reasons {
  const at = text.indexOf(separator)
  if (at < 0) return { reason: text, others: [] }
  return { reason: text.slice(0, at), others: JSON.parse(text.slice(at + 1)) as KeptFault[] }
}

/** All reasons that `textOfReasons` wrote, as one text. */
export function everyReason(text: string): string {
  const { reason, others } = reasonsOf(text)
  return joinedReasons(reason, others)
}

/** The reason of a record and the reasons of its further faults, as one text. */
export const joinedReasons = (reason: string, others: readonly Pick<KeptFault, 'reason'>[] = []): string =>
  [reason, ...others.map((fault) => fault.reason)].join(' ')

/** The reason of a rejected record with its further faults, or why it has none. Throws `Unreadable` if it was altered. @param key of its transfer */
export function reasonsIn(
  key: MasterKey | undefined,
  transferId: string,
  { number, reasonSealed, erased }: Pick<RejectRow, 'number' | 'reasonSealed' | 'erased'>,
): Reasons {
  if (reasonSealed) return reasonsOf(openText(key, places.reason(transferId, number), reasonSealed))
  return { reason: erased ? erasedReason : lostReason, others: [] }
}
