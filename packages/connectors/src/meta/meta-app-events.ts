import { defineConnector, secret, text } from '@penstock/connector'
import { meta } from './platform.ts'

/** App and web events for Meta Ads Manager. */
export const metaAppEvents = defineConnector({
  slug: 'meta-app-events',
  name: 'Meta Ads Manager Events',
  platform: meta,
  dataType: 'events',
  dataTypeCategory: 'events',
  status: 'preview',
  description: 'Reports what people do in an app or on a website, such as installing or buying, to Meta Ads.',
  notes: 'For new integrations Meta recommends its Conversions API: consider the Meta Conversions connector first.',
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
  destination: {},
})
