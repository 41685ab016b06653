import { defineConnector } from '@penstock/connector'
import { clientCredentials } from './client-credentials.ts'
import { nielsen } from './platform.ts'

/** Nielsen's measurements across channels. */
export const nielsenN1Ads = defineConnector({
  slug: 'nielsen-n1-ads',
  name: 'Nielsen N1 Ads',
  platform: nielsen,
  dataType: 'analytics',
  dataTypeCategory: 'reporting',
  status: 'withdrawn',
  withdrawn: {
    why: 'Nielsen describes the interface of Nielsen ONE Ads to customers under contract only.',
    instead:
      'Have the measurements delivered as files, and read them with the Amazon S3 Source, the SFTP Source or the Snowflake Source.',
  },
  description: 'Reads Nielsen’s measurements across channels: reach, demographic groups and engagement.',
  secrets: clientCredentials,
  source: {},
})
