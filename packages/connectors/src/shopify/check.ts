import { type ConnectorContext, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { shopifyVersion } from './api.ts'
import { requireShop } from './shop.ts'
import { openShopify, type Shopify } from './sign-in.ts'

const scopesDocument = '{ currentAppInstallation { accessScopes { handle } } }'

/** The access scopes of the token, and the version that Shopify answers with. */
export async function readScopes(shopify: Shopify) {
  const { data, version } = await shopify.ask(scopesDocument)
  const { accessScopes } = objectIn(data.currentAppInstallation)
  const scopes = listIn(accessScopes).flatMap((scope) => textIn(objectIn(scope).handle) ?? [])
  return { scopes: new Set(scopes), version }
}

/** Checks whether the shop answers, accepts the credentials, and gives the app some access. */
export const checkShopify = checkSteps(
  [
    'connectivity',
    (context: ConnectorContext) =>
      assertConnectivity(context, `https://${requireShop(String(context.secrets.shop ?? ''))}/`),
  ],
  [
    'authentication',
    async (context) => {
      await openShopify(context).ask('{ shop { id } }')
      return 'Shopify accepts the credentials.'
    },
  ],
  [
    'permissions',
    async (context) => {
      const { scopes, version = shopifyVersion } = await readScopes(openShopify(context))
      const later =
        version === shopifyVersion ? '' : ` Shopify answers with version ${version}; update this service soon.`
      return `The app has ${scopes.size} access scopes.${later}`
    },
  ],
)
