import { defineConnector, secret, text } from '@penstock/connector'
import { narrative as platform } from './platform.ts'

/** Data of the Narrative marketplace. */
export const narrative = defineConnector({
  slug: 'narrative',
  name: 'Narrative Data Collaboration',
  platform,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  status: 'withdrawn',
  withdrawn: {
    why: 'Narrative describes how to order data, and leaves the layout of what it delivers to each order.',
    instead:
      'Have the data delivered to your own bucket or warehouse, and read it with the Amazon S3 Source or the Snowflake Source.',
  },
  description: 'Reads data that you bought on Narrative’s marketplace or that others share with you there.',
  secrets: {
    clientId: text({
      label: 'Client ID',
      description: 'ID of your client, found in your Narrative account',
      required: true,
    }),
    clientSecret: secret({ label: 'Secret key', description: 'Secret that belongs to the client ID', required: true }),
  },
  source: {},
})
