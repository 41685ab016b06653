import { eventSecrets, startActiveCampaignEvents } from '../../packages/connectors/test/activecampaign-events-server.ts'
import {
  amazonAdvertiser,
  amazonConversionSecrets,
  amazonRoutes,
  amazonSecrets,
  startAmazon,
} from '../../packages/connectors/test/amazon-server.ts'
import { floodlight, startCampaignManager } from '../../packages/connectors/test/campaign-manager-server.ts'
import { googleSecrets, startDataManager } from '../../packages/connectors/test/data-manager-server.ts'
import { ecapiToken, startEcapi } from '../../packages/connectors/test/ecapi-server.ts'
import { googleAdsSecrets, startGoogleAds, webAction } from '../../packages/connectors/test/google-ads-server.ts'
import { linkedinSecrets, startLinkedIn } from '../../packages/connectors/test/linkedin-server.ts'
import {
  journeyKey,
  marketingCloudRoutes,
  marketingCloudSecrets,
  startMarketingCloud,
} from '../../packages/connectors/test/marketing-cloud-server.ts'
import { datasetId, metaSecrets, startMeta } from '../../packages/connectors/test/meta-server.ts'
import { microsoftSecrets, microsoftSettings, startMicrosoft } from '../../packages/connectors/test/microsoft-server.ts'
import { mparticleSecrets, startMparticle } from '../../packages/connectors/test/mparticle-server.ts'
import {
  conversionToken,
  eventsAccount,
  startPinterestEvents,
} from '../../packages/connectors/test/pinterest-events-server.ts'
import type { Received } from '../../packages/connectors/test/platform-server.ts'
import {
  redditConversionToken,
  redditPixel,
  startRedditEvents,
} from '../../packages/connectors/test/reddit-events-server.ts'
import {
  snapchatOrigins,
  snapchatSecrets,
  snapchatSettings,
  startSnapchat,
} from '../../packages/connectors/test/snapchat-server.ts'
import { startTikTok, tiktokSecrets, tiktokSettings } from '../../packages/connectors/test/tiktok-server.ts'
import {
  knownAdvertiser,
  offlineSecrets,
  providerId,
  realTimeSecrets,
  startConversions,
} from '../../packages/connectors/test/trade-desk-conversions-server.ts'
import { startUet, uetTag, uetToken } from '../../packages/connectors/test/uet-server.ts'
import {
  startYahooEvents,
  yahooOrigins,
  yahooPixel,
  yahooSecrets,
} from '../../packages/connectors/test/yahoo-events-server.ts'
import { addressOf } from './audiences.ts'
import { type Platform, saying, type Wanted } from './compare.ts'
import { type Json, listOf, objectOf, single } from './json.ts'
import type { Person } from './people.ts'
import {
  births,
  devices,
  digest,
  emails,
  isReadable,
  names,
  phoneDigest,
  phones,
  places,
  plain,
  same,
} from './rules.ts'

/** Platforms for conversions and other events: the expected data of a person at each, under the ID of the event. */

type Parts = Readonly<Record<string, string | undefined>>

/** An event, if a part of it identifies the person. Each event has the number of the person as its ID. */
function event({ id, eventTime }: Person, person: Parts, identifiers: readonly string[] = Object.keys(person)): Wanted {
  const isKnown = identifiers.some((key) => person[key] !== undefined)
  return isKnown && eventTime !== undefined ? [saying({ id, ...person })] : 'refused'
}

const eventsIn =
  (path: RegExp, list: (body: Json) => unknown, read: (event: Json) => Json) =>
  ({ path: requested, json }: Received): string[] =>
    path.test(requested) ? listOf(list(objectOf(json))).map((one) => saying(read(objectOf(one)))) : []

/** The file contains the day of the month in a separate column. */
const birth = { date_of_birth: 'birth_date' }

