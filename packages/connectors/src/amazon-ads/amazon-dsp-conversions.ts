import { column, defineConnector, text } from '@penstock/connector'
import { amazonAds } from './platform.ts'

/** Conversion events of Amazon DSP, in batches of one origin each. */
export const amazonDspConversions = defineConnector({
  slug: 'amazon-dsp-conversions',
  name: 'Amazon DSP Conversions',
  platform: amazonAds,
  dataType: 'Conversions',
  dataTypeCategory: 'events',
  description: 'Sends conversion events to Amazon DSP in batches, each of which comes from one conversion source.',
  actions: ['add'],
  notes:
    'A request carries 1 to 100 events, all of one source. Amazon can accept some of them and refuse others; an event without a matching source is always refused.',
  secrets: {
    accountId: text({
      label: 'Account ID',
      description: 'ID of the DSP advertiser; the ID of an entity is not accepted',
      required: true,
    }),
    apiClientId: text({
      label: 'API client ID',
      description: 'ID of the Login with Amazon client, which each request carries in a header',
      required: true,
    }),
    apiScope: text({
      label: 'API scope',
      description: 'ID of the profile that belongs to the advertiser account',
      required: true,
    }),
  },
  destination: {
    records: {
      source: column({
        description: 'Where the events of the batch were recorded: by Amazon’s tag or from server to server',
        required: true,
        values: ['AMAZON_AD_TAG', 'SERVER_TO_SERVER'],
      }),
      eventTime: column({ description: 'When the conversion happened, in ISO 8601 form', required: true }),
      conversionValue: column({ description: 'What the conversion was worth, as an amount of money', required: true }),
      userIdentifier: column({ description: 'Identifier of the person who converted', required: true }),
      conversionType: column({ description: 'What the person did, for example a sign-up', required: true }),
    },
  },
})
