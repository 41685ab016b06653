import { defineConnector, secret } from '@penstock/connector'
import { shopify } from './platform.ts'

/** Products, orders and customers of a Shopify shop. */
export const shopifyAdmin = defineConnector({
  slug: 'shopify-admin',
  name: 'Shopify Admin',
  platform: shopify,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  status: 'preview',
  description: 'Exchanges products, orders and customers with a Shopify shop.',
  notes:
    'Grant the token the read_ and write_ scopes of: customers, products, orders, inventory, discounts, price_rules, assigned_fulfillment_orders, merchant_managed_fulfillment_orders.',
  secrets: {
    accessToken: secret({
      label: 'Admin API access token',
      description: 'Token created in the admin of the shop, with all scopes listed in the notes',
      required: true,
    }),
  },
  destination: {},
})