/** Names for the data of a person at Meta and at platforms with the same format, in lists or not. */
const personParts = (person: Person): Parts => ({
  em: digest(person.email, emails.plain),
  ph: phoneDigest(person, phones.digits),
  fn: digest(person.first, names.joined.first),
  ln: digest(person.last, names.joined.last),
  ge: digest(person.gender, same),
  ct: digest(person.city, places.joined),
  st: digest(person.state, places.state),
  zp: digest(person.zip, places.zip),
  country: digest(person.country, same),
})

const metaOf = (slug: string, settings: Platform['settings'], mapping: Platform['mapping']): Platform => ({
  slug,
  settings: { datasetId, ...settings },
  start: startMeta,
  origins: ['https://graph.facebook.com'],
  secrets: { ...metaSecrets, refreshToken: metaSecrets.accessToken },
  mapping: { ...mapping, event_name: { value: 'Lead' }, event_id: 'id', madid: 'device_id', click_id: null, ...birth },
  wants: (person) =>
    event(person, { ...personParts(person), db: digest(person.birth, births.date), madid: plain(person.device, same) }),
  reads: eventsIn(
    /\/events$/,
    ({ data }) => data,
    ({ event_id: id, user_data }) => ({ id, ...single(user_data) }),
  ),
})

const snapchat: Platform = {
  slug: 'snapchat-conversions',
  secrets: snapchatSecrets,
  settings: snapchatSettings,
  mapping: {
    event_name: { value: 'SIGN_UP' },
    action_source: { value: 'WEB' },
    conversion_value: null,
    event_id: 'id',
    currency: null,
    madid: 'device_id',
    sc_click_id: null,
  },
  start: startSnapchat,
  origins: snapchatOrigins,
  wants: (person) =>
    event(person, { ...personParts(person), madid: plain(person.device, same) }, ['em', 'ph', 'madid']),
  reads: eventsIn(
    /\/events$/,
    ({ data }) => data,
    ({ event_id: id, user_data }) => ({ id, ...single(user_data) }),
  ),
}

const pinterest: Platform = {
  slug: 'pinterest-conversions',
  secrets: { conversionToken },
  settings: { adAccountId: eventsAccount },
  mapping: {
    event_name: { value: 'lead' },
    action_source: { value: 'web' },
    event_id: 'id',
    maid: 'device_id',
    click_id: null,
    ...birth,
  },
  start: startPinterestEvents,
  origins: ['https://api.pinterest.com'],
  wants: (person) =>
    event(
      person,
      { ...personParts(person), db: digest(person.birth, births.date), hashed_maids: digest(person.device, same) },
      ['em', 'hashed_maids'],
    ),
  reads: eventsIn(
    /\/events$/,
    ({ data }) => data,
    ({ event_id: id, user_data }) => ({ id, ...single(user_data) }),
  ),
}

const reddit: Platform = {
  slug: 'reddit-conversions',
  secrets: { conversionToken: redditConversionToken },
  settings: { pixelId: redditPixel },
  mapping: { event_name: { value: 'Lead' }, action_source: { value: 'website' }, event_id: 'id', idfa: 'device_id' },
  start: startRedditEvents,
  origins: ['https://ads-api.reddit.com'],
  wants: (person) => {
    const { email, device, click } = person
    return event(person, {
      email: digest(email, emails.reddit),
      phone_number: phoneDigest(person, phones.e164),
      idfa: digest(device, devices.upper),
      click_id: plain(click, same),
    })
  },
  reads: eventsIn(
    /conversion_events$/,
    ({ data }) => objectOf(data).events,
    ({ metadata, user, click_id }) => ({ id: objectOf(metadata).conversion_id, click_id, ...objectOf(user) }),
  ),
}

