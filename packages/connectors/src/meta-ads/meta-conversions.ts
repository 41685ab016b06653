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
  description: 'Reports conversions from websites, apps, shops, phone calls or your own systems to a dataset at Meta.',
  actions: ['add', 'update', 'delete'],
  notes:
    'An event counts only within the attribution window, which is 28 days unless you change it. Meta accepts events of shops for 62 days and all others for 7; older ones are rejected before they are sent. Events of websites should have event_source_url and client_user_agent. Events of apps need the operating system on which they happened. You need the consent of the people; if they object, limit the use with data_processing_options or opt_out.',
  tested: 'Our own test server, which follows the published documentation of Meta’s Graph API; not Meta itself.',
  api: { version: 'Graph API v26.0', ends: 'about two years after its release; Meta announces the date' },
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
        description: 'ID of the dataset that collects the events, often that of the pixel',
        required: true,
      }),
      testEventCode: text({
        label: 'Test event code',
        description: 'Code from Meta Events Manager; events with it are shown there as tests',
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
        description: 'Where the event happened',
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
