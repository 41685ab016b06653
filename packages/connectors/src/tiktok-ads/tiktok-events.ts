import { column, defineConnector, secret, text } from '@penstock/connector'
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
  notes:
    'Each kind of place needs its own setting: web a pixel, app an app, offline an offline event set. Events of web and app that are older than 7 days are rejected before they are sent.',
  tested: 'Our own test server, which follows what is published of TikTok’s Events API; not TikTok itself.',
  secrets: {
    accessToken: secret({
      label: 'Access token',
      description: 'Token for the Events API, created in TikTok Business Center',
      required: true,
    }),
  },
  check: async (context) => (await import('./check-events.ts')).checkEvents(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 1000, bytesMax: 4_000_000 }),
      open: async (context) => (await import('./deliver-events.ts')).open(context),
    },
    fields: {
      pixelCode: text({ label: 'Pixel code', description: 'Code of the pixel that events of the kind web belong to' }),
      appId: text({ label: 'App ID', description: 'ID of the app at TikTok that events of the kind app belong to' }),
      offlineEventSetId: text({
        label: 'Offline event set ID',
        description: 'ID of the offline event set that events of the kind offline belong to',
      }),
      testEventCode: text({
        label: 'Test event code',
        description: 'Code from TikTok Events Manager with which events show there as a test and count for nothing',
      }),
    },
    records: {
      event: column({
        description: 'Name of the event, for example AddToCart',
        required: true,
        synonyms: ['event_name'],
      }),
      event_time: column({
        description: 'When it happened, written as in ISO 8601',
        required: true,
        synonyms: ['timestamp', 'occurred_at'],
      }),
      event_source: column({
        description: 'Kind of place in which it happened',
        required: true,
        values: ['web', 'app', 'offline'],
      }),
      context: column({
        description: 'Object that identifies the person by at least one value, such as ip, user_agent or ttclid',
        required: true,
        synonyms: ['user', 'user_data'],
      }),
      properties: column({
        description: 'Object with the value, the currency and the IDs of the content; some events need it',
        synonyms: ['custom_data'],
      }),
      event_id: column({ description: 'ID by which TikTok recognises a repeated event; recommended' }),
    },
  },
})