const ecapi: Platform = {
  slug: 'ecapi-events',
  secrets: { endpoint: 'https://events.example.com/v1/list', apiToken: ecapiToken },
  settings: { dataSetId: 'shop', body: 'list', eventsPerRequest: '10' },
  mapping: {
    event_type: { value: 'sign_up' },
    timestamp: 'event_time',
    ifa: 'device_id',
    click_id: null,
    city: null,
    street: null,
  },
  start: startEcapi,
  origins: ['https://events.example.com'],
  // An event needs no person.
  wants: (person) => {
    const { id, eventTime, email, first, last, zip, state, country, device } = person
    if (eventTime === undefined) return 'refused'
    return [
      saying({
        id,
        email_address: digest(email, emails.plain),
        phone_numbers: phoneDigest(person, phones.e164),
        first_name: digest(first, names.joined.first),
        last_name: digest(last, names.joined.last),
        postal_code: digest(zip, places.zip),
        state: plain(state, places.state),
        country_code: plain(country, same),
        ifa: plain(device, same),
      }),
    ]
  },
  reads: eventsIn(
    /\/list$/,
    (body) => body,
    ({ id, user_data }) => {
      const { address, gender: _, customer_identifier: __, ...user } = objectOf(user_data)
      return { id, ...single(user), ...objectOf(listOf(address)[0]) }
    },
  ),
}

const tiktok: Platform = {
  slug: 'tiktok-events',
  secrets: tiktokSecrets,
  settings: tiktokSettings,
  mapping: {
    event: { value: 'CompleteRegistration' },
    event_source: { value: 'web' },
    event_id: 'id',
    idfa: 'device_id',
    ttclid: null,
  },
  start: startTikTok,
  origins: ['https://business-api.tiktok.com'],
  wants: (person) => {
    const { email, first, last, zip, city, state, country, device } = person
    return event(
      person,
      {
        email: digest(email, emails.plain),
        phone: phoneDigest(person, phones.e164),
        first_name: digest(first, names.joined.first),
        last_name: digest(last, names.joined.last),
        zip_code: digest(zip, places.zip),
        city: plain(city, places.joined),
        state: plain(state, places.state),
        country: plain(country, same),
        idfa: device.cell || undefined,
      },
      ['email', 'phone', 'idfa'],
    )
  },
  reads: eventsIn(
    /\/event\/track\//,
    ({ data }) => data,
    ({ event_id: id, user }) => ({ id, ...single(user) }),
  ),
}

/** Its clock would be one of the past. */
async function startGoogle() {
  const server = await startDataManager()
  server.clock.now = Date.now()
  return server
}

const googleOf = (slug: string, mapping: Platform['mapping'] = {}): Platform => ({
  slug,
  secrets: googleSecrets,
  start: startGoogle,
  settings: { customerId: '1234567890', conversionActionId: '1234', resultWaitSeconds: 0 },
  mapping: { transaction_id: 'id', gclid: 'click_id', ...mapping },
  origins: ['https://datamanager.googleapis.com', 'https://oauth2.googleapis.com'],
  wants: (person) => {
    const parts = {
      emailAddress: digest(person.email, emails.google),
      phoneNumber: phoneDigest(person, phones.e164),
      address: addressOf(person),
      gclid: plain(person.click, same),
    }
    return event(person, parts, Object.keys(parts))
  },
  reads: eventsIn(
    /events:ingest$/,
    ({ events }) => events,
    ({ transactionId: id, userData, adIdentifiers }) => {
      const parts: Json = { id, ...objectOf(adIdentifiers) }
      for (const identifier of listOf(objectOf(userData).userIdentifiers).map(objectOf)) {
        for (const [key, value] of Object.entries(identifier)) {
          parts[key] = key === 'address' ? saying(objectOf(value)) : value
        }
      }
      return parts
    },
  ),
})

/** Contact data of people, for conversions that a Google tag reported. */
const adjustments: Platform = {
  slug: 'google-ads-conversion-adjustments',
  secrets: googleAdsSecrets,
  start: startGoogleAds,
  settings: { customerId: '1234567890', conversionActionId: webAction, adjustmentType: 'Enhancement' },
  mapping: { order_id: 'id', gclid: null, adjustment_time: 'event_time', conversion_time: null },
  origins: ['https://googleads.googleapis.com', 'https://oauth2.googleapis.com'],
  wants: (person) =>
    event(person, {
      hashedEmail: digest(person.email, emails.google),
      hashedPhoneNumber: phoneDigest(person, phones.e164),
      addressInfo: addressOf(person, ['hashedFirstName', 'hashedLastName', 'countryCode', 'postalCode']),
    }),
  reads: eventsIn(
    /:uploadConversionAdjustments$/,
    ({ conversionAdjustments }) => conversionAdjustments,
    ({ orderId: id, userIdentifiers }) => {
      const parts = Object.assign({}, ...listOf(userIdentifiers))
      return { id, ...parts, addressInfo: parts.addressInfo && saying(parts.addressInfo) }
    },
  ),
}

