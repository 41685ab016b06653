import { checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { insightOrigin } from './deliver-realtime.ts'

/** The Trade Desk takes conversions by the IDs that they name, and offers nothing that could be asked without sending one. */
export const checkRealTime = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${insightOrigin}/`)],
  [
    'authentication',
    async () => 'The Trade Desk can only check the token and the IDs with a conversion; none was sent.',
  ],
)
