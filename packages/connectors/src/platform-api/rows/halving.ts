import type { Rejection } from '@penstock/connector'
import type { Refusals } from './refusals.ts'

/** What came of a request with items. What is named in neither way was taken. */
export type Taken<Item> = {
  /** Size of the request, in bytes. */
  readonly bytes: number
  /** Items that were not taken, and why; all others were. */
  readonly blamed?: readonly { readonly item: Item; readonly reason: string }[]
  /** Set where the request was refused because of what is in it, and it is not known which items are to blame. */
  readonly refused?: string
}

/**
 * Sends the items of a batch, and finds out which ones a platform does not accept. Where it does not say, they are sent again
 * in halves, unchanged, so that what was taken before does not count twice at a platform that recognizes it by an ID. The
 * engine would halve the batch as well, but makes other batch keys of the halves, and so other IDs.
 * @param refusals ends the search where everything is refused alike
 */
export async function sendInHalves<Item extends { readonly index: number }>(
  items: readonly Item[],
  refusals: Refusals,
  send: (items: readonly Item[]) => Promise<Taken<Item>>,
): Promise<{ bytes: number; rejected: Rejection[] }> {
  if (items.length === 0) return { bytes: 0, rejected: [] }
  const taken = await refusals.count(
    () => send(items),
    ({ refused }) => refused,
  )
  const { bytes, blamed = [], refused } = taken
  if (refused === undefined) {
    return { bytes, rejected: blamed.map(({ item, reason }) => ({ index: item.index, reason })) }
  }
  const [only] = items
  if (only && items.length === 1) return { bytes, rejected: [{ index: only.index, reason: refused }] }
  const middle = Math.ceil(items.length / 2)
  const first = await sendInHalves(items.slice(0, middle), refusals, send)
  const second = await sendInHalves(items.slice(middle), refusals, send)
  return { bytes: bytes + first.bytes + second.bytes, rejected: [...first.rejected, ...second.rejected] }
}
