import type { DestinationContext, DestinationWriter } from '@penstock/connector'
import { eventWriter } from '../platform-api/rows/event-writer.ts'
import { eventOf } from './conversion-rows.ts'
import { openConversions } from './conversions-api.ts'

/** Sends events. One that Reddit does not take sinks its request; the others are sent again, with the IDs that they had. */
export const open = async (context: DestinationContext): Promise<DestinationWriter> =>
  eventWriter('Reddit', eventOf, openConversions(context))
