import type { DestinationContext, DestinationWriter } from '@penstock/connector'
import { type RowEvent, readEvents } from '../platform-api/rows/events.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { consentOfSettings } from './consent.ts'
import { type Conversion, conversionOf } from './conversion-events.ts'
import { assertComplete, type ConversionPlan } from './conversion-plans.ts'
import { destinationOf, openDataManager } from './data-manager.ts'
import { HeldRequests } from './held-requests.ts'
import { sendItems } from './send-items.ts'

/**
 * Conversions are ingested as events, those of one conversion action in one request. Google takes a request as a whole or
 * not at all, goes through it later, and counts an event once that comes again under its transaction ID.
 */
export async function openConversions(context: DestinationContext, plan: ConversionPlan): Promise<DestinationWriter> {
  assertComplete(plan, context)
  const dataManager = openDataManager(context, plan)
  const sender = { dataManager, item: 'event', refusals: new Refusals('Google') } as const
  const held = new HeldRequests({ dataManager, item: 'event', waitMs: plan.waitMs, signal: context.signal })
  return {
    async deliver(batch) {
      held.begin()
      const { events, rejected } = readEvents(batch, (row) => conversionOf(row, plan))
      let bytes = 0
      for (const [action, ofAction] of Map.groupBy(events, ({ event }) => event.action)) {
        const sent = await sendItems(sender, ingestOf(plan, action), ofAction)
        bytes += sent.bytes
        for (const { of, reason } of sent.refused) rejected.push({ index: of.index, reason })
        if (sent.taken) held.taken(sent.taken)
      }
      return { bytes, ...(await held.delivered(batch.rows.length, rejected)) }
    },
    flush: () => held.flush(),
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}

function ingestOf(plan: ConversionPlan, action: string) {
  const consent = consentOfSettings(plan.consents)
  return {
    path: '/events:ingest',
    bodyOf: (conversions: readonly RowEvent<Conversion>[]) => ({
      destinations: [destinationOf(plan, action)],
      events: conversions.map(({ event }) => event.event),
      ...(consent ? { consent } : {}),
      encoding: 'HEX',
    }),
    rowsOf: ({ index }: RowEvent<Conversion>) => [index],
  }
}
