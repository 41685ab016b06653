import { type Check, type ConnectorContext, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { hasKeys, openEventsApi, originOf, sendBatches } from './events-api.ts'

/** Whether the key and the secret are accepted. A list without a batch adds nothing, be it accepted or refused. */
export async function assertKeys(context: ConnectorContext): Promise<string> {
  await sendBatches(openEventsApi(context), [])
  return 'mParticle accepts the key and the secret.'
}

export const checkMparticle: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${originOf(context)}/`)],
  [
    'authentication',
    async (context) =>
      hasKeys(context) ? await assertKeys(context) : 'Nothing to check until there are a key and a secret.',
  ],
)
