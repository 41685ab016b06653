import { defineConnector, text } from '@penstock/connector'
import { fetchRewards } from './platform.ts'

/** Audiences that Fetch Rewards has made. */
export const fetchAudiences = defineConnector({
  slug: 'fetch-audiences',
  name: 'Fetch Audiences',
  platform: fetchRewards,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  description: 'Receives audiences that Fetch Rewards prepares and pushes, and sends them to a destination.',
  actions: ['push'],
  secrets: {},
  source: {
    fields: {
      connectionId: text({
        label: 'Connection ID',
        description: 'ID of this connection; send it to your contact at Fetch before the first import',
        readonly: true,
      }),
    },
  },
})
