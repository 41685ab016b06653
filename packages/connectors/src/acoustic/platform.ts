import { definePlatform } from '@penstock/connector'

export const acoustic = definePlatform({
  slug: 'acoustic',
  name: 'Acoustic',
  type: 'CRM Platform',
  alsoCalled: ['silverpop', 'acoustic campaign'],
})
