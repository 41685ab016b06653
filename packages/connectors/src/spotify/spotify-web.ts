import { defineConnector, secret, text } from '@penstock/connector'
import { spotify } from './platform.ts'

/** Spotify's catalogue, playlists and recommendations. */
export const spotifyWeb = defineConnector({
  slug: 'spotify-web',
  name: 'Spotify Web',
  platform: spotify,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  status: 'preview',
  description: 'Reads Spotify’s catalogue of titles, playlists and recommendations.',
  secrets: {
    clientId: text({
      label: 'Client ID',
      description: 'ID of your client, found in your Spotify account',
      required: true,
    }),
    clientSecret: secret({ label: 'Secret key', description: 'Secret that belongs to the client ID', required: true }),
  },
  source: {},
})
