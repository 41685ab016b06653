import { createHash } from 'node:crypto'
import { number, select } from '@penstock/connector'
import { idSetting } from '../kit/api.ts'
import { currency, decimal, type EventColumns, object, oneOf, plain, special } from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import type { EventDestination } from '../kit/event-facts.ts'
import { isSuccess } from '../platform-api/call.ts'
import { type JsonObject, objectIn } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { filled } from '../platform-api/rows/event-values.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'
import { accountSetting, dataManager, destinationOf, googleAdsAccounts, managerAccountSetting } from './data-manager.ts'
import { googleAdsEcapi, googleAdsPlacedEcapi } from './ecapi.ts'
import { microsecondsOf, timestampOf } from './event-time.ts'
import { blamedItems } from './google-errors.ts'
import {
  addressColumns,
  consentColumns,
  consentFields,
  consentOfRow,
  consentOfSettings,
  contactColumns,
  identifiersIn,
} from './people.ts'
import { googleAds } from './platform.ts'

/** The form of a conversion action: its number, or its resource name in the Google Ads API. */
export const conversionAction = {
  pattern: /^(?:customers\/\d+\/conversionActions\/)?\d+$/,
  wanted:
    'The conversion action must be its number in Google Ads, which follows ctId= in the address of the page of the action.',
}
/** The setting with the conversion action of all rows that name none. */
export const conversionActionSetting = idSetting({
  label: 'Conversion action ID',
  description:
    'ID after ctId= in the address of the conversion action. Not needed if every row has conversion_action_id',
  pattern: conversionAction.pattern,
  example: '1234567890',
})
/** The number of a conversion action. `undefined` if there is none. */
export const actionIn = (id: unknown): string | undefined => /\d+$/.exec(String(id ?? '').trim())?.[0]

const unlessSaid = ', for rows without a value'

/** The catalogue requires none of these. A transfer reports what is missing. */
const settings = {
  customerId: accountSetting('Customer ID', 'ID of the Google Ads account that owns the conversion action', {
    needed: true,
  }),
  managerAccountId: managerAccountSetting,
  conversionActionId: conversionActionSetting,
  ...consentFields({ default: 'Unspecified' }, unlessSaid),
  resultWaitSeconds: number({
    keepsState: 'pace',
    label: 'Wait for results (seconds)',
    description: 'How long a transfer waits at its end for Google to report rejected events; 0 to ask once',
    min: 0,
    max: 600,
    default: 30,
  }),
}

/** The place of events whose rows do not name one. */
export const eventSource = {
  setting: select({
    label: 'Event source',
    description: `Where events happened${unlessSaid}`,
    options: ['Web', 'App', 'In store', 'Phone', 'Message', 'Other'],
    default: 'Web',
  }),
  column: oneOf('eventSource', 'Where it happened; by default as set in the connection', {
    values: { web: 'WEB', app: 'APP', instore: 'IN_STORE', phone: 'PHONE', message: 'MESSAGE', other: 'OTHER' },
    lettersOnly: true,
    wanted: 'web, app, in_store, phone, message or other',
    usual: { setting: 'eventSource' },
    listed: ['web', 'app', 'in_store', 'phone', 'message', 'other'],
  }),
}

const click = (name: string, description: string, synonyms: readonly string[] = []) =>
  plain(`adIdentifiers.${name}`, description, { synonyms, identifies: true, normalise: 'text' })

const conversionColumns = {
  event_time: special(
    'When it happened: ISO 8601 with its time zone, such as 2026-01-31T12:00:00+01:00, or seconds or milliseconds since 1970',
    {
      required: true,
      synonyms: [
        'conversion_time',
        'conversion_date_time',
        'conversion_timestamp',
        'event_timestamp',
        'timestamp',
        'occurred_at',
        'order_time',
        'purchase_time',
      ],
    },
  ),
  transaction_id: plain('transactionId', 'ID of the order, for which Google counts the conversion once; recommended', {
    synonyms: ['order_id', 'event_id', 'conversion_id', 'order_number'],
  }),
  value: decimal('conversionValue', 'Value of the conversion, as an amount of money', {
    synonyms: ['conversion_value', 'revenue', 'amount', 'order_value'],
  }),
  currency: currency('currency', 'Currency of the value, as a three-letter code; by default that of the account', {
    synonyms: ['currency_code'],
  }),
  gclid: click('gclid', 'Click ID of Google Ads', ['google_click_id', 'click_id']),
  gbraid: click('gbraid', 'Click ID of clicks on iOS that led to an app'),
  wbraid: click('wbraid', 'Click ID of clicks on iOS that led to a website'),
  ...contactColumns,
  ...addressColumns,
  ...consentColumns,
  conversion_action_id: plain(
    '@action',
    'ID of the conversion action that it counts for; by default as set in the connection',
    {
      ...conversionAction,
      setting: 'conversionActionId',
      missing: 'The row has no conversion action, which is a number in Google Ads.',
      synonyms: ['conversion_action'],
      addresses: true,
    },
  ),
  session_attributes: plain(
    'adIdentifiers.sessionAttributes',
    'Session attributes that the Google tag collected, unchanged',
  ),
  user_agent: plain('eventDeviceInfo.userAgent', 'User agent of the device on which it happened'),
  ip_address: plain(
    'eventDeviceInfo.ipAddress',
    'IP address of that device; leave it empty for people in the European Economic Area, the United Kingdom and Switzerland, where Google does not use it',
    { synonyms: ['client_ip_address'] },
  ),
  customer_type: {
    ...plain('userProperties.customerType', 'Whether the customer is new to you', { upper: true }),
    values: ['new', 'returning', 'reengaged'],
  },
  customer_value: {
    ...plain('userProperties.customerValueBucket', 'How valuable the customer is to you', { upper: true }),
    values: ['low', 'medium', 'high'],
  },
  cart_data: object('cartData', 'Object with the merchantId and the items of the cart, in Google’s format'),
  custom_variables: object('@variables', 'Object with the values of custom variables by name'),
}

