import { ConnectorError } from '@penstock/connector'
import { textIn } from '../platform-api/json.ts'
import type { Refusals } from '../platform-api/rows/refusals.ts'
import type { DataManager } from './data-manager.ts'
import { blamedItems, itemRejection } from './google-errors.ts'
import type { Item, Taken } from './request-status.ts'

/** After so many answers that each blame some items, the batch is halved instead. */
const roundsMax = 20

type Sender = { readonly dataManager: DataManager; readonly refusals: Refusals; readonly item: Item }
type Asked<T> = {
  readonly path: string
  readonly bodyOf: (items: readonly T[]) => unknown
  /** The rows of the batch that an item stands for. */
  readonly rowsOf: (item: T) => readonly number[]
}
type Sent<T> = {
  readonly bytes: number
  /** What Google does not accept, and why, in a sentence. */
  readonly refused: readonly { readonly of: T; readonly reason: string }[]
  /** What it took in; absent where it takes nothing of it. */
  readonly taken: Taken | undefined
}

/**
 * Sends members or events, which Google takes as a whole or not at all: without those that it blames once more, until it
 * takes what is left.
 */
export async function sendItems<T>(
  { dataManager, refusals, item }: Sender,
  { path, bodyOf, rowsOf }: Asked<T>,
  items: readonly T[],
): Promise<Sent<T>> {
  const refused: { of: T; reason: string }[] = []
  let left = items
  let bytes = 0
  for (let round = 1; left.length > 0; round++) {
    let blamed = new Map<number, string>()
    const answer = await refusals.count(
      () =>
        dataManager.ask({
          method: 'POST',
          path,
          body: bodyOf(left),
          expects: ({ status, json }) => {
            blamed = status === 400 && round < roundsMax ? blamedItems(json, item, left.length) : new Map()
            return blamed.size > 0
          },
        }),
      () => [...blamed.values()].map((reason) => itemRejection(item, reason))[0],
    )
    bytes += answer.bytesSent
    if (blamed.size === 0) {
      const requestId = textIn(answer.json.requestId)
      if (requestId !== undefined) {
        const items = left.map((one) => ({ rows: rowsOf(one) }))
        return { bytes, refused, taken: { requestId, count: left.length, items } }
      }
      throw new ConnectorError('malformed_response', 'Google did not return the ID of the request.')
    }
    for (const [at, reason] of blamed) {
      const one = left[at]
      if (one !== undefined) refused.push({ of: one, reason: itemRejection(item, reason) })
    }
    left = left.filter((_, at) => !blamed.has(at))
  }
  return { bytes, refused, taken: undefined }
}
