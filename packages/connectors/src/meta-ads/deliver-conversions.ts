import type { DestinationContext, DestinationWriter } from '@penstock/connector'
import { numberIn, textIn } from '../platform-api/json.ts'
import { readEvents } from '../platform-api/rows/events.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { datasetPath } from './check.ts'
import { type EventDefaults, eventOf } from './conversion-events.ts'
import { openGraph } from './graph.ts'

/**
 * Sends events. Meta takes all of a request or nothing, and keeps the first of those that have the same name and ID, so a
 * batch may come twice.
 * @param defaults what rows that name none are of
 */
export async function open(context: DestinationContext, defaults: EventDefaults = {}): Promise<DestinationWriter> {
  const graph = openGraph(context)
  const refusals = new Refusals('Meta')
  const path = `${datasetPath(context.settings.datasetId)}/events`
  const testCode = textIn(context.settings.testEventCode)?.trim()
  const common = { partner_agent: 'penstock', ...(testCode ? { test_event_code: testCode } : {}) }
  return {
    async deliver(batch) {
      const { events, rejected } = readEvents(batch, (row) => eventOf(batch, row, defaults))
      if (events.length === 0) return { bytes: 0, rejected }
      const data = events.map(({ event }) => event)
      const { json, bytesSent } = await refusals.count(() => graph.post(path, { data, ...common }))
      const count = events.length - (numberIn(json.events_received) ?? events.length)
      if (count > 0) rejected.push({ count, reason: 'Meta did not accept the events; it does not report which ones.' })
      return { bytes: bytesSent, rejected }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}
