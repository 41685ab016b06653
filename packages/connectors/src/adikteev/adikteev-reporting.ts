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
  status: 'preview',
  description: 'Reads the figures of Adikteev campaigns, for use outside of its dashboard.',
  secrets: signIn,
  source: {},
})
