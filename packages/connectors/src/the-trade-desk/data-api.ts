import { createHmac } from 'node:crypto'
import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform } from '../platform-api/client.ts'
import { isObject, type JsonObject, listIn, objectIn } from '../platform-api/json.ts'

/** The data centres that take first-party data; each one hands it on to all others. */
export const dataCenters = {
  'US West': 'https://usw-data.adsrvr.org',
  'US East': 'https://use-data.adsrvr.org',
  Europe: 'https://euw-data.adsrvr.org',
  'Asia Pacific': 'https://sin-data.adsrvr.org',
  Japan: 'https://tok-data.adsrvr.org',
  China: 'https://data-cn2.adsrvr.cn',
} as const

export function originOf(dataCenter: unknown): string {
  const found = Object.entries(dataCenters).find(([name]) => name === dataCenter)
  return found?.[1] ?? dataCenters['US West']
}

/** What The Trade Desk says of one piece of data that it did not accept. */
export type FailedLine = JsonObject

/**
 * Sends identifiers and the segments that they enter or leave; resolves with those that were not taken. Of an identifier
 * and a segment the last word counts, so the same may come twice.
 */
export async function sendItems(
  context: ConnectorContext,
  items: readonly unknown[],
): Promise<{ failed: readonly FailedLine[]; bytesSent: number }> {
  const { advertiserId, advertiserSecretKey, apiToken } = context.secrets
  const body = JSON.stringify({ AdvertiserId: String(advertiserId ?? '').trim(), Items: items })
  const tradeDesk = openPlatform(context, {
    name: 'The Trade Desk',
    baseUrl: originOf(context.settings.dataCenter),
    errorOf: connectorErrorOf,
  })
  const { json, bytesSent } = await tradeDesk.ask({
    path: '/data/advertiser',
    method: 'POST',
    // The signature is made of the very bytes that are sent.
    headers: {
      ttdsignature: createHmac('sha1', String(advertiserSecretKey ?? ''))
        .update(body)
        .digest('base64'),
      ...(apiToken === undefined ? {} : { 'ttd-auth': String(apiToken) }),
    },
    body,
  })
  // Where all is taken, the answer may be empty.
  if (json !== undefined && !isObject(json)) {
    throw new ConnectorError('malformed_response', 'The Trade Desk answered with something other than its JSON.')
  }
  return { failed: listIn(objectIn(json).FailedLines).map(objectIn), bytesSent }
}

/** Refusals come as plain text or as JSON of more than one shape; the status is enough. */
function connectorErrorOf({ status }: Answer): ConnectorError | undefined {
  switch (status) {
    case 400:
      return new ConnectorError(
        'invalid_batch',
        'The Trade Desk refuses the batch because of its content (status 400).',
      )
    case 401: {
      const message =
        'The Trade Desk does not accept the signature or the token; check the advertiser ID, its secret key, and the token, if there is one.'
      return new ConnectorError('invalid_credentials', message)
    }
    case 403: {
      const message =
        'The Trade Desk denies access (status 403); ask it whether the advertiser may send first-party data and has not reached its limit.'
      return new ConnectorError('permission_denied', message)
    }
    case 404: {
      const message = 'The Trade Desk does not accept first-party data at this data center; choose another one.'
      return new ConnectorError('object_not_found', message)
    }
    default:
      return undefined
  }
}
