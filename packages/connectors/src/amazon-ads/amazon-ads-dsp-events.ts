import { inspectBy, select, type Values } from '@penstock/connector'
import { idSetting } from '../kit/api.ts'
import { asWritten, object, oneOf, plain, time } from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import { labelsOf } from '../kit/names.ts'
import { type JsonObject, objectIn, textIn } from '../platform-api/json.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'
import { amazonAdsApi, clientIdOf } from './api.ts'
import { authorization } from './authorization.ts'
import { amazonEventsEcapi } from './ecapi.ts'
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
import { region, regionOf } from './region.ts'
import { signIn } from './sign-in.ts'

const consentOptions = ['GRANTED', 'DENIED']
/** An unknown consent is treated as missing, so the setting of the connection applies. */
const grants = {
  ...Object.fromEntries(['granted', 'grant', 'true', 'yes', '1'].map((word) => [word, 'GRANTED'])),
  ...Object.fromEntries(['denied', 'deny', 'false', 'no', '0'].map((word) => [word, 'DENIED'])),
  ...Object.fromEntries(
    ['unknown', 'unspecified', 'not_applicable'].flatMap((word) => [
      [word, ''],
      [`consent_${word}`, ''],
    ]),
  ),
}
const grant = { values: grants, wanted: 'GRANTED or DENIED' }
const sources = ['WEBSITE', 'ANDROID', 'IOS', 'FIRE_TV', 'OFFLINE', 'MEASUREMENT_ATTRIBUTION_PARTNER']
const methods = ['AMAZON_AD_TAG', 'SERVER_TO_SERVER']

/** Conversions from outside the browser, for Amazon Ads. Amazon keeps one of the events that have the same ID. */
export const amazonAdsDspEvents = eventDestination({
  slug: 'amazon-ads-dsp-events',
  name: 'Amazon Ads DSP Events',
  platform: amazonAds,
  dataType: 'Conversions',
  description: 'Reports conversions that your CRM, your shops or your servers recorded to Amazon Ads.',
  notes:
    'The user who signs in needs the event_manager_edit permission on the DSP advertiser. Accept the terms of the advertiser in its Events Manager first. Each event needs a country, from its row or the connection. In the region EU, an event without information on consent is rejected. The row or the connection must give a TCF or GPP string, an IP address, or GRANTED or DENIED. The person is identified by separate columns, which are normalised and hashed, or by userId: an e-mail address or its SHA-256 digest, a phone number with its plus sign, or a device ID. Phone numbers are hashed as digits with their country code and without a plus sign. The currency and the number of items are sent with purchases only. An event without eventSource counts as an event of a website. Amazon keeps only one of several events with the same eventId, even if their types differ. Report events soon: older events are matched less often.',
  tested:
    'Our own test server, which follows the published documentation of the Events API of Amazon Ads and its models; not Amazon itself.',
  api: { version: 'Events API of the Amazon Ads API v1, an open beta', ends: 'no end is announced' },
  platformApi: amazonAdsApi,
  auth: { open: async (context) => (await import('./amazon-api.ts')).openAmazonTokens(context) },
  secrets: signIn,
  authorization,
  check: async (context) => (await import('./check-sign-in.ts')).checkSignIn(context),
  inspect: inspectBy(async (context) => (await import('./amazon-api.ts')).assertProfiles(context)),
  settings: {
    region,
    country,
    dataSetName: idSetting({
      label: 'Dataset name',
      description: 'Dataset of Ads data manager that the events belong to; Default_Events by default',
      pattern: /^[A-Za-z][A-Za-z0-9_-]{4,99}$/,
      example: 'Shop_Events',
    }),
    consentAdStorage: select({
      label: 'Ad storage consent',
      description: 'Consent to store data for advertising, for events without a value',
      options: consentOptions,
      labels: labelsOf(consentOptions),
    }),
    consentUserData: select({
      label: 'User data consent',
      description: 'Consent to use data for advertising, for events without a value',
      options: consentOptions,
      labels: labelsOf(consentOptions),
    }),
  },
  batch: { rowsMax: 500, bytesMax: 2_000_000 },
  targets: { at: '@advertiser', field: 'advertiserId' },
  request: (events, { target = '', secrets }) => ({
    path: '/adsApi/v1/create/events',
    headers: { 'amazon-ads-clientid': clientIdOf({ secrets }), 'amazon-ads-accountid': target },
    body: { events },
  }),
  answer: {
    refuses: [400],
    refusal:
      'Amazon did not accept the event; check the advertiser, the type, the time, the person, the country and the value',
    results: (answer, sent) => resultsOf(answer, sent.length),
  },
  ecapi: amazonEventsEcapi,
  columns: {
    advertiserId: plain('@advertiser', 'ID of the advertiser that the event is credited to', {
      pattern: /^\d{1,30}$/,
      wanted: 'The ID of the advertiser must be a number; the ID of an entity is not accepted.',
      required: true,
      addresses: true,
    }),
    eventType: conversionType('What the person did, for example a purchase', ['conversion_type', 'event']),
    eventTime: time('eventTime', 'When it happened, in ISO 8601 form or in seconds since 1970', {
      unit: 'iso',
      synonyms: ['timestamp', 'occurred_at'],
    }),
    eventValue: value(
      'Value of the event: of a purchase, which needs it, an amount of money; of others on a scale of your own',
      ['value', 'conversion_value', 'revenue', 'amount'],
    ),
    currency: currencyColumn(
      'Currency of a purchase, which needs it, as its ISO 4217 code; not sent with other events',
    ),
    userId: anyIdentifier('Who converted: hashed contact data or the advertising ID of a mobile device'),
    eventAttributionSource: oneOf(
      'eventDescription.eventIngestionMethod',
      'How the event was recorded: by Amazon’s tag or from server to server',
      { values: asWritten(...methods), listed: methods, wanted: methods.join(' or '), usual: 'SERVER_TO_SERVER' },
    ),
    ...personColumns,
    matchId: plain('@keys.MATCH_ID', 'Your own opaque ID of the person, which Amazon’s tag also reports; not hashed', {
      identifies: true,
    }),
    ...eventColumns('eventId'),
    eventSource: oneOf('eventDescription.eventSource', 'Where it happened: WEBSITE, ANDROID, IOS, FIRE_TV or OFFLINE', {
      values: {
        ...Object.fromEntries(sources.map((source) => [source.toLowerCase().replaceAll('_', ''), source])),
        web: 'WEBSITE',
        store: 'OFFLINE',
        physicalstore: 'OFFLINE',
        crm: 'OFFLINE',
      },
      lettersOnly: true,
      wanted: `one of ${sources.join(', ')}`,
      usual: 'website',
      synonyms: ['action_source', 'event_action_source'],
    }),
    consentAdStorage: oneOf(
      '@consent.amznAdStorage',
      'Whether the person agreed that data is stored for advertising: GRANTED or DENIED',
      {
        ...grant,
        consent: { use: 'adStorage', granted: 'GRANTED', denied: 'DENIED' },
        synonyms: ['amzn_ad_storage', 'consent_ad_storage'],
      },
    ),
    consentUserData: oneOf(
      '@consent.amznUserData',
      'Whether the person agreed that data is used for advertising: GRANTED or DENIED',
      {
        ...grant,
        consent: { use: 'userData', granted: 'GRANTED', denied: 'DENIED' },
        synonyms: ['amzn_user_data', 'consent_ad_user_data'],
      },
    ),
    tcf: plain('consent.tcf', 'Consent string of the Transparency and Consent Framework', {
      synonyms: ['consent_tcf'],
    }),
    gpp: plain('consent.gpp', 'Consent string of the Global Privacy Platform', { synonyms: ['consent_gpp'] }),
    ipAddress: plain(
      'consent.geo.ipAddress',
      'IP address of the person, from which Amazon determines whether consent is needed',
      { synonyms: ['ip', 'client_ip', 'client_ip_address'] },
    ),
    customData: object('@custom', 'Object with at most 13 custom attributes: brand, category, productId and others', {
      synonyms: ['custom_attributes', 'properties'],
    }),
  },
  puts: [{ at: '@limited', is: [true], what: { 'dataProcessingOptions.options': 'LIMITED_DATA_USE' } }],
  person: personIn('userId'),
  needs: [
    ofPurchases('value', 'A purchase needs a value.'),
    ofPurchases('currencyCode', 'A purchase needs a currency.'),
  ],
  finish(event, _row, settings) {
    const { '@name': name, '@type': type, '@custom': custom } = event
    const matchKeys = readMatchKeys(event, { person: 'userId', value: 'eventValue' })
    if ('wrong' in matchKeys) return matchKeys
    const consent = consentOf(event, settings)
    // In Europe, Amazon needs to know what the person consented to, in one of its forms.
    if (regionOf({ settings }) === 'EU' && Object.keys(consent).length === 0) return noConsent
    const customData = readCustomData(objectIn(custom))
    if ('wrong' in customData) return customData
    const eventDescription = {
      ...objectIn(event.eventDescription),
      name: name ?? type,
      conversionType: type,
      dataSetName: textIn(settings.dataSetName)?.trim(),
    }
    return { read: { ...event, eventDescription, matchKeys: matchKeys.read, consent, customData: customData.read } }
  },
})

