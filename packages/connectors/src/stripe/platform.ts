import { definePlatform } from '@penstock/connector'

export const stripe = definePlatform({
  slug: 'stripe',
  name: 'Stripe',
  type: 'E-Commerce Platform',
  alsoCalled: ['payments', 'billing', 'subscriptions'],
  icon: 'stripe',
})
