import { column, defineConnector, secret, text } from '@penstock/connector'
import { app } from './app.ts'
import { metaAds } from './platform.ts'

/** Conversions that happened away from the browser, for a dataset of Meta. */
export const metaConversions = defineConnector({
  slug: 'meta-conversions',
  name: 'Meta Conversions',
  platform: metaAds,
  dataType: 'Conversions',
  dataTypeCategory: 'events',
  description:
    'Reports conversions that took place in shops, by telephone or in your own systems to a dataset at Meta.',
  actions: ['add', 'update', 'delete'],
  notes:
    'An event counts only inside the attribution window, which is 28 days unless you changed it. Meta takes events of shops for 62 days and all others for 7; older ones are rejected before they are sent.',
  tested: 'Our own test server, which follows what is published of Meta’s Graph API; not Meta itself.',
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
        values: ['physical_store', 'call_center', 'system_generated'],
      }),
      user_data: column({
        // Not hashed as a whole: what is inside is hashed already where Meta wants it so, and rejected otherwise.
        description: 'Object that identifies the person by at least one hashed value, such as em or ph',
        required: true,
        synonyms: ['user'],
      }),
      custom_data: column({
        description: 'Object with the value, the currency and the products',
        synonyms: ['properties'],
      }),
      event_id: column({ description: 'ID by which Meta recognises a repeated event; recommended' }),
    },
  },
})
