import { column, defineConnector } from '@penstock/connector'
import { amazonAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Conversions from outside the browser, for Amazon Ads. */
export const amazonAdsDspEvents = defineConnector({
  slug: 'amazon-ads-dsp-events',
  name: 'Amazon Ads DSP Events',
  platform: amazonAds,
  dataType: 'Conversions',
  dataTypeCategory: 'events',
  description: 'Reports to Amazon Ads the conversions that your CRM, your shops or your servers have recorded.',
  actions: ['add'],
  secrets: signIn,
  destination: {
    records: {
      advertiserId: column({ description: 'ID of the advertiser to whom the event is credited', required: true }),
      eventType: column({ description: 'What the person did, for example a purchase', required: true }),
      eventTime: column({ description: 'When it happened, in ISO 8601 form', required: true }),
      eventValue: column({ description: 'Value of the event as an amount of money', required: true }),
      currency: column({ description: 'Currency of the value as its ISO 4217 code', required: true }),
      userId: column({
        description: 'Who converted: hashed contact data or the advertising ID of a mobile device',
        required: true,
      }),
      eventAttributionSource: column({
        description: 'How the event was recorded: by Amazon’s tag or from server to server',
        values: ['AMAZON_AD_TAG', 'SERVER_TO_SERVER'],
      }),
    },
  },
})
