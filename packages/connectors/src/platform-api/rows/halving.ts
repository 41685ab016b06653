import type { Rejection } from '@penstock/connector'
import type { Refusals } from './refusals.ts'

/** The result of a request with items. Items that are neither named nor counted here were accepted. */
export type Taken<Item> = {
  /** Size of the request, in bytes. */
  readonly bytes: number
  /** Items that were not accepted, with the reason. All other items were accepted, unless the request was refused. */
  readonly blamed?: readonly { readonly item: Item; readonly reason: string; readonly field?: string }[]
  /** How many items were not taken, if the platform does not say which, and why. */
  readonly uncounted?: readonly { readonly count: number; readonly reason: string }[]
  /** Set if the request was refused because of its content, so that nothing was accepted. Items can be blamed for it. */
  readonly refused?: string
}

/** After this number of consecutive answers that refuse a request and blame some items, the request is halved instead. */
const roundsMax = 20

/**
 * Sends the items of a batch, and finds out which ones a platform does not accept. If it refuses a request and says which items
 * are to blame, the others are sent again. If it does not say, all are sent again in halves, unchanged, so that what was taken
 * before does not count twice at a platform that recognizes it by an ID. The engine would halve the batch as well, but makes
 * other batch keys of the halves, and so other IDs.
 * @param refusals ends the search if everything is refused alike
 */
export async function sendInHalves<Item extends { readonly index: number }>(
  items: readonly Item[],
  refusals: Refusals,
  send: (items: readonly Item[]) => Promise<Taken<Item>>,
  round = 1,
): Promise<{ bytes: number; rejected: Rejection[] }> {
  if (items.length === 0) return { bytes: 0, rejected: [] }
  const taken = await refusals.count(
    () => send(items),
    ({ refused, blamed = [] }) => (blamed.length > 0 && blamed.length < items.length ? undefined : refused),
  )
  const { bytes, blamed = [], uncounted = [], refused } = taken
  const named = blamed.map(({ item: { index }, reason, field }) => ({ index, reason, ...(field && { field }) }))
  if (refused === undefined) return { bytes, rejected: [...named, ...uncounted] }
  if (named.length > 0 && round < roundsMax) {
    const isNamed = new Set(blamed.map(({ item }) => item))
    const others = items.filter((item) => !isNamed.has(item))
    const sent = await sendInHalves(others, refusals, send, round + 1)
    return { bytes: bytes + sent.bytes, rejected: [...named, ...sent.rejected] }
  }
  const [only] = items
  if (only && items.length === 1) return { bytes, rejected: [{ index: only.index, reason: refused }] }
  const middle = Math.ceil(items.length / 2)
  const first = await sendInHalves(items.slice(0, middle), refusals, send)
  const second = await sendInHalves(items.slice(middle), refusals, send)
  return { bytes: bytes + first.bytes + second.bytes, rejected: [...first.rejected, ...second.rejected] }
}
