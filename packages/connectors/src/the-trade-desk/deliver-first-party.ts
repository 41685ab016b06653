import type { DestinationContext, DestinationWriter } from '@penstock/connector'
import { numberIn } from '../platform-api/json.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { sendItems } from './data-api.ts'
import { makeItems } from './segment-items.ts'

/** Segments are made by The Trade Desk itself when their name comes for the first time. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const days = numberIn(context.settings.membershipDays) ?? defaultMembershipDays
  const refusals = new Refusals('The Trade Desk')
  return {
    async deliver(batch) {
      const { items, rejected, rejectedBy } = makeItems(batch, days)
      if (items.length === 0) return { bytes: 0, rejected }
      const { failed, bytesSent } = await refusals.count(() => sendItems(context, items))
      return { bytes: bytesSent, rejected: [...rejected, ...rejectedBy(failed)] }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}

/** The defaults of The Trade Desk. */
const defaultMembershipDays = 90
