import { column, defineConnector, inspectBy, secret, select, text } from '@penstock/connector'
import { appColumns, circumstanceColumns, contentColumns, personColumns } from '../meta-ads/event-columns.ts'
import { actionSources } from '../meta-ads/event-sources.ts'
import { meta } from './platform.ts'

/** App and web events for Meta Ads Manager, through the Conversions API. */
export const metaAppEvents = defineConnector({
  slug: 'meta-app-events',
  name: 'Meta Ads Manager Events',
  platform: meta,
  dataType: 'events',
  dataTypeCategory: 'events',
  status: 'preview',
  description: 'Reports what people do in an app or on a website, such as installing or buying, to Meta Ads.',
  notes:
    'Events are sent through Meta’s Conversions API, which Meta recommends instead of its App Events API, to a dataset that is linked with the app. Rows without action_source are events of an app. Events of apps need the operating system on which they happened, in a column or in the settings. Meta accepts events for 7 days; older ones are rejected before they are sent. If a row does not say whether tracking was allowed, it counts as not allowed. Enter a long-lived token with the scope ads_management. It cannot be renewed automatically: replace it before it expires, or use the token of a system user, which does not expire. You need the consent of the people.',
  tested: 'Our own test server, which follows the published documentation of Meta’s Conversions API; not Meta itself.',
  api: { version: 'Graph API v26.0', ends: 'about two years after its release; Meta announces the date' },
  secrets: {
    clientId: text({ label: 'Client ID', description: 'ID of the app that you registered with Meta', required: true }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that belongs to the client ID',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Long-lived token that renews access to Meta',
      required: true,
    }),
  },
  check: async (context) => (await import('../meta-ads/check.ts')).checkConversions(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 1000, bytesMax: 4_000_000 }),
      open: async (context) => (await import('./deliver-app-events.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('../meta-ads/check.ts')).assertDataset(context)),
    },
    fields: {
      datasetId: text({
        label: 'Dataset ID',
        description: 'ID of the dataset that collects the events of the app',
        required: true,
      }),
      appPlatform: select({
        label: 'Operating system',
        description: 'Operating system of the app, for events without one',
        options: ['ios', 'android'],
      }),
      testEventCode: text({
        label: 'Test event code',
        description: 'Code from Meta Events Manager; events with it are shown there as tests',
      }),
    },
    records: {
      event_name: column({
        description: 'Name of the event, for example Purchase',
        required: true,
        synonyms: ['event'],
      }),
      event_time: column({
        description: 'When it happened, in seconds since 1970',
        required: true,
        synonyms: ['timestamp', 'occurred_at'],
      }),
      action_source: column({
        description: 'Where the event happened; app by default',
        values: actionSources,
      }),
      ...personColumns,
      ...contentColumns,
      ...circumstanceColumns,
      ...appColumns,
    },
  },
})
