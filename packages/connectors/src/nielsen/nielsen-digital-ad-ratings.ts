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
  status: 'withdrawn',
  withdrawn: {
    why: 'Nielsen describes the interface of Digital Ad Ratings to customers under contract only, and is replacing it by Nielsen ONE.',
    instead: 'Have the reports delivered as files, and read them with the Amazon S3 Source or the SFTP Source.',
  },
  description: 'Reads the reach of digital ads by demographic group, and their viewability.',
  secrets: clientCredentials,
  source: {},
})
