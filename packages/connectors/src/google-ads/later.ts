import {
  ConnectorError,
  type Delivery,
  type DestinationContext,
  type DestinationWriter,
  type Rejection,
} from '@penstock/connector'
import type { Later } from '../kit/later.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import type { Accounts } from './data-manager.ts'
import type { Item } from './google-errors.ts'
import { openReplacement } from './replacement.ts'
import { decide, type HeldRequest } from './request-status.ts'

/** Maximum number of batches that are held until their result is known. After a crash they are sent again. */
const heldBatchesMax = 10
/** Maximum number of requests whose status is requested at the end, since Google allows 300 requests a minute. */
const undecidedMax = 100

/**
 * Holds batches whose requests Google has accepted and processes later. It asks for the results while batches are held, and
 * once more at the end, for as long as the connection allows. Rejected rows of the last batch are named if Google names them.
 * For the batches before it, only their number is reported. With the setting for it, it replaces members in the end.
 * @param item the kind of items in the requests
 */
export function openLater(item: Item, accounts: Accounts, client: PlatformClient, context: DestinationContext): Later {
  const { settings, signal } = context
  const replacement = settings.replaceExistingAudience === true ? openReplacement(client, accounts, context) : undefined
  const waitMs = Number(settings.resultWaitSeconds ?? 0) * 1000
  let batches = 0
  let rows = 0
  let undecided: HeldRequest[] = []
  /** Of the batch that is being delivered. */
  let taken: HeldRequest[] = []
  let requests: string[] = []

  const confirmed = (): Pick<Delivery, 'deliveryState'> => {
    const deliveryState = { requests, ...replacement?.deliveryState() }
    requests = []
    batches = 0
    rows = 0
    return { deliveryState }
  }

  const writer = (inner: DestinationWriter): DestinationWriter => ({
    async deliver(batch) {
      // An unfinished attempt leaves requests whose items are sent again at other indexes.
      taken = []
      await replacement?.begin()
      const { rejected = [], ...delivery } = await inner.deliver(batch)
      batches++
      rows += batch.rows.length - rejected.length
      undecided = [...undecided.map(({ requestId, count }) => ({ requestId, count })), ...taken]
      if (batches < heldBatchesMax) return { ...delivery, held: true, rejected }
      const decided = await decide(client, undecided, item, { waitMs: 0, signal })
      // A batch cannot have more rejections than rows. If it would, all results are requested again later.
      const isWithin = countOf(decided.rejected) + rejected.length <= batch.rows.length
      if (isWithin) undecided = decided.undecided.slice(-undecidedMax)
      return { ...delivery, rejected: isWithin ? [...rejected, ...decided.rejected] : rejected, ...confirmed() }
    },
    async flush() {
      if (batches === 0) return undefined
      const { rejected } = await decide(client, undecided, item, { waitMs, signal })
      undecided = []
      return { bytes: 0, rejected: within(rows, rejected), ...confirmed() }
    },
    async finish() {
      await replacement?.finish()
    },
  })
  return {
    accepted({ json }, items, to) {
      const requestId = textIn(objectIn(json).requestId)
      if (requestId === undefined) {
        throw new ConnectorError('malformed_response', 'Google did not return the ID of the request.')
      }
      taken.push({ requestId, count: items.length, items })
      requests.push(requestId)
      if (to?.verb === 'add') replacement?.added(to.audience)
    },
    writer,
  }
}

const countOf = (rejections: readonly Rejection[]): number => rejections.reduce((sum, { count = 1 }) => sum + count, 0)

/** At most `rows` rejections, because confirmed rows can no longer be rejected. */
function within(rows: number, rejections: readonly Rejection[]): Rejection[] {
  let left = rows
  return rejections.flatMap((rejection) => {
    const count = Math.min(left, rejection.count ?? 1)
    left -= count
    if (count === 0) return []
    return rejection.index === undefined ? [{ ...rejection, count }] : [rejection]
  })
}
