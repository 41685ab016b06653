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
  status: 'preview',
  description: 'Reads Nielsen’s measurements across channels: reach, demographic groups and engagement.',
  secrets: clientCredentials,
  source: {},
})
