import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { errorOf } from '../kit/run/open-api.ts'
import { type Credentials, openPlatform } from '../platform-api/client.ts'
import { isObject, type JsonObject, textIn } from '../platform-api/json.ts'
import { openTokens } from '../platform-api/oauth.ts'
import { shopifyApi, shopifyVersion, tokenHeader } from './api.ts'
import { requireShop } from './shop.ts'

const undoMs = 3_000

/** The answer to a document of GraphQL. */
export type ShopifyAnswer = {
  readonly data: JsonObject
  readonly bytesSent: number
  /** How far the clock of Shopify is ahead of ours, in milliseconds. */
  readonly aheadMs: number
  /** The version that Shopify answered with. `undefined` if it does not report one. */
  readonly version: string | undefined
}

/** The API of one shop within one job. */
export type Shopify = {
  /** Such as `acme.myshopify.com`. */
  readonly shop: string
  readonly signal: AbortSignal
  /**
   * Sends a GraphQL document. Throws an error for the errors of the answer, and `malformed_response` if it contains no data.
   * @param options `repeatable`: whether it is sent again after a transient error, as queries are
   */
  ask(document: string, variables?: JsonObject, options?: { readonly repeatable: boolean }): Promise<ShopifyAnswer>
  /** A last request to undo something, even if the job was stopped. Takes at most 3 seconds, and never throws. */
  undo(document: string, variables: JsonObject): Promise<void>
}

/** Opens the API of the shop in the connector. Throws `invalid_setting` and `invalid_credentials`. */
export function openShopify(context: ConnectorContext): Shopify {
  const shop = requireShop(String(context.secrets.shop ?? ''))
  const origin = `https://${shop}`
  const credentials = credentialsOf(context, origin)
  const open = (own: ConnectorContext) =>
    openPlatform(own, {
      name: shopifyApi.name,
      baseUrl: `${origin}/admin/api/${shopifyVersion}`,
      credentials,
      errorOf: (answer) => errorOf(shopifyApi, answer),
    })
  const client = open(context)
  const post = (query: string, variables: JsonObject) =>
    ({ method: 'POST', path: '/graphql.json', body: { query, variables } }) as const
  return {
    shop,
    signal: context.signal,
    async ask(document, variables = {}, { repeatable } = { repeatable: true }) {
      const { json, headers, bytesSent } = await client.askObject({ ...post(document, variables), repeatable })
      const { data } = json
      if (!isObject(data)) throw new ConnectorError('malformed_response', 'Shopify answered without data.')
      const now = Date.parse(headers.get('date') ?? '')
      const version = headers.get('x-shopify-api-version')?.trim() ?? ''
      return {
        data,
        bytesSent,
        aheadMs: Number.isNaN(now) ? 0 : now - Date.now(),
        version: /^[\w-]{1,20}$/.test(version) ? version : undefined,
      }
    },
    async undo(document, variables) {
      const signal = AbortSignal.timeout(undoMs)
      await open({ ...context, signal })
        .ask({ ...post(document, variables), repeatable: false })
        .catch(() => {})
    },
  }
}

/**
 * The token of an app, which does not expire, or tokens by client credentials, which last for a day. Both are sent only to the
 * shop.
 */
function credentialsOf(context: ConnectorContext, origin: string): Credentials {
  const { authType, accessToken, clientId, clientSecret } = context.secrets
  if (authType === 'client-credentials') {
    const tokens = openTokens(context, {
      platform: shopifyApi.name,
      url: `${origin}/admin/oauth/access_token`,
      grant: { type: 'client_credentials' },
      client: { id: String(clientId ?? ''), secret: String(clientSecret ?? '') },
      renewal: 'check that the app is installed in the shop and belongs to the same organization',
    })
    return {
      renews: true,
      headers: async (refused) => ({ [tokenHeader]: await tokens.token(refused?.[tokenHeader]) }),
    }
  }
  const token = textIn(accessToken)?.trim()
  if (!token || !/^[\x21-\x7e]{1,4096}$/.test(token)) {
    throw new ConnectorError('invalid_credentials', 'There is no access token for Shopify; save it in the connector.')
  }
  return { renews: false, headers: async () => ({ [tokenHeader]: token }) }
}