/** Contact data complete a conversion that is known by its match ID. */
const campaignManager: Platform = {
  slug: 'campaign-manager-360-conversions',
  secrets: googleSecrets,
  settings: { profileId: '7001' },
  mapping: {
    floodlightActivityId: { value: floodlight.floodlightActivityId },
    floodlightConfigurationId: { value: floodlight.floodlightConfigurationId },
    timestampMicros: 'event_time',
    gclid: 'click_id',
    ordinal: 'id',
    mobileDeviceId: null,
  },
  start: startCampaignManager,
  origins: ['https://dfareporting.googleapis.com', 'https://oauth2.googleapis.com'],
  wants: (person) => event(person, { gclid: plain(person.click, same) }),
  reads: eventsIn(
    /batchinsert$/,
    ({ conversions }) => conversions,
    ({ ordinal: id, gclid }) => ({ id, gclid }),
  ),
}

const linkedin: Platform = {
  slug: 'linkedin-offline-conversions',
  secrets: linkedinSecrets,
  settings: { conversionRuleId: '104', adAccountId: '500' },
  mapping: { event_id: 'id', google_aid: 'device_id', li_fat_id: null },
  start: startLinkedIn,
  origins: ['https://api.linkedin.com', 'https://www.linkedin.com'],
  wants: (person) => {
    const [firstName, lastName] = [person.first.cell.trim(), person.last.cell.trim()]
    const hasNames = firstName !== '' && lastName !== ''
    const ids = { SHA256_EMAIL: digest(person.email, emails.plain), GOOGLE_AID: person.device.cell || undefined }
    const about = { firstName, lastName, countryCode: plain(person.country, (code) => code.toUpperCase()) }
    return event(person, { ...ids, ...(hasNames ? about : {}) })
  },
  reads: eventsIn(
    /\/conversionEvents$/,
    ({ elements }) => elements,
    ({ eventId: id, user }) => {
      const { userIds, userInfo } = objectOf(user)
      const ids = listOf(userIds).map((one) => [objectOf(one).idType, objectOf(one).idValue])
      return { id, ...Object.fromEntries(ids), ...objectOf(userInfo) }
    },
  ),
}

const { authType: _, appDeveloperToken: developerToken, ...microsoftApp } = microsoftSecrets
const microsoft: Platform = {
  slug: 'microsoft-ads-events',
  secrets: { ...microsoftApp, developerToken },
  settings: { ...microsoftSettings, conversionName: 'Offline sale' },
  mapping: { msclkid: null },
  start: startMicrosoft,
  origins: ['https://campaign.api.bingads.microsoft.com', 'https://login.microsoftonline.com'],
  // There is no ID of an event.
  wants: (person) =>
    event(
      { ...person, id: '' },
      {
        HashedEmailAddress: digest(person.email, emails.plain),
        HashedPhoneNumber: phoneDigest(person, phones.e164),
      },
    ),
  reads: eventsIn(
    /OfflineConversions\/Apply$/,
    ({ OfflineConversions }) => OfflineConversions,
    ({ HashedEmailAddress, HashedPhoneNumber }) => ({ HashedEmailAddress, HashedPhoneNumber }),
  ),
}

