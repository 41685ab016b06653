import { type Check, type ConnectorContext, ConnectorError, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { openConversions } from './conversions-api.ts'
import { redditOrigin } from './reddit-api.ts'

/**
 * Sends a request without events, of which Reddit records nothing: the token may read nothing. Reddit refuses it as one
 * that it cannot take, once it knows the token and the pixel.
 */
export async function assertPixel(context: ConnectorContext): Promise<string> {
  if (context.settings.pixelId === undefined) return 'Nothing to be checked until a connection names a pixel.'
  await openConversions(context)([])
  return 'The token may send events to the pixel.'
}

/** The same for a pixel that is no one's: of a token that it does not know, Reddit says so first. */
async function assertToken(context: ConnectorContext): Promise<string> {
  try {
    await openConversions({ ...context, settings: { pixelId: 'a2_0' } })([])
  } catch (error) {
    const pixelErrors = ['permission_denied', 'object_not_found', 'malformed_response']
    if (!(error instanceof ConnectorError) || !pixelErrors.includes(error.code)) throw error
  }
  return 'Reddit knows the conversion access token.'
}

export const checkConversions: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${redditOrigin}/`)],
  ['authentication', assertToken],
  ['permissions', assertPixel],
)
