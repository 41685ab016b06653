import type { AudienceReport } from '@penstock/wire'
import { audiences as say } from '../strings/audiences.ts'
import { count, percent } from './numbers.ts'

type Measured = AudienceReport['audiences'][number]['last']

/** The size of an audience in words: a number of people, or a range. */
export function sizeOf({ low, high }: Pick<Measured, 'low' | 'high'>): string {
  if (low === null || high === null) return say.unknownSize
  return low === high ? say.people(count(low)) : say.range(count(low), count(high))
}

/** How many people the platform received and matched, in words; empty: it does not report them. */
export function matchOf({ matched, received }: Pick<Measured, 'matched' | 'received'>): string {
  if (matched === null) return received === null ? '' : say.onlyReceived(count(received))
  if (!received) return say.onlyMatched(count(matched))
  return say.matchedOf(count(matched), count(received), percent(matched / received))
}
