import { defineConnector } from '@penstock/connector'
import { adikteev } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Campaign figures of Adikteev. */
export const adikteevReporting = defineConnector({
  slug: 'adikteev-reporting',
  name: 'Adikteev Reporting',
  platform: adikteev,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  status: 'withdrawn',
  withdrawn: {
    why: 'Adikteev publishes no description of its reporting interface: that is part of each contract.',
    instead:
      'Have the reports delivered as files, and read them with the Amazon S3 Source, the SFTP Source or HTTPS File.',
  },
  description: 'Reads the figures of Adikteev campaigns, for use outside of its dashboard.',
  secrets: signIn,
  source: {},
})
