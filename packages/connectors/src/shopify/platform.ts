import { definePlatform } from '@penstock/connector'

export const shopify = definePlatform({
  slug: 'shopify',
  name: 'Shopify',
  type: 'E-Commerce Platform',
  icon: 'shopify',
})
