import { ConnectorError, secret, select, text, type Values } from '@penstock/connector'
import { bearer, restApi } from '../kit/api.ts'
import { asWritten, currency, decimal, digest, eventId, objects, oneOf, plain, texts, time } from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import type { WhyNot } from '../kit/event-facts.ts'
import type { Answer } from '../platform-api/call.ts'
import { isObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { uetEcapi } from './ecapi.ts'
import { microsoftAdvertising } from './platform.ts'

const consents = { g: 'G', granted: 'G', true: 'G', yes: 'G', d: 'D', denied: 'D', false: 'D', no: 'D' }

/** Columns by the last part of Microsoft's name of a property, in lower case. */
const columnOf: Readonly<Record<string, string>> = {
  eventtype: 'event_type',
  eventname: 'event_name',
  eventtime: 'event_time',
  eventid: 'event_id',
  eventsourceurl: 'event_source_url',
  adstorageconsent: 'ad_storage_consent',
  em: 'email',
  ph: 'phone',
  msclkid: 'msclkid',
  clientipaddress: 'client_ip_address',
  clientuseragent: 'client_user_agent',
  value: 'value',
  currency: 'currency',
  items: 'items',
}

/** Events of a website, an app or a CRM, sent from a server to a UET tag of Microsoft Advertising. */
export const microsoftUetConversions = eventDestination({
  slug: 'microsoft-uet-conversions',
  name: 'Microsoft UET Conversions',
  platform: microsoftAdvertising,
  dataType: 'Conversions',
  description: 'Reports events of your website, app or CRM to a UET tag of Microsoft Advertising.',
  notes:
    'Microsoft enables the Conversions API for each account; ask your account manager. The token is made at the UET tag, under “Use Conversions API”, and works after up to 15 minutes. Create a conversion goal for the events at the same tag. A row needs a click or an identifier of the person. Microsoft takes the valid events of a request and names the others, which are rejected. It counts events with the same name and event_id once, whether the tag in the browser or this connection sent them. Events older than 7 days are rejected before they are sent. In the EEA, the United Kingdom and Switzerland, Microsoft uses an event only with a consent.',
  tested:
    'Our own test server, which follows what is published of Microsoft’s UET Conversions API; not Microsoft itself.',
  api: { version: 'v1', ends: 'No end is known.' },
  platformApi: restApi({
    name: 'Microsoft Advertising',
    baseUrl: 'https://capi.uet.microsoft.com/v1',
    errors: {
      codeAt: 'error.code',
      statuses: {
        400: 'invalid_batch',
        401: [
          'invalid_credentials',
          'Check that the Conversions API token is the one of this UET tag; copy it again and save it in the connector.',
        ],
        403: ['permission_denied', 'Ask Microsoft to enable the Conversions API for the account.'],
        404: ['object_not_found', 'Check the UET tag ID.'],
      },
    },
  }),
  auth: bearer('apiToken'),
  // A token is of one tag.
  secrets: {
    tagId: text({
      label: 'UET tag ID',
      description: 'ID of the UET tag that the events belong to: 187012345',
      required: true,
    }),
    apiToken: secret({
      label: 'Conversions API token',
      description: 'Token for the Conversions API of the UET tag, from Microsoft Advertising',
      required: true,
    }),
  },
  settings: {
    adStorageConsent: select({
      label: 'Ad storage consent',
      description: 'Consent to store data for advertising, for rows without a value',
      options: ['granted', 'denied'],
      labels: { granted: 'Granted', denied: 'Denied' },
    }),
  },
  batch: { rowsMax: 1000, bytesMax: 1_000_000 },
  request: (data, { secrets }) => ({
    path: `/${tagIn(secrets)}/events`,
    body: { data, dataProvider: 'penstock', continueOnValidationError: true },
  }),
  answer: {
    refuses: [400],
    results(answer, sent) {
      if (answer.status >= 300 && answer.status !== 400) return undefined
      const received = receivedIn(answer)
      const blamed = blamedBy(answer, sent.length)
      return received !== undefined && received + blamed.size === sent.length
        ? sent.map((_, place) => blamed.get(place))
        : undefined
    },
    blames: (answer, sent) => (answer.status === 400 ? blamedBy(answer, sent.length) : new Map()),
    taken: receivedIn,
  },
  // Of a request without events, Microsoft records nothing: it refuses it once it knows the token of the tag.
  probe: { names: 'UET tag', credentials: 'Conversions API token' },
  ecapi: uetEcapi,
  columns: {
    event_name: plain('eventName', 'Name of the event, which the conversion goal has as its action', {
      synonyms: ['event', 'event_action'],
    }),
    event_type: oneOf('eventType', 'Kind of event: custom, or pageLoad for the view of a page', {
      values: { ...asWritten('pageLoad', 'custom'), page_load: 'pageLoad', page_view: 'pageLoad' },
      wanted: 'custom or pageLoad',
      usual: 'custom',
    }),
    event_time: time('eventTime', 'When it happened: ISO 8601 with its zone, or seconds or milliseconds since 1970', {
      unit: 'seconds',
      daysMax: 7,
      synonyms: ['timestamp', 'occurred_at'],
    }),
    event_id: eventId(
      'eventId',
      'ID by which Microsoft recognises a repeated event, the same as that of the tag in the browser; recommended',
    ),
    msclkid: plain('userData.msclkid', 'Click ID that Microsoft adds to the URL of the landing page', {
      identifies: true,
      normalise: 'text',
      fromUrl: ['event_source_url', 'msclkid'],
      synonyms: ['click_id', 'microsoft_click_id'],
    }),
    email: digest('userData.em', 'E-mail address', 'email-no-dots-no-tag', { synonyms: ['em'] }),
    phone: digest('userData.ph', 'Phone number', 'phone-e164', { synonyms: ['ph', 'phone_number'] }),
    external_id: plain('userData.externalId', 'Your own ID of the person, not hashed', {
      identifies: true,
      normalise: 'text',
      synonyms: ['customer_id', 'user_id'],
    }),
    anonymous_id: plain('userData.anonymousId', 'ID of the visitor from your website’s ID sync with Microsoft', {
      identifies: true,
      synonyms: ['visitor_id'],
    }),
    gaid: plain('userData.gaid', 'Advertising ID of a device with Android, not hashed', {
      identifies: true,
      normalise: 'device-id',
      synonyms: ['aaid'],
    }),
    idfa: plain('userData.idfa', 'Advertising ID of a device with iOS, not hashed', {
      identifies: true,
      normalise: 'device-id-upper',
    }),
    client_ip_address: plain('userData.clientIpAddress', 'IP address of the visitor', {
      synonyms: ['ip', 'ip_address', 'client_ip'],
    }),
    client_user_agent: plain('userData.clientUserAgent', 'User agent of the visitor’s browser', {
      synonyms: ['user_agent'],
    }),
    ad_storage_consent: oneOf('adStorageConsent', 'Whether the person consented to ad storage: granted or denied', {
      values: consents,
      wanted: 'granted or denied',
      usual: { setting: 'adStorageConsent' },
      consent: { use: 'adStorage', granted: 'granted', denied: 'denied' },
      synonyms: ['consent', 'ad_storage'],
    }),
    event_source_url: plain('eventSourceUrl', 'Address of the page on which it happened; page loads need it', {
      synonyms: ['page_url', 'url'],
    }),
    referrer_url: plain('referrerUrl', 'Address of the page before', { synonyms: ['referrer'] }),
    page_title: plain('pageTitle', 'Title of the page'),
    page_load_id: plain('pageLoadId', 'ID that all events of one view of a page share'),
    keywords: plain('keywords', 'Keywords of the page'),
    value: decimal('customData.value', 'Value of the conversion, in the currency', {
      min: 0,
      synonyms: ['conversion_value', 'revenue', 'amount'],
    }),
    currency: currency('customData.currency', 'Currency of the value, as three letters', {
      synonyms: ['currency_code'],
    }),
    order_id: plain('customData.transactionId', 'ID of the order', { synonyms: ['transaction_id'] }),
    event_category: plain('customData.eventCategory', 'Category of the event, for conversion goals'),
    event_label: plain('customData.eventLabel', 'Label of the event, for conversion goals'),
    event_value: decimal('customData.eventValue', 'Value of the event, for conversion goals', { min: 0 }),
    search_string: plain('customData.searchTerm', 'What was searched for', { synonyms: ['search_term'] }),
    page_type: plain('customData.pageType', 'Type of the page, for dynamic remarketing: home, product, cart, purchase'),
    total_value: decimal('customData.ecommTotalValue', 'Value of all items, for dynamic remarketing', {
      min: 0,
      synonyms: ['ecomm_totalvalue'],
    }),
    item_category: plain('customData.ecommCategory', 'Category of the items, for dynamic remarketing', {
      synonyms: ['ecomm_category', 'content_category'],
    }),
    item_ids: texts('customData.itemIds', 'IDs of the items, as a JSON list or separated by commas', {
      synonyms: ['content_ids', 'product_ids'],
    }),
    items: objects('customData.items', 'JSON list of the items, each with id, name, price and quantity', {
      keys: { id: 'text', name: 'text', price: ['number', 'item_price'], quantity: 'whole' },
      items: { id: 'id', name: 'name', price: 'price', quantity: 'quantity' },
      synonyms: ['contents', 'products'],
    }),
  },
  needs: [
    { at: 'eventType', is: ['custom'], paths: ['eventName'], missing: 'An event that is no page load needs a name.' },
    { at: 'eventType', is: ['pageload'], paths: ['eventSourceUrl'], missing: 'A page load needs its address.' },
  ],
})

/** Throws `invalid_setting`. */
function tagIn({ tagId }: Values): string {
  const id = String(tagId ?? '').trim()
  if (/^\d{1,20}$/.test(id)) return id
  throw new ConnectorError(
    'invalid_setting',
    'Correct “UET tag ID” in the connector: it is a number such as 187012345.',
  )
}

function receivedIn({ json }: Answer): number | undefined {
  const received = numberIn(objectIn(json).eventsReceived)
  return received !== undefined && Number.isInteger(received) && received >= 0 ? received : undefined
}

/**
 * The events that an answer names, by index. Warnings are about events that it accepted. Microsoft's messages can quote what
 * was sent.
 */
function blamedBy({ json }: Answer, sent: number): Map<number, WhyNot> {
  const blamed = new Map<number, WhyNot>()
  for (const one of listIn(objectIn(objectIn(json).error).details)) {
    if (!isObject(one) || one.isWarning === true) continue
    const place = numberIn(one.index)
    if (place === undefined || !Number.isInteger(place) || place < 0 || place >= sent || blamed.has(place)) continue
    const name = textIn(one.propertyName)?.split('.').at(-1)?.toLowerCase() ?? ''
    const field = Object.hasOwn(columnOf, name) ? columnOf[name] : undefined
    const reason = 'Microsoft Advertising does not accept the event (ValidationError).'
    blamed.set(place, field === undefined ? reason : { reason, field })
  }
  return blamed
}
