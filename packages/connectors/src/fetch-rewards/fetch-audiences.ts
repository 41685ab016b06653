import { defineConnector, text } from '@penstock/connector'
import { fetchRewards } from './platform.ts'

/** Audiences that Fetch Rewards has made. */
export const fetchAudiences = defineConnector({
  slug: 'fetch-audiences',
  name: 'Fetch Audiences',
  platform: fetchRewards,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  status: 'withdrawn',
  withdrawn: {
    why: 'Fetch delivers its audiences as files whose layout each customer arranges with Fetch; no public document has it.',
    instead:
      'Have the files delivered to your own bucket or server, and read them with the Amazon S3 Source or the SFTP Source.',
  },
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
