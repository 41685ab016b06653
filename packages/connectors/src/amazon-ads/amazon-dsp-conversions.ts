import { inspectBy, secret, text } from '@penstock/connector'
import { asWritten, oneOf, plain, time } from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import { conversionsApi } from './api.ts'
import { amazonConversionsEcapi } from './ecapi.ts'
import {
  anyIdentifier,
  conversionType,
  country,
  currencyColumn,
  eventColumns,
  ofPurchases,
  personColumns,
  personIn,
  value,
} from './event-columns.ts'
import { readMatchKeys } from './match-keys.ts'
import { resultsOf } from './multi-status.ts'
import { amazonAds } from './platform.ts'
import { region } from './region.ts'

const mediaType = 'application/vnd.dspconversioneventimport.v1+json'
const sources = ['AMAZON_AD_TAG', 'SERVER_TO_SERVER']

/** Conversion events of Amazon DSP, in batches of one origin each. Amazon keeps the first event with an ID. */
export const amazonDspConversions = eventDestination({
  slug: 'amazon-dsp-conversions',
  name: 'Amazon DSP Conversions',
  platform: amazonAds,
  dataType: 'Conversions',
  description: 'Sends conversion events to Amazon DSP in batches, each of which comes from one conversion source.',
  notes:
    'A request has 1 to 100 events, all of one source. Amazon can accept some of them and refuse others; an event without a matching source is always refused. The connector also needs the client secret and the refresh token of Login with Amazon. The user who signs in needs the event_manager_edit permission on the advertiser. An event belongs to a conversion definition: the one whose ID is in the row, otherwise the only one of its source and type; if there are several, eventName selects one. Each event needs a country, from its row or the connection. The person is identified by separate columns, which are normalised and hashed, or by userIdentifier: an e-mail address or its SHA-256 digest, a phone number with its plus sign, or a device ID. Events older than 7 days are rejected before they are sent. Amazon keeps the first of several events with the same eventId. This import cannot transmit consent: use Amazon Ads DSP Events if consent is required.',
  tested:
    'Our own test server, which follows the published documentation of the conversion event import of Amazon DSP and its models; not Amazon itself.',
  api: {
    version: 'conversion event import v1 of the Amazon DSP Conversions API',
    ends: 'no end is announced; the Events API is to replace it',
  },
  platformApi: conversionsApi,
  auth: { open: async (context) => (await import('./amazon-api.ts')).openAmazonTokens(context) },
  secrets: {
    accountId: text({
      label: 'Advertiser ID',
      description: 'ID of the DSP advertiser, not of an entity',
      required: true,
    }),
    apiClientId: text({
      keepsState: 'credential',
      label: 'API client ID',
      description: 'ID of the Login with Amazon client, sent in a header of each request',
      required: true,
    }),
    apiScope: text({
      keepsState: 'credential',
      label: 'Profile ID',
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
  check: async (context) => (await import('./check-sign-in.ts')).checkSignIn(context),
  inspect: inspectBy(async (context) => (await import('./conversion-definitions.ts')).listDefinitions(context)),
  settings: { region, country },
  batch: { rowsMax: 100, bytesMax: 1_000_000 },
  lookUp: async (context) => (await import('./conversion-definitions.ts')).definitionFinder(context),
  targets: { at: '@source', settings: { AMAZON_AD_TAG: null, SERVER_TO_SERVER: null }, field: 'source' },
  request: (eventData, { target: source }) => ({
    path: '/eventData',
    headers: { accept: mediaType, 'content-type': mediaType },
    body: { source, eventData },
  }),
  answer: {
    refuses: [400],
    refusal:
      'Amazon did not accept the event; check its conversion definition, its time, the person, the country and the value',
    results: (answer, sent) => resultsOf(answer, sent.length),
  },
  ecapi: amazonConversionsEcapi,
  columns: {
    source: oneOf('@source', 'Where the events of the batch were recorded: by Amazon’s tag or from server to server', {
      values: asWritten(...sources),
      listed: sources,
      wanted: sources.join(' or '),
      required: true,
    }),
    eventTime: time('timestamp', 'When the conversion happened, in ISO 8601 form or in seconds since 1970', {
      unit: 'iso',
      daysMax: 7,
      synonyms: ['timestamp', 'occurred_at'],
    }),
    conversionValue: value(
      'Value of the conversion: of a purchase, which needs it, an amount of money; of others on a scale of your own; by default that of the conversion definition',
      ['value', 'event_value', 'revenue', 'amount'],
    ),
    userIdentifier: anyIdentifier('Identifier of the person who converted'),
    conversionType: conversionType('What the person did, for example a sign-up', ['event_type', 'event']),
    ...personColumns,
    ...eventColumns('clientDedupeId'),
    currency: currencyColumn(
      'Currency of a purchase as its ISO 4217 code; by default that of the conversion definition',
    ),
    conversionDefinitionId: plain(
      'conversionDefinitionId',
      'ID of the conversion definition that the event belongs to; if it is missing, the definition is found by source and type',
      { synonyms: ['conversion_definition'], addresses: true },
    ),
  },
  puts: [{ at: '@limited', is: [true], what: { dataProcessingOptions: 'LIMITED_DATA_USE' } }],
  person: personIn('userIdentifier'),
  needs: [ofPurchases('value', 'A purchase needs a value.')],
  finish(event) {
    const matchKeys = readMatchKeys(event, { person: 'userIdentifier', value: 'conversionValue' })
    if ('wrong' in matchKeys) return matchKeys
    return { read: { ...event, name: event['@name'] ?? event['@type'], matchKeys: matchKeys.read } }
  },
})
