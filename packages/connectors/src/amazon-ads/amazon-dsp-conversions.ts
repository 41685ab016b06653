import { column, defineConnector, inspectBy, secret, text } from '@penstock/connector'
import { eventColumns, personColumns } from './event-columns.ts'
import { amazonAds } from './platform.ts'
import { region } from './region.ts'
import { country } from './settings.ts'

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
    'A request has 1 to 100 events, all of one source. Amazon can accept some of them and refuse others; an event without a matching source is always refused. The connector also needs the client secret and the refresh token of Login with Amazon. The user who signs in needs the event_manager_edit permission on the advertiser. An event belongs to a conversion definition: the one whose ID is in the row, otherwise the only one of its source and type; if there are several, eventName selects one. Each event needs a country, from its row or the connection. The person is identified by separate columns, which are normalised and hashed, or by userIdentifier: an e-mail address or its SHA-256 digest, a phone number with its plus sign, or a device ID. Events older than 7 days are rejected before they are sent. Amazon keeps the first of several events with the same eventId. This import cannot transmit consent: use Amazon Ads DSP Events if consent is required.',
  tested:
    'Our own test server, which follows the published documentation of the conversion event import of Amazon DSP and its models; not Amazon itself.',
  api: {
    version: 'conversion event import v1 of the Amazon DSP Conversions API',
    ends: 'no end is announced; the Events API is to replace it',
  },
  check: async (context) => (await import('./check-sign-in.ts')).checkSignIn(context),
  secrets: {
    accountId: text({
      label: 'Account ID',
      description: 'ID of the DSP advertiser; the ID of an entity is not accepted',
      required: true,
    }),
    apiClientId: text({
      label: 'API client ID',
      description: 'ID of the Login with Amazon client, sent in a header of each request',
      required: true,
    }),
    apiScope: text({
      label: 'API scope',
      description: 'ID of the profile that belongs to the advertiser account',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret of the Login with Amazon client, from its security profile; needed to sign in',
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description:
        'Refresh token that was granted at sign-in; Penstock exchanges it for access tokens; needed to sign in',
    }),
  },
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 100, bytesMax: 1_000_000 }),
      open: async (context) => (await import('./deliver-dsp-conversions.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./deliver-dsp-conversions.ts')).inspectAccount(context)),
    },
    fields: { region, country },
    records: {
      source: column({
        description: 'Where the events of the batch were recorded: by Amazon’s tag or from server to server',
        required: true,
        values: ['AMAZON_AD_TAG', 'SERVER_TO_SERVER'],
      }),
      eventTime: column({
        description: 'When the conversion happened, in ISO 8601 form or in seconds since 1970',
        required: true,
        synonyms: ['timestamp', 'occurred_at'],
      }),
      conversionValue: column({
        description: 'Value of the conversion, as an amount of money',
        required: true,
        synonyms: ['value', 'event_value', 'revenue', 'amount'],
      }),
      userIdentifier: column({ description: 'Identifier of the person who converted', oneOf: 'identifier' }),
      conversionType: column({
        description: 'What the person did, for example a sign-up',
        required: true,
        synonyms: ['event_type', 'event'],
      }),
      ...personColumns,
      ...eventColumns,
      currency: column({
        description: 'Currency of a purchase as its ISO 4217 code; by default that of the conversion definition',
        synonyms: ['currency_code'],
      }),
      conversionDefinitionId: column({
        description:
          'ID of the conversion definition that the event belongs to; if it is missing, the definition is found by source and type',
        synonyms: ['conversion_definition'],
      }),
    },
  },
})
