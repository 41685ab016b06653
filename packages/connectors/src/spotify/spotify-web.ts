import { defineConnector, secret, text } from '@penstock/connector'
import { spotify } from './platform.ts'

/** Spotify's catalogue, playlists and recommendations. */
export const spotifyWeb = defineConnector({
  slug: 'spotify-web',
  name: 'Spotify Web',
  platform: spotify,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  status: 'withdrawn',
  withdrawn: {
    why: 'The Developer Terms of Spotify do not allow databases of its content beyond what an app needs to run, its recommendations are closed to apps since 27 November 2024, and apps in development mode cannot read several titles at once since February 2026.',
    instead: 'Read how your campaigns, ad sets and ads performed with Spotify Ads.',
  },
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
