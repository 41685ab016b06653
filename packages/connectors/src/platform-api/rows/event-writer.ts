import type { Batch, DestinationWriter } from '@penstock/connector'
import type { BatchRow } from './batch-rows.ts'
import { type Read, type RowEvent, readEvents } from './events.ts'
import { sendInHalves, type Taken } from './halving.ts'
import { Refusals } from './refusals.ts'

/**
 * A writer of events that holds nothing back: each batch is read and sent, and what the platform does not accept is found.
 * @param platform its name, for messages
 * @param read makes the event of a row
 * @param send one request with some of the events
 */
export function eventWriter<Event>(
  platform: string,
  read: (batch: Batch, row: BatchRow) => Read<Event>,
  send: (events: readonly RowEvent<Event>[]) => Promise<Taken<RowEvent<Event>>>,
): DestinationWriter {
  const refusals = new Refusals(platform)
  return {
    async deliver(batch) {
      const { events, rejected } = readEvents(batch, (row) => read(batch, row))
      const sent = await sendInHalves(events, refusals, send)
      return { bytes: sent.bytes, rejected: [...rejected, ...sent.rejected] }
    },
  }
}
