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
    'Events go through Meta’s Conversions API, which Meta recommends in place of its App Events API, to a dataset that is linked with the app. Rows that name no kind of place are of an app, and events of apps must say on which operating system they happened, in a column or in the settings. Meta takes them for 7 days; older ones are rejected before they are sent. Not said to have allowed tracking counts as not allowed. The token is a long-lived one with the scope ads_management: Meta has no others that would renew it, so enter another one before it ends, or take that of a system user, which does not end. You need the consent of the people.',
  tested: 'Our own test server, which follows what is published of Meta’s Conversions API; not Meta itself.',
  api: { version: 'Graph API v26.0', ends: 'about two years after it came out, which Meta announces' },
  secrets: {
    clientId: text({ label: 'Client ID', description: 'ID of the app that you registered with Meta', required: true }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that belongs to the client ID',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Long-lived token with which access to Meta is renewed',
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
        description: 'Number of the dataset that collects the events of the app',
        required: true,
      }),
      appPlatform: select({
        label: 'Operating system',
        description: 'Operating system of the app, for events that name none',
        options: ['ios', 'android'],
      }),
      testEventCode: text({
        label: 'Test event code',
        description: 'Code from Meta Events Manager with which events show there as a test',
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
        description: 'Kind of place in which it happened; app where the row names none',
        values: actionSources,
      }),
      ...personColumns,
      ...contentColumns,
      ...circumstanceColumns,
      ...appColumns,
    },
  },
})
