import type { DestinationContext, DestinationWriter } from '@penstock/connector'
import { eventWriter } from '../platform-api/rows/event-writer.ts'
import { eventOf } from './conversion-rows.ts'
import { openConversions } from './conversions-api.ts'

/** Sends events. Pinterest says of each whether it took it, and knows those of websites and apps again by their ID. */
export const open = async (context: DestinationContext): Promise<DestinationWriter> =>
  eventWriter('Pinterest', eventOf, openConversions(context, context.settings.testMode === true))
