import type { DestinationContext, DestinationWriter } from '@penstock/connector'
import { textIn } from '../platform-api/json.ts'
import { eventWriter } from '../platform-api/rows/event-writer.ts'
import { batchOfRow } from './event-rows.ts'
import { openEventsApi, sendBatches } from './events-api.ts'

/** How many events mParticle takes in a request. */
export const eventsMax = 100

const refused = 'mParticle refuses the event (status 400); check its columns.'

/** Sends events. What mParticle accepts it processes later, and says nothing more of it. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const mparticle = openEventsApi(context)
  const environment = textIn(context.settings.environment) ?? 'production'
  return eventWriter(
    'mParticle',
    (batch, row) => batchOfRow(batch, row, environment),
    async (some) => {
      const bodies = some.map(({ event }) => event)
      const { accepted, bytes } = await sendBatches(mparticle, bodies)
      return accepted ? { bytes } : { bytes, refused }
    },
  )
}