const uet: Platform = {
  slug: 'microsoft-uet-conversions',
  secrets: { tagId: uetTag, apiToken: uetToken },
  mapping: { event_name: { value: 'purchase' }, event_id: 'id', msclkid: null, gaid: 'device_id', idfa: null },
  start: startUet,
  origins: ['https://capi.uet.microsoft.com'],
  wants: (person) =>
    event(person, {
      em: digest(person.email, emails.undotted),
      ph: phoneDigest(person, phones.e164),
      gaid: plain(person.device, same),
    }),
  reads: eventsIn(
    /\/events$/,
    ({ data }) => data,
    ({ eventId: id, userData }) => ({ id, ...objectOf(userData) }),
  ),
}

const amazonParts = (person: Person): Parts => ({
  EMAIL: digest(person.email, emails.plain),
  PHONE: phoneDigest(person, phones.digits),
  FIRST_NAME: digest(person.first, names.amazon.first),
  LAST_NAME: digest(person.last, names.amazon.last),
  CITY: digest(person.city, places.ascii),
  STATE: digest(person.state, places.asciiState),
  POSTAL: digest(person.zip, places.amazonZip(person.country.kind === 'value' ? person.country.truth : 'us')),
  MAID: person.device.cell || undefined,
})

const amazonOf = (
  slug: string,
  secrets: Platform['secrets'],
  mapping: Platform['mapping'],
  reads: Platform['reads'],
): Platform => ({
  slug,
  secrets,
  reads,
  settings: { country: 'US' },
  start: startAmazon,
  mapping: { ...mapping, eventTime: 'event_time', maid: 'device_id', eventId: 'id' },
  origins: Object.keys(amazonRoutes('')),
  wants: (person) => (person.country.kind === 'broken' ? 'refused' : event(person, amazonParts(person))),
})

const matchKeysOf = (matchKeys: unknown): Json =>
  Object.fromEntries(listOf(matchKeys).map((key) => [objectOf(key).type, listOf(objectOf(key).values)[0]]))

const amazons: readonly Platform[] = [
  amazonOf(
    'amazon-ads-dsp-events',
    amazonSecrets,
    { advertiserId: { value: amazonAdvertiser }, eventType: { value: 'SIGN_UP' }, eventValue: null, currency: null },
    eventsIn(
      /create\/events$/,
      ({ events }) => events,
      ({ eventId: id, matchKeys }) => ({ id, ...matchKeysOf(matchKeys) }),
    ),
  ),
  amazonOf(
    'amazon-dsp-conversions',
    amazonConversionSecrets,
    { source: { value: 'SERVER_TO_SERVER' }, conversionType: { value: 'Purchase' }, conversionValue: 'value' },
    eventsIn(
      /eventData$/,
      ({ eventData }) => eventData,
      ({ clientDedupeId: id, matchKeys }) => ({ id, ...matchKeysOf(matchKeys) }),
    ),
  ),
]

const tradeDesks: readonly Platform[] = [
  {
    slug: 'the-trade-desk-offline-conversions',
    secrets: offlineSecrets,
    settings: { advertiserId: 'adv1', offlineDataProviderId: providerId },
    mapping: {
      DataProviderId: { value: providerId },
      TrackingTagId: { value: 'tag1' },
      TimestampUtc: 'event_time',
      OrderId: 'id',
      DAID: 'device_id',
      Country: null,
      City: null,
      Region: null,
    },
    start: startConversions,
    origins: ['https://offlineattrib.adsrvr.org'],
    wants: (person) => event(person, { DAID: plain(person.device, same) }),
    reads: eventsIn(
      /offlineconversion$/,
      ({ Items }) => Items,
      ({ OrderId: id, DAID }) => ({ id, DAID }),
    ),
  },
  {
    slug: 'the-trade-desk-real-time-conversions',
    secrets: realTimeSecrets,
    settings: { advertiserId: knownAdvertiser, trackingTagId: 'tag1' },
    mapping: { event_name: { value: 'purchase' }, order_id: 'id', city: null, country: null, region: null, zip: null },
    start: startConversions,
    origins: ['https://insight.adsrvr.org'],
    // It contains nothing that identifies a person, and an event needs no person.
    wants: ({ id }) => [saying({ id })],
    reads: eventsIn(
      /realtimeconversion$/,
      ({ data }) => data,
      ({ order_id: id }) => ({ id }),
    ),
  },
]

