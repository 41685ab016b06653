import { definePlatform } from '@penstock/connector'

export const marketoPlatform = definePlatform({
  slug: 'marketo',
  name: 'Marketo Engage',
  type: 'CRM Platform',
  prepare: [
    'An API-only user with the permissions Read-Write Lead and Read-Write List: Marketo › Admin › Users & Roles.',
    'A custom service of this user, with its client ID and client secret: Admin › LaunchPoint.',
    'The Munchkin ID: Admin › Munchkin.',
  ],
  alsoCalled: ['adobe'],
})
