import { type ConnectorContext, ConnectorError, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { textIn } from '../platform-api/json.ts'
import { conversionsOrigin, openConversions } from './conversions-api.ts'
import { openSnapchatTokens } from './tokens.ts'

const assetsOf = ({ settings }: ConnectorContext): string[] =>
  [settings.pixelId, settings.snapAppId].flatMap((id) => textIn(id)?.trim() || [])

async function assertAssets(context: ConnectorContext): Promise<void> {
  const api = openConversions(context)
  for (const asset of assetsOf(context)) await api.assertAsset(asset)
}

export const checkConversions = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${conversionsOrigin}/`)],
  [
    'authentication',
    async (context) => {
      await openSnapchatTokens(context).token()
      return 'Snapchat accepts the refresh token.'
    },
  ],
  [
    'permissions',
    async (context) => {
      if (assetsOf(context).length === 0) {
        return 'Nothing to check until a connection has a pixel or an app.'
      }
      await assertAssets(context)
      return 'The token may send events of the pixel or app.'
    },
  ],
)

/** Asks for the pixel and the app that a connection names. */
export async function inspectAssets(context: ConnectorContext): Promise<void> {
  if (assetsOf(context).length === 0) {
    const message = 'Events belong to a pixel or an app: fill in the Pixel ID or the Snap App ID of the connection.'
    throw new ConnectorError('invalid_setting', message)
  }
  await assertAssets(context)
}
