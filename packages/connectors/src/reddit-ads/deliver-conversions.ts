import type { DestinationContext, DestinationWriter } from '@penstock/connector'
import { readEvents } from '../platform-api/rows/events.ts'
import { sendInHalves } from '../platform-api/rows/halving.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { eventOf } from './conversion-rows.ts'
import { openConversions } from './conversions-api.ts'

/** Sends events. One that Reddit does not take sinks its request; the others are sent again, with the IDs that they had. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const send = openConversions(context)
  const refusals = new Refusals('Reddit')
  return {
    async deliver(batch) {
      const { events, rejected } = readEvents(batch, (row) => eventOf(batch, row))
      const sent = await sendInHalves(events, refusals, send)
      return { bytes: sent.bytes, rejected: [...rejected, ...sent.rejected] }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}