const mparticle: Platform = {
  slug: 'mparticle-events',
  secrets: mparticleSecrets,
  mapping: { event_name: { value: 'Purchase' }, timestamp_unixtime_ms: 'event_time', customer_id: 'id' },
  start: startMparticle,
  origins: ['https://s2s.us1.mparticle.com'],
  takesContacts: true,
  // Unhashed. A digest is omitted, since the person has another identifier.
  wants: (person) =>
    event(person, {
      email: plain(person.email, emails.plain),
      mobile_number: isReadable(person) ? plain(person.phone, phones.e164) : undefined,
      customer: person.id || undefined,
    }),
  reads: ({ path, json }) =>
    /bulkevents$/.test(path)
      ? listOf(json).map((batch) => {
          const { customer_id: id, ...user } = objectOf(objectOf(batch).user_identities)
          return saying({ id, customer: id, ...user })
        })
      : [],
}

const activecampaign: Platform = {
  slug: 'activecampaign-events',
  secrets: eventSecrets,
  mapping: { event_name: { value: 'Bought' }, event_data: 'id' },
  start: startActiveCampaignEvents,
  origins: ['https://trackcmp.net'],
  oneByOne: true,
  takesContacts: true,
  wants: (person) => {
    const email = plain(person.email, emails.plain)
    return email === undefined ? 'refused' : [saying({ email, eventdata: person.id })]
  },
  reads({ path, text }) {
    if (path !== '/event') return []
    const { visit = '{}', eventdata } = Object.fromEntries(new URLSearchParams(text))
    return [saying({ email: objectOf(JSON.parse(visit)).email, eventdata })]
  },
}

const journeys: Platform = {
  slug: 'salesforce-marketing-cloud-journeys',
  secrets: marketingCloudSecrets,
  settings: { eventDefinitionKey: journeyKey },
  mapping: { contact_key: 'id' },
  start: startMarketingCloud,
  origins: Object.keys(marketingCloudRoutes('')),
  oneByOne: true,
  // The key of a contact is what the customer has chosen.
  wants: ({ id }) => (id === '' ? 'refused' : [saying({ id })]),
  reads: ({ path, json }) => (path.endsWith('/events') ? [saying({ id: objectOf(json).ContactKey })] : []),
}

const yahoo: Platform = {
  slug: 'yahoo-dsp-conversions',
  secrets: yahooSecrets,
  settings: { pixelId: yahooPixel, mode: 'Batch' },
  mapping: {
    eventName: { value: 'Lead' },
    actionSource: { value: 'web' },
    event_id: 'id',
    idfa: 'device_id',
    gpsaid: null,
    country: null,
    region: null,
  },
  start: startYahooEvents,
  origins: yahooOrigins,
  wants: (person) =>
    event(person, {
      email: digest(person.email, emails.plain),
      phone: phoneDigest(person, phones.e164),
      idfa: plain(person.device, devices.upper),
      vmcid: plain(person.click, same),
    }),
  reads: eventsIn(
    /v1\/events/,
    (body) => body,
    ({ eventId: id, userData, clickData }) => ({ id, ...objectOf(clickData), ...single(userData) }),
  ),
}

export const conversions: readonly Platform[] = [
  activecampaign,
  journeys,
  metaOf('meta-conversions', {}, { action_source: { value: 'website' } }),
  metaOf('meta-app-events', { appPlatform: 'android' }, {}),
  snapchat,
  pinterest,
  reddit,
  ecapi,
  tiktok,
  googleOf('google-ads-conversions'),
  googleOf('google-ads-click-conversions'),
  googleOf('google-ads-offline-conversions', { store_id: { value: 'shop-1' } }),
  adjustments,
  campaignManager,
  linkedin,
  microsoft,
  uet,
  ...amazons,
  ...tradeDesks,
  mparticle,
  yahoo,
]
