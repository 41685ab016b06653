import { type ConnectorContext, ConnectorError, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { textIn } from '../platform-api/json.ts'
import { tiktokOrigin } from './business-api.ts'
import { settingOf } from './deliver-events.ts'
import { track } from './events-api.ts'

/** TikTok looks at the token and the rights first and at the events last: none at all, and nothing is left behind. */
const sendNothing = (context: ConnectorContext, source: string, id: string) =>
  track(context, { event_source: source, event_source_id: id, data: [] })

export const checkEvents = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${tiktokOrigin}/`)],
  [
    'authentication',
    async (context) => {
      try {
        await sendNothing(context, 'web', textIn(context.settings.pixelCode) ?? '')
      } catch (error) {
        // A token that may not write to this pixel is a valid one; the next step is about that.
        if (!(error instanceof ConnectorError && error.code === 'permission_denied')) throw error
      }
      return 'TikTok accepts the access token.'
    },
  ],
  [
    'permissions',
    async (context) => {
      const targets = Object.entries(settingOf).map(([source, [key]]) => [source, context.settings[key]] as const)
      for (const [source, id] of targets) {
        if (id !== undefined) await sendNothing(context, source, String(id))
      }
      const named = targets.filter(([, id]) => id !== undefined).map(([source]) => source)
      if (named.length === 0) return 'Nothing to check until a connection has a pixel, an app or an event set.'
      return `The token may send events of these kinds: ${named.join(', ')}.`
    },
  ],
)