/** How much the clocks of two machines can differ. */
const aheadMicroseconds = 60_000_000n

function timeOf(row: BatchRow): Read<string> {
  const text = row.text('event_time')
  if (text === undefined) return wrong('The time of the event is missing.', 'event_time')
  const microseconds = microsecondsOf(text)
  if (microseconds === undefined) {
    const reason = 'The time must be written as 2026-01-31T12:00:00Z with its zone, or in seconds since 1970.'
    return wrong(reason, 'event_time')
  }
  if (microseconds > BigInt(Date.now()) * 1_000n + aheadMicroseconds) {
    return wrong('The event lies in the future.', 'event_time')
  }
  return { read: timestampOf(microseconds) }
}

/**
 * An ID that makes Google count a repeated event once. It is for events that have neither their own ID nor a click, because
 * Google counts one conversion per click and time. Equal events have the same ID, in every release: do not change the order of
 * keys.
 */
function derivedId(action: unknown, said: JsonObject): string | undefined {
  const { gclid, gbraid, wbraid } = objectIn(said.adIdentifiers)
  if ((gclid ?? gbraid ?? wbraid) !== undefined) return undefined
  const text = JSON.stringify([actionIn(action), said])
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

type Conversions = Pick<
  EventDestination,
  'slug' | 'name' | 'dataType' | 'description' | 'notes' | 'secrets' | 'settings' | 'person'
> & {
  /** The source of events whose rows and connection do not name one. */
  readonly source: 'WEB' | 'IN_STORE'
  /** Further columns. */
  readonly columns: EventColumns
}

/**
 * A connector that sends conversions to Google Ads as events. A request contains the events of one conversion action. Google
 * accepts a request as a whole or not at all, processes it later, and counts an event once if it is repeated under its
 * transaction ID.
 */
export const googleConversions = ({ source, columns, notes, ...facts }: Conversions) =>
  eventDestination({
    platform: googleAds,
    ...dataManager(googleAdsAccounts),
    person: {
      anyOf: ['adIdentifiers', '@contact'],
      missing: 'The row has no click ID, e-mail address, phone number or address by which Google can attribute it.',
      field: 'email',
    },
    ...facts,
    notes: `Data moves through Google Data Manager, since the Google Ads API has not accepted conversions from new users since June 2026. The refresh token needs the scope https://www.googleapis.com/auth/datamanager; a developer token is not needed. Send only data that people consented to. Google does not use the data of people who denied consent, and in the European Economic Area requires the consent of everyone. To send contact data, accept the terms for enhanced conversions in the account. Google counts a conversion once for each transaction ID, or for each click and time. An event with the transaction ID and the conversion action of an earlier conversion replaces its value and currency, except for store sales. To retract a conversion, use Google Ads Conversion Adjustments. It processes uploads within hours. Events that it rejects while the transfer waits for the results are counted as rejected; later rejections are not counted. ${notes}`,
    settings: { ...settings, ...facts.settings },
    columns: { ...conversionColumns, ...columns },
    ecapi: columns.event_source ? googleAdsPlacedEcapi : googleAdsEcapi,
    batch: { rowsMax: 2_000, bytesMax: 4_000_000 },
    finish(event, row, connection) {
      const time = timeOf(row)
      if ('wrong' in time) return time
      const contact = identifiersIn(event, conversionColumns)
      if ('wrong' in contact) return contact
      const variables = Object.entries(objectIn(event['@variables'])).map(([variable, value]) => ({
        variable,
        value: typeof value === 'string' ? value : JSON.stringify(value),
      }))
      const said = filled({
        eventTimestamp: time.read,
        adIdentifiers: event.adIdentifiers,
        userData: contact.read.length > 0 ? { userIdentifiers: contact.read } : undefined,
        conversionValue: event.conversionValue,
        currency: event.currency,
        eventSource: event.eventSource ?? source,
        eventDeviceInfo: event.eventDeviceInfo,
        eventLocation: event.eventLocation,
        userProperties: event.userProperties,
        cartData: event.cartData,
        customVariables: variables.length > 0 ? variables : undefined,
      })
      const { transactionId = derivedId(event['@action'], said) } = event
      return { read: { transactionId, ...said, consent: consentOfRow(row, connection) } }
    },
    targets: { at: '@action', field: 'conversion_action_id' },
    request: (events, { settings: connection, id = connection.conversionActionId, isProbe }) => {
      const consent = consentOfSettings(connection)
      return {
        path: '/events:ingest',
        body: {
          destinations: [destinationOf(googleAdsAccounts(connection), actionIn(id))],
          events,
          ...(consent && { consent }),
          encoding: 'HEX',
          ...(isProbe && { validateOnly: true }),
        },
      }
    },
    answer: {
      refuses: 'blamed',
      refusal: 'Google does not accept this event',
      blames: (answer, sent) => blamedItems(answer, 'event', sent.length),
      confirms: isSuccess,
    },
    later: async (client, context) =>
      (await import('./later.ts')).openLater('event', googleAdsAccounts(context.settings), client, context),
    probe: {
      names: 'conversion action and its account',
      needs: ['customerId', 'conversionActionId'],
      credentials: 'OAuth client and the refresh token',
      exchanges: true,
      // An error of the event itself is no error of the account.
      mayBeRefused: true,
      events: () => [
        {
          transactionId: 'check',
          eventTimestamp: new Date(Date.now() - 86_400_000).toISOString(),
          adIdentifiers: { gclid: 'check' },
          eventSource: source,
        },
      ],
    },
  })
