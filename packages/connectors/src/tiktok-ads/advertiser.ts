import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { advertisersOf } from './advertisers.ts'

/** The advertiser that a setting names, or the only one that the token is for. */
export async function advertiserOf(context: ConnectorContext, client: PlatformClient): Promise<string> {
  const named = textIn(context.settings.advertiserId)?.trim()
  if (named) {
    if (/^\d{1,20}$/.test(named)) return named
    throw new ConnectorError('invalid_setting', 'Advertiser ID must be the number of an advertiser at TikTok.')
  }
  const { json } = await client.askObject(advertisersOf(context))
  const ids = listIn(objectIn(json.data).list).flatMap((item) => textIn(objectIn(item).advertiser_id) ?? [])
  const [only] = ids
  if (only !== undefined && ids.length === 1) return only
  const message =
    ids.length === 0
      ? 'The access token is not for an advertiser of TikTok; grant access again for the advertiser that owns the audiences.'
      : 'The access token is for several advertisers of TikTok; fill in the Advertiser ID of the connection.'
  throw new ConnectorError('invalid_setting', message)
}
