import { inspectBy, secret, select, text } from '@penstock/connector'
import { eventDestination } from '../kit/event-destination.ts'
import { metaAuth } from '../meta-ads/api.ts'
import {
  actionSources,
  appColumns,
  circumstanceColumns,
  contentColumns,
  eventColumns,
  personColumns,
  placeColumn,
} from '../meta-ads/event-columns.ts'
import { eventSettings, metaEvents } from '../meta-ads/event-facts.ts'
import { meta } from './platform.ts'

/** App and web events for Meta Ads Manager, through the Conversions API. */
export const metaAppEvents = eventDestination({
  ...metaEvents,
  slug: 'meta-app-events',
  name: 'Meta Ads Manager Events',
  platform: meta,
  dataType: 'events',
  status: 'preview',
  description: 'Reports what people do in an app or on a website, such as installing or buying, to Meta Ads.',
  notes:
    'Events are sent through Meta’s Conversions API, which Meta recommends instead of its App Events API, to a dataset that is linked with the app. Rows without action_source are events of an app. Events of apps need the operating system on which they happened, in a column or in the settings. Meta accepts events for 7 days; older ones are rejected before they are sent. If a row does not say whether tracking was allowed, it counts as not allowed. Enter a long-lived token with the scope ads_management. It cannot be renewed automatically: replace it before it expires, or use the token of a system user, which does not expire. You need the consent of the people.',
  tested:
    'Our own test server, which follows the published documentation of Meta’s Conversions API; not Meta itself. No one else has checked the server, because the licence of Meta’s own client allows its use with Meta’s services only.',
  auth: metaAuth('refreshToken'),
  secrets: {
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'ID of the app that you registered with Meta',
      required: true,
    }),
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
  settings: eventSettings('ID of the dataset that collects the events of the app', {
    appPlatform: select({
      label: 'Operating system',
      description: 'Operating system of the app, for events without one',
      options: ['ios', 'android'],
      labels: { ios: 'iOS', android: 'Android' },
    }),
  }),
  inspect: inspectBy(async (context) => (await import('../meta-ads/check.ts')).assertDataset(context)),
  columns: {
    ...eventColumns(
      'Purchase',
      placeColumn('Where the event happened; app by default', { listed: actionSources, usual: 'app' }),
    ),
    ...personColumns,
    ...contentColumns,
    ...circumstanceColumns,
    ...appColumns,
  },
})