const noConsent: Read<JsonObject> = {
  wrong:
    'In Europe, Amazon requires the consent of the person: map a consent column or an IP address, or fill in the consent of the connection.',
  field: 'consentUserData',
}

/** The consent of the person. Amazon requires the consent to use data. The consent to store data is optional. */
function consentOf(event: JsonObject, settings: Values): JsonObject {
  const given = objectIn(event['@consent'])
  const amznUserData = given.amznUserData || settings.consentUserData
  const amznAdStorage = given.amznAdStorage || settings.consentAdStorage
  return { ...objectIn(event.consent), ...(amznUserData && { amazonConsent: { amznAdStorage, amznUserData } }) }
}

/** Custom attributes: an object of texts and numbers, of which Amazon accepts 13. */
function readCustomData(given: JsonObject): Read<readonly JsonObject[] | undefined> {
  const entries = Object.entries(given).filter(([, one]) => one !== null && one !== '')
  if (entries.length > 13) return wrong('Amazon accepts at most 13 attributes of an event.', 'customData')
  const isTaken = ([name, one]: [string, unknown]) =>
    /^\w{1,100}$/.test(name) && ['string', 'number', 'boolean'].includes(typeof one)
  if (!entries.every(isTaken)) {
    return wrong('Names of attributes have letters, digits and underscores; values are texts or numbers.', 'customData')
  }
  const data = entries.map(([name, one]) => ({
    name,
    dataType: Number.isSafeInteger(one) ? 'INTEGER' : 'STRING',
    value: String(one),
  }))
  return { read: data.length > 0 ? data : undefined }
}
