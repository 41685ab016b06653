import type { DestinationContext, DestinationWriter } from '@penstock/connector'
import { open as openConversions } from '../meta-ads/deliver-conversions.ts'
import { textIn } from '../platform-api/json.ts'

/** Sends events through the Conversions API; rows that name no kind of place are of the app. */
export const open = (context: DestinationContext): Promise<DestinationWriter> =>
  openConversions(context, { actionSource: 'app', platform: textIn(context.settings.appPlatform) })
