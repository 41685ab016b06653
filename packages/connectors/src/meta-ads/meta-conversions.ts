import { secret } from '@penstock/connector'
import { eventDestination } from '../kit/event-destination.ts'
import { metaAuth } from './api.ts'
import { app } from './app.ts'
import { metaDatasetEcapi } from './ecapi.ts'
import {
  actionSources,
  appColumns,
  circumstanceColumns,
  contentColumns,
  eventColumns,
  personColumns,
  placeColumn,
} from './event-columns.ts'
import { eventSettings, metaEvents } from './event-facts.ts'
import { metaAds } from './platform.ts'

/** Conversions on websites, in apps and shops, by messages and elsewhere, for a dataset of Meta. */
export const metaConversions = eventDestination({
  ...metaEvents,
  ecapi: metaDatasetEcapi,
  slug: 'meta-conversions',
  name: 'Meta Conversions',
  platform: metaAds,
  dataType: 'Conversions',
  description: 'Reports conversions from websites, apps, shops, phone calls or your own systems to a dataset at Meta.',
  actions: ['add', 'update', 'delete'],
  notes:
    'An event counts only within the attribution window, which is 28 days unless you change it. Meta accepts events of shops for 62 days and all others for 7; older ones are rejected before they are sent. Events of websites should have event_source_url and client_user_agent; a preview warns if they lack them. Events of apps need the operating system on which they happened. You need the consent of the people; if they object, limit the use with data_processing_options or opt_out.',
  tested:
    'Our own test server, which follows the published documentation of Meta’s Graph API; not Meta itself. No one else has checked the server, because the licence of Meta’s own client allows its use with Meta’s services only.',
  auth: metaAuth('accessToken'),
  secrets: {
    ...app,
    accessToken: secret({
      label: 'System user access token',
      description: 'Token of a system user, granted the scope ads_management',
      required: true,
    }),
  },
  settings: eventSettings('ID of the dataset that collects the events, often the ID of the pixel'),
  inspect: async (context) => (await import('./inspect-conversions.ts')).inspectConversions(context),
  columns: {
    ...eventColumns(
      'Lead',
      placeColumn('Where the event happened', { listed: [...actionSources, 'call_center'], required: true }),
    ),
    ...personColumns,
    ...contentColumns,
    ...circumstanceColumns,
    ...appColumns,
  },
})
