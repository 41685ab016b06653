import { asConnectorError, type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform, type PlatformCall } from '../platform-api/client.ts'
import { type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import type { Taken } from '../platform-api/rows/halving.ts'
import { openSnapchatTokens } from './tokens.ts'

export const conversionsOrigin = 'https://tr.snapchat.com'

/** Snapchat's Conversions API, signed in. Everything throws connector errors. */
export type ConversionsApi = {
  /** Sends events of one pixel or app. What is wrong with an event is no error, but `refused`. */
  send(assetId: string, events: readonly JsonObject[]): Promise<Taken<never>>
  /** Asks for figures of a pixel or app, which changes nothing. */
  assertAsset(assetId: string): Promise<void>
}

/** Opens the API. The reference documents the token as a parameter of the address only, so no message may quote an address. */
export function openConversions(context: ConnectorContext): ConversionsApi {
  const tokens = openSnapchatTokens(context)
  const client = openPlatform(context, { name: 'Snapchat', baseUrl: `${conversionsOrigin}/v3`, errorOf })
  const ask = async (asked: PlatformCall) => {
    const token = await tokens.token()
    try {
      return await client.askObject({ ...asked, query: { access_token: token } })
    } catch (error) {
      // A token can end before its time.
      if (asConnectorError(error)?.action !== 'reauthenticate') throw error
      return await client.askObject({ ...asked, query: { access_token: await tokens.token(token) } })
    }
  }
  return {
    async send(assetId, events) {
      const answer = await ask({
        path: `/${encodeURIComponent(assetId)}/events`,
        method: 'POST',
        body: { data: events },
      })
      const { bytesSent: bytes } = answer
      const status = statusOf(answer)
      if (status === 'INVALID') return { bytes, refused: refusalOf(answer) }
      if (status === 'VALID' || status === 'SUCCESS') return { bytes }
      throw new ConnectorError('malformed_response', 'Snapchat did not report whether it accepted the events.')
    },
    async assertAsset(assetId) {
      await ask({ path: `/${encodeURIComponent(assetId)}/events/validate/stats` })
    },
  }
}

const statusOf = ({ json }: Pick<Answer, 'json'>): string => (textIn(objectIn(json).status) ?? '').toUpperCase()

/** Snapchat's codes say more than a sentence of ours could; its words are left out, since they quote what was sent. */
function refusalOf({ json }: Answer): string {
  const codes = listIn(objectIn(objectIn(json).errors).codes)
    .flatMap((code) => textIn(code) ?? [])
    .filter((code) => /^[\w.-]{1,60}$/.test(code))
    .slice(0, 5)
  const shown = codes.length > 0 ? ` (${codes.join(', ')})` : ''
  return `Snapchat did not accept the event${shown}; check its name, its time, the person and the value.`
}

function errorOf(answer: Answer): ConnectorError | null | undefined {
  switch (answer.status) {
    case 400:
      return statusOf(answer) === 'INVALID' ? null : new ConnectorError('request_refused', wordless)
    case 401: {
      const message =
        'Snapchat does not accept the access token; grant access again at Snapchat and save the new refresh token in the connector.'
      return new ConnectorError('invalid_credentials', message)
    }
    case 403: {
      const message =
        'Snapchat denies access to the pixel or app; check its ID, and that the member who granted access has a role on it.'
      return new ConnectorError('permission_denied', message)
    }
    case 404: {
      const message = 'Snapchat does not know the pixel or app; check the Pixel ID and the Snap App ID.'
      return new ConnectorError('object_not_found', message)
    }
    default:
      return undefined
  }
}

const wordless = 'Snapchat refused the request and named no event; check the Pixel ID and the Snap App ID.'
