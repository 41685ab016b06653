import { defineConnector, secret, text } from '@penstock/connector'
import { pandora as platform } from './platform.ts'

/** Pandora's data about the music in its catalogue. */
export const pandora = defineConnector({
  slug: 'pandora',
  name: 'Pandora',
  platform,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  status: 'withdrawn',
  withdrawn: {
    why: 'Pandora has no public interface for its music catalogue; its partner interface is under contract.',
    instead: 'Read files that Pandora delivers to you with the Amazon S3 Source or the SFTP Source.',
  },
  description: 'Reads Pandora’s music catalogue.',
  secrets: {
    clientId: text({
      label: 'Client ID',
      description: 'ID of the app that you registered with Pandora',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that belongs to the client ID',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Long-lived token that renews access to Pandora',
      required: true,
    }),
  },
  source: {},
})
