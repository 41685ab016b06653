import type { ConnectorContext } from '@penstock/connector'
import type { Listing } from '../kit/listing-facts.ts'
import type { PlatformCall } from '../platform-api/client.ts'
import { listIn, objectIn } from '../platform-api/json.ts'

/** A request for the advertisers that the token is for. */
export const advertisersOf = ({
  secrets: { clientId, clientSecret },
}: Pick<ConnectorContext, 'secrets'>): PlatformCall => ({
  path: '/oauth2/advertiser/get/',
  query: { app_id: String(clientId ?? ''), secret: String(clientSecret ?? '') },
})

/** These advertisers, of which TikTok makes one list. */
export const advertisers: Listing = {
  kind: 'account',
  page: (_, context) => advertisersOf(context),
  found: ({ json }) =>
    listIn(objectIn(objectIn(json).data).list)
      .map(objectIn)
      .map(({ advertiser_id: id, advertiser_name: name }) => ({ id, name })),
}
