import { defineConnector, text } from '@penstock/connector'
import { fetchRewards } from './platform.ts'

/** Audiences that Fetch Rewards has made. */
export const fetchAudiences = defineConnector({
  slug: 'fetch-audiences',
  name: 'Fetch Audiences',
  platform: fetchRewards,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  description:
    'Takes in audiences that Fetch Rewards has prepared and delivers by itself, and passes them on to a destination.',
  actions: ['push'],
  secrets: {},
  source: {
    fields: {
      connectionId: text({
        label: 'Connection ID',
        description: 'ID of this connection; give it to your contact at Fetch before the first import',
        readonly: true,
      }),
    },
  },
})
