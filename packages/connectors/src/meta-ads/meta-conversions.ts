import { column, defineConnector, secret, text } from '@penstock/connector'
import { app } from './app.ts'
import { appColumns, circumstanceColumns, contentColumns, personColumns } from './event-columns.ts'
import { actionSources } from './event-sources.ts'
import { metaAds } from './platform.ts'

/** Conversions on websites, in apps and shops, by messages and elsewhere, for a dataset of Meta. */
export const metaConversions = defineConnector({
  slug: 'meta-conversions',
  name: 'Meta Conversions',
  platform: metaAds,
  dataType: 'Conversions',
  dataTypeCategory: 'events',
  description:
    'Reports conversions on websites, in apps, in shops, by telephone or in your own systems to a dataset at Meta.',
  actions: ['add', 'update', 'delete'],
  notes:
    'An event counts only inside the attribution window, which is 28 days unless you changed it. Meta takes events of shops for 62 days and all others for 7; older ones are rejected before they are sent. Events of websites should have event_source_url and client_user_agent, and events of apps must say on which operating system they happened. You need the consent of the people; limit the use with data_processing_options or opt_out where they object.',
  tested: 'Our own test server, which follows what is published of Meta’s Graph API; not Meta itself.',
  api: { version: 'Graph API v26.0', ends: 'about two years after it came out, which Meta announces' },
  secrets: {
    ...app,
    accessToken: secret({
      label: 'System user access token',
      description: 'Token of a system user, granted the scope ads_management',
      required: true,
    }),
  },
  check: async (context) => (await import('./check.ts')).checkConversions(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 1000, bytesMax: 4_000_000 }),
      open: async (context) => (await import('./deliver-conversions.ts')).open(context),
    },
    fields: {
      datasetId: text({
        label: 'Dataset ID',
        description: 'Number of the dataset that collects the events, often that of the pixel',
        required: true,
      }),
      testEventCode: text({
        label: 'Test event code',
        description: 'Code from Meta Events Manager with which events show there as a test',
      }),
    },
    records: {
      event_name: column({
        description: 'Name of the event, for example Lead',
        required: true,
        synonyms: ['event'],
      }),
      event_time: column({
        description: 'When it happened, in seconds since 1970',
        required: true,
        synonyms: ['timestamp', 'occurred_at'],
      }),
      action_source: column({
        description: 'Kind of place in which it happened',
        required: true,
        // A call center is a name of ours for what Meta calls phone_call.
        values: [...actionSources, 'call_center'],
      }),
      ...personColumns,
      ...contentColumns,
      ...circumstanceColumns,
      ...appColumns,
    },
  },
})
