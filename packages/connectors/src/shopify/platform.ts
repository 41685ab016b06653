import { definePlatform } from '@penstock/connector'

export const shopify = definePlatform({
  slug: 'shopify',
  name: 'Shopify',
  type: 'E-Commerce Platform',
  alsoCalled: ['shop', 'store', 'e-commerce', 'ecommerce'],
  icon: 'shopify',
})
