import type { Delivery, Json, Rejection } from '@penstock/connector'
import type { DataManager } from './data-manager.ts'
import { decide, type Item, type Taken } from './request-status.ts'

/** So many batches are held at most until it is known what became of them: after a crash they are sent again. */
const heldBatchesMax = 10
/** So many requests are asked about at most in the end: Google allows 300 requests a minute. */
const undecidedMax = 100

type Options = {
  readonly dataManager: DataManager
  /** What the requests are made of. */
  readonly item: Item
  /** How long to ask in the end, in milliseconds. */
  readonly waitMs: number
  readonly signal: AbortSignal
  /** What a writer needs to know after a crash beside the requests. */
  readonly deliveryState?: () => Readonly<Record<string, Json>>
}

/**
 * Batches whose requests Google has taken in and goes through later. What it finds then is asked for while batches are held
 * and once more at the end, for as long as the connection allows. Rows of the last batch are named where Google names them;
 * of the batches before it, it is only said how many.
 */
export class HeldRequests {
  readonly #options: Options
  #batches = 0
  #rows = 0
  #undecided: Taken[] = []
  /** Of the batch that is being delivered. */
  #taken: Taken[] = []
  #requests: string[] = []

  constructor(options: Options) {
    this.#options = options
  }

  /** A batch begins. What an attempt before it sent, and did not bring to its end, comes again with other places. */
  begin(): void {
    this.#taken = []
  }

  /** Google took in a request of the batch. */
  taken(taken: Taken): void {
    this.#taken.push(taken)
    this.#requests.push(taken.requestId)
  }

  /**
   * Says of a batch whether it is held, and what is known by now of those that were.
   * @param rows how many rows it had, and `rejected` those that are rejected already
   */
  async delivered(rows: number, rejected: readonly Rejection[]): Promise<Omit<Delivery, 'bytes'>> {
    this.#batches++
    this.#rows += rows - rejected.length
    this.#undecided = [...this.#undecided.map(({ requestId, count }) => ({ requestId, count })), ...this.#taken]
    this.#taken = []
    if (this.#batches < heldBatchesMax) return { held: true, rejected }
    const { dataManager, item, signal } = this.#options
    const decided = await decide(dataManager, this.#undecided, item, { waitMs: 0, signal })
    // What is rejected with a batch cannot be more than that has; else all is asked for again later.
    const isWithin = countOf(decided.rejected) + rejected.length <= rows
    if (isWithin) this.#undecided = decided.undecided.slice(-undecidedMax)
    return { rejected: isWithin ? [...rejected, ...decided.rejected] : rejected, ...this.#confirmed() }
  }

  /** Confirms what is held, as `flush` of a writer does. */
  async flush(): Promise<Delivery | undefined> {
    if (this.#batches === 0) return undefined
    const { dataManager, item, waitMs, signal } = this.#options
    const { rejected } = await decide(dataManager, this.#undecided, item, { waitMs, signal })
    this.#undecided = []
    const counted = within(this.#rows, rejected)
    return { bytes: 0, rejected: counted, ...this.#confirmed() }
  }

  #confirmed(): Pick<Delivery, 'deliveryState'> {
    const deliveryState = { requests: this.#requests, ...this.#options.deliveryState?.() }
    this.#requests = []
    this.#batches = 0
    this.#rows = 0
    return { deliveryState }
  }
}

const countOf = (rejections: readonly Rejection[]): number => rejections.reduce((sum, { count = 1 }) => sum + count, 0)

/** No more than so many rows: what is confirmed already cannot be rejected any more. */
function within(rows: number, rejections: readonly Rejection[]): Rejection[] {
  let left = rows
  return rejections.flatMap((rejection) => {
    const count = Math.min(left, rejection.count ?? 1)
    left -= count
    if (count === 0) return []
    return rejection.index === undefined ? [{ ...rejection, count }] : [rejection]
  })
}
