import { createHmac } from 'node:crypto'
import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform } from '../platform-api/client.ts'
import { isObject, type JsonObject, listIn } from '../platform-api/json.ts'

export const offlineOrigin = 'https://offlineattrib.adsrvr.org'

/** Sends conversions of one provider; resolves with the lines that were not taken. */
export async function sendConversions(
  context: ConnectorContext,
  provider: string,
  items: readonly JsonObject[],
): Promise<{ failed: readonly JsonObject[]; bytes: number }> {
  const { advertiserSecretKey, apiToken } = context.secrets
  const client = openPlatform(context, { name: 'The Trade Desk', baseUrl: offlineOrigin, errorOf })
  // The signature is made of the very bytes that are sent.
  const body = JSON.stringify({ DataProviderId: provider, Items: items })
  const signature = createHmac('sha1', String(advertiserSecretKey ?? ''))
    .update(body)
    .digest('base64')
  const answer = await client.ask({
    path: '/providerapi/offlineconversion',
    method: 'POST',
    headers: { ttdsignature: signature, ...(apiToken === undefined ? {} : { 'ttd-auth': String(apiToken) }) },
    body,
    expects: ({ status, json }) => status === 400 && linesOf(json).length > 0,
  })
  const isEmpty = answer.text.trim() === ''
  if (!isObject(answer.json) && !isEmpty) {
    throw new ConnectorError('malformed_response', 'The Trade Desk answered with something other than its JSON.')
  }
  return { failed: linesOf(answer.json), bytes: answer.bytesSent }
}

const linesOf = (json: unknown): readonly JsonObject[] =>
  isObject(json) ? listIn(json.FailedLines).filter(isObject) : []

/** Refusals come as plain text or as JSON of more than one shape; the status is enough. */
function errorOf({ status }: Answer): ConnectorError | undefined {
  switch (status) {
    case 400: {
      const message = 'The Trade Desk refuses the conversions because of their content (status 400).'
      return new ConnectorError('invalid_batch', message)
    }
    case 401: {
      const message =
        'The Trade Desk does not accept the signature or the token; check the advertiser secret key, and the token, if there is one.'
      return new ConnectorError('invalid_credentials', message)
    }
    case 403: {
      const message =
        'The Trade Desk denies access (status 403); check the data provider ID, and ask The Trade Desk whether the provider may send offline conversions.'
      return new ConnectorError('permission_denied', message)
    }
    case 404:
      return new ConnectorError(
        'object_not_found',
        'The Trade Desk does not accept offline conversions of this provider.',
      )
    default:
      return undefined
  }
}
