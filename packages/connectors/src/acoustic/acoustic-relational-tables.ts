import { defineConnector, secret, text } from '@penstock/connector'
import { acoustic } from './platform.ts'

/** Relational tables of Acoustic Campaign, filled with rows. */
export const acousticRelationalTables = defineConnector({
  slug: 'acoustic-relational-tables',
  name: 'Acoustic Relational Tables',
  platform: acoustic,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  status: 'preview',
  description: 'Fills the relational tables of an Acoustic Campaign account with rows from your own data.',
  secrets: {
    pod: text({
      label: 'Pod',
      description: 'Pod on which Acoustic hosts your account, such as us-1',
      required: true,
      binds: ['clientToken', 'clientSecret', 'refreshToken'],
    }),
    clientToken: secret({
      label: 'Client token',
      description: 'Client ID that Acoustic gave to the application',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that Acoustic gave to the application together with its client ID',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Long-lived token that Penstock exchanges for access tokens of Acoustic',
      required: true,
    }),
  },
  destination: {},
})
