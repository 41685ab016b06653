import { defineConnector, secret, text } from '@penstock/connector'
import { dropboxPlatform } from './platform.ts'

/** Files in a Dropbox. */
export const dropbox = defineConnector({
  slug: 'dropbox',
  name: 'Dropbox',
  platform: dropboxPlatform,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  status: 'preview',
  description: 'Saves the records of a transfer as files in a Dropbox, through version 2 of its API.',
  secrets: {
    clientId: text({
      label: 'Client ID',
      description: 'Key of the app that you registered at Dropbox',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret of that app, from the same page',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Refresh token from the OAuth sign-in to Dropbox',
      required: true,
    }),
  },
  destination: {},
})
