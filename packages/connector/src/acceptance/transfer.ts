import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Batch, Delivery, DestinationContext, DestinationWriter, Rejection } from '../destination.ts'
import type { Json, Row } from '../rows.ts'
import type { TestContextOptions } from './context.ts'
import { type Acceptance, contextOf } from './test-server.ts'

/** A rejected row, with its number in the transfer from 0 if that is known. */
export type Rejected = Rejection & { readonly row?: number }

/**
 * One transfer as in the engine, without a database: it stores the confirmed state, and opens writers that continue from there.
 */
export type Transfer = {
  readonly batches: readonly Batch[]
  /** Confirmed so far: the number of batches, their delivery states, and the rejected rows. */
  confirmed: number
  readonly deliveryStates: Json[]
  readonly rejected: Rejected[]
  bytes: number
  state: Json | undefined
  /** Opens a writer with the state confirmed so far. All opened writers are closed at the end. */
  open(options?: TestContextOptions): Promise<DestinationWriter>
  /**
   * Delivers the batches that this writer has not received yet, up to a batch or all, and flushes. Stores the confirmed state.
   * After a connector error it repeats the failed batch in the same writer, or continues from the confirmed state in another
   * writer. Batches that are refused as a whole are halved, as in the engine.
   */
  deliver(writer: DestinationWriter, untilBatch?: number): Promise<void>
  close(): Promise<void>
}

export function makeTransfer(
  acceptance: Acceptance & { readonly columns: readonly string[] },
  rows: readonly Row[],
  batchRows: number,
  state?: Json,
): Transfer {
  const { connector, columns } = acceptance
  const transferId = createHash('sha256').update(`${Math.random()}`).digest('hex').slice(0, 16)
  const writers: DestinationWriter[] = []
  /** The next batch of each writer, and the rejections of the batches that it holds. */
  const states = new Map<DestinationWriter, { next: number; held: Rejected[] }>()
  const transfer: Transfer = {
    batches: Array.from({ length: Math.ceil(rows.length / batchRows) }, (_, index) =>
      makeBatch(transferId, columns, rows.slice(index * batchRows, (index + 1) * batchRows), index * batchRows + 1),
    ),
    confirmed: 0,
    deliveryStates: [],
    rejected: [],
    bytes: 0,
    state,

    async open(options = {}) {
      const { deliveryStates, state } = transfer
      const context: DestinationContext = contextOf(acceptance, {
        transferId,
        columns,
        deliveryStates: asStored([...deliveryStates]),
        ...(state === undefined ? {} : { state: asStored(state) }),
        ...options,
      })
      const destination = connector.destination?.deliver
      assert.ok(destination, `${connector.slug} cannot be delivered to`)
      const { rowsMax, bytesMax } = destination.batch(context.settings)
      assert.ok(Number.isSafeInteger(rowsMax) && rowsMax > 0 && Number.isSafeInteger(bytesMax) && bytesMax > 0)
      assert.ok(batchRows <= rowsMax, `this destination takes ${rowsMax} rows at once`)
      const writer = await destination.open(context)
      writers.push(writer)
      return writer
    },

    async deliver(writer, untilBatch) {
      const state = states.get(writer) ?? { next: transfer.confirmed, held: [] }
      states.set(writer, state)
      const take = (delivery: Delivery, rejected: readonly Rejected[], upTo: number) => {
        state.held.push(...rejected)
        transfer.bytes += delivery.bytes
        if (delivery.held) return
        transfer.confirmed = upTo
        transfer.rejected.push(...state.held.splice(0))
        if (delivery.deliveryState !== undefined) transfer.deliveryStates.push(delivery.deliveryState)
        if (delivery.state !== undefined) transfer.state = delivery.state
      }
      for (; state.next < (untilBatch ?? transfer.batches.length); state.next++) {
        const batch = transfer.batches[state.next]
        assert.ok(batch)
        await deliverOrHalve(writer, batch, (delivery, part) => {
          assertDelivery(delivery, part)
          const rejected = (delivery.rejected ?? []).map((each) => numbered(each, part))
          take(delivery, rejected, state.next + 1)
        })
      }
      if (untilBatch !== undefined) return
      const flushed = await writer.flush?.()
      assert.ok(!flushed?.held, 'flush holds nothing')
      if (flushed) take(flushed, flushed.rejected ?? [], transfer.batches.length)
      assert.equal(transfer.confirmed, transfer.batches.length, 'flush confirms what is held')
    },

    async close() {
      for (const writer of writers) {
        await writer.close?.()
        await writer.close?.()
      }
    },
  }
  return transfer
}

/** Delivers a batch. If it is refused as a whole, delivers its halves, down to the row that causes the refusal. */
async function deliverOrHalve(
  writer: DestinationWriter,
  batch: Batch,
  take: (delivery: Delivery, part: Batch) => void,
): Promise<void> {
  try {
    take(await writer.deliver(batch), batch)
  } catch (error) {
    if (!(error instanceof Error && 'action' in error && error.action === 'split')) throw error
    if (batch.rows.length === 1) return take({ rejected: [{ index: 0, reason: error.message }], bytes: 0 }, batch)
    const middle = Math.ceil(batch.rows.length / 2)
    for (const [from, to] of [
      [0, middle],
      [middle, batch.rows.length],
    ] as const) {
      const half = makeBatch(batch.key, batch.columns, batch.rows.slice(from, to), batch.firstRow + from)
      await deliverOrHalve(writer, half, take)
    }
  }
}

const makeBatch = (seed: string, columns: readonly string[], rows: readonly Row[], firstRow: number): Batch => ({
  key: createHash('sha256').update(`${seed}:${firstRow}:${rows.length}`).digest('hex').slice(0, 32),
  columns,
  rows,
  firstRow,
})

/** Asserts that a delivery fits its batch. */
function assertDelivery({ rejected = [], bytes, deliveryState, state }: Delivery, { rows }: Batch): void {
  assert.ok(Number.isSafeInteger(bytes) && bytes >= 0, `${bytes} bytes`)
  for (const value of [deliveryState, state]) if (value !== undefined) assert.deepEqual(asStored(value), value)
  const indexes = rejected.flatMap(({ index }) => (index === undefined ? [] : [index]))
  assert.equal(new Set(indexes).size, indexes.length, 'a row is rejected twice')
  for (const { index, count = 1, reason } of rejected) {
    assert.ok(index === undefined || (index >= 0 && index < rows.length), `no row ${index} in the batch`)
    assert.ok(Number.isSafeInteger(count) && count > 0 && (index === undefined || count === 1))
    assert.match(reason, /\S/)
    if (index !== undefined) assertNoValue(reason, rows[index] ?? [])
  }
  assert.ok(rejectedCount(rejected) <= rows.length, 'more rows are rejected than there are')
}

/** A reason is shown to people who cannot see the row. */
function assertNoValue(reason: string, row: Row): void {
  for (const cell of row) {
    if (typeof cell === 'string' && cell.length >= 6)
      assert.ok(!reason.includes(cell), `a reason quotes a value: ${reason}`)
  }
}

export const rejectedCount = (rejected: readonly Rejection[]): number =>
  rejected.reduce((total, { count = 1 }) => total + count, 0)

const numbered = (rejection: Rejection, { firstRow }: Batch): Rejected =>
  rejection.index === undefined ? rejection : { ...rejection, row: firstRow - 1 + rejection.index }

/** As another process reads it. */
const asStored = <Value extends Json>(value: Value): Value => JSON.parse(JSON.stringify(value))
