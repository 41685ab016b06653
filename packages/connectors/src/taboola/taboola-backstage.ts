import { defineConnector, secret, text } from '@penstock/connector'
import { taboola } from './platform.ts'

/** Campaigns of Taboola. */
export const taboolaBackstage = defineConnector({
  slug: 'taboola-backstage',
  name: 'Taboola Backstage',
  platform: taboola,
  dataType: 'Campaign',
  dataTypeCategory: 'campaign management',
  status: 'preview',
  description: 'Reads your campaigns at Taboola, to manage and improve them.',
  secrets: {
    clientId: text({
      label: 'Client ID',
      description: 'ID of your client, found in your Taboola account',
      required: true,
    }),
    clientSecret: secret({ label: 'Secret key', description: 'Secret that belongs to the client ID', required: true }),
  },
  source: {},
})
