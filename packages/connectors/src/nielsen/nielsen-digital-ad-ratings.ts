import { defineConnector } from '@penstock/connector'
import { clientCredentials } from './client-credentials.ts'
import { nielsen } from './platform.ts'

/** Nielsen's ratings of digital advertising. */
export const nielsenDigitalAdRatings = defineConnector({
  slug: 'nielsen-digital-ad-ratings',
  name: 'Nielsen Digital Ad Ratings',
  platform: nielsen,
  dataType: 'ads analytics',
  dataTypeCategory: 'reporting',
  status: 'preview',
  description: 'Reads the reach of digital ads by demographic group, and their viewability.',
  secrets: clientCredentials,
  source: {},
})
