import type { DestinationContext, DestinationWriter } from '@penstock/connector'
import { textIn } from '../platform-api/json.ts'
import { readEvents } from '../platform-api/rows/events.ts'
import { sendInHalves } from '../platform-api/rows/halving.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { batchOfRow } from './event-rows.ts'
import { openEventsApi, sendBatches } from './events-api.ts'

/** How many events mParticle takes in a request. */
export const eventsMax = 100

const refused = 'mParticle refuses the event (status 400); check its columns.'

/** Sends events. What mParticle accepts it processes later, and says nothing more of it. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const mparticle = openEventsApi(context)
  const environment = textIn(context.settings.environment) ?? 'production'
  const refusals = new Refusals('mParticle')
  return {
    async deliver(batch) {
      const { events, rejected } = readEvents(batch, (row) => batchOfRow(batch, row, environment))
      const sent = await sendInHalves(events, refusals, async (some) => {
        const bodies = some.map(({ event }) => event)
        const { accepted, bytes } = await sendBatches(mparticle, bodies)
        return accepted ? { bytes } : { bytes, refused }
      })
      return { bytes: sent.bytes, rejected: [...rejected, ...sent.rejected] }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}
