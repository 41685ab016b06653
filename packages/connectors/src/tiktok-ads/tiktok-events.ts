import { column, defineConnector, secret } from '@penstock/connector'
import { tiktokAds } from './platform.ts'

/** Events for TikTok, sent from a server. */
export const tiktokEvents = defineConnector({
  slug: 'tiktok-events',
  name: 'TikTok Events',
  platform: tiktokAds,
  dataType: 'events',
  dataTypeCategory: 'events',
  description: 'Reports events to TikTok from the server, through version 2 of its Events API.',
  actions: ['add'],
  secrets: {
    accessToken: secret({
      label: 'Access token',
      description: 'Token for the Events API, created in TikTok Business Center',
      required: true,
    }),
  },
  destination: {
    records: {
      event: column({ description: 'Name of the event, for example AddToCart', required: true }),
      event_time: column({ description: 'When it happened, written as in ISO 8601', required: true }),
      event_source: column({
        description: 'Kind of place in which it happened',
        required: true,
        values: ['web', 'app', 'offline'],
      }),
      context: column({
        description: 'Object that identifies the person by at least one value, such as ip, user_agent or ttclid',
        required: true,
      }),
      properties: column({
        description: 'Object with the value, the currency and the IDs of the content; some events need it',
      }),
    },
  },
})
