import { defineConnector } from '@penstock/connector'
import { adikteev } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Segments of app users for retargeting by Adikteev. */
export const adikteevCustomAudience = defineConnector({
  slug: 'adikteev-custom-audience',
  name: 'Adikteev Custom Audience',
  platform: adikteev,
  dataType: 'Custom Audiences',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description: 'Delivers the audience segments of an advertiser to Adikteev, which retargets them in apps.',
  secrets: signIn,
  destination: {},
})
