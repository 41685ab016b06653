import { createHash } from 'node:crypto'
import type { JsonObject } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { type Read, readObject, wrong } from '../platform-api/rows/events.ts'
import { consentOfRow } from './consent.ts'
import { type ConversionPlan, conversionActionOf, eventSourceOf } from './conversion-plans.ts'
import { microsecondsOf, timestampOf } from './event-time.ts'
import { contactColumns, identifiersOf } from './user-identifiers.ts'

/** An event as the Data Manager takes it, and the conversion action that it counts for. */
export type Conversion = { readonly action: string; readonly event: JsonObject }

const columns = contactColumns({
  givenName: ['first_name'],
  familyName: ['last_name'],
  regionCode: ['country'],
  postalCode: ['postal_code'],
})
const clicks = ['gclid', 'gbraid', 'wbraid'] as const
/** How far the clocks of two machines may be apart. */
const aheadMicroseconds = 60_000_000n

/** Makes an event of a row, or says why Google would refuse it, and the whole request with it. */
export function conversionOf(row: BatchRow, plan: ConversionPlan): Read<Conversion> {
  const action = actionOf(row, plan)
  if ('wrong' in action) return action
  const time = timeOf(row)
  if ('wrong' in time) return time
  const who = whoOf(row, plan)
  if ('wrong' in who) return who
  const worth = worthOf(row)
  if ('wrong' in worth) return worth
  const source = row.text('event_source')
  const eventSource = source === undefined ? plan.source : eventSourceOf(source)
  if (eventSource === undefined) {
    return wrong('The source must be web, app, in_store, phone, message or other.', 'event_source')
  }
  const details = detailsOf(row)
  if ('wrong' in details) return details
  const consent = consentOfRow(row, plan.consents)
  const event = {
    eventTimestamp: time.read,
    ...who.read,
    ...worth.read,
    eventSource,
    ...details.read,
    ...(consent ? { consent } : {}),
  }
  const transactionId = row.text('transaction_id') ?? derivedId(row, action.read, event)
  return { read: { action: action.read, event: transactionId === undefined ? event : { transactionId, ...event } } }
}

function actionOf(row: BatchRow, plan: ConversionPlan): Read<string> {
  const text = row.text('conversion_action_id')
  const action = text === undefined ? plan.conversionAction : conversionActionOf(text)
  if (action !== undefined) return { read: action }
  return wrong('The row has no conversion action, which is a number in Google Ads.', 'conversion_action_id')
}

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

/** The person, and the click that the conversion goes back to. */
function whoOf(row: BatchRow, plan: ConversionPlan): Read<JsonObject> {
  const contact = identifiersOf(row, columns)
  if ('reason' in contact) return wrong(contact.reason, contact.field)
  const adIdentifiers = filled(row, {
    gclid: 'gclid',
    gbraid: 'gbraid',
    wbraid: 'wbraid',
    session_attributes: 'sessionAttributes',
  })
  const hasClick = clicks.some((click) => row.text(click) !== undefined)
  if (plan.needsClick && !hasClick) {
    return wrong(
      'The row has no gclid, gbraid or wbraid, so the click that led to the conversion is not known.',
      'gclid',
    )
  }
  const { identifiers } = contact
  if (identifiers.length === 0 && Object.keys(adIdentifiers).length === 0) {
    return wrong(
      'The row has no click ID, e-mail address, phone number or address by which Google can attribute it.',
      'email',
    )
  }
  return {
    read: {
      ...(Object.keys(adIdentifiers).length > 0 ? { adIdentifiers } : {}),
      ...(identifiers.length > 0 ? { userData: { userIdentifiers: identifiers } } : {}),
    },
  }
}

function worthOf(row: BatchRow): Read<JsonObject> {
  const value = row.text('value')
  const currency = row.text('currency')?.toUpperCase()
  if (value !== undefined && !/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value)) {
    return wrong('The value is not a number such as 1234.5.', 'value')
  }
  if (currency !== undefined && !/^[A-Z]{3}$/.test(currency)) {
    return wrong('A currency is a code of three letters, such as EUR.', 'currency')
  }
  return {
    read: {
      ...(value === undefined ? {} : { conversionValue: Number(value) }),
      ...(currency === undefined ? {} : { currency }),
    },
  }
}

/** What is known of the device, the shop, the customer and the cart. */
function detailsOf(row: BatchRow): Read<JsonObject> {
  const cart = readObject(row, 'cart_data')
  if ('wrong' in cart) return cart
  const variables = readObject(row, 'custom_variables')
  if ('wrong' in variables) return variables
  const customVariables = Object.entries(variables.read).map(([variable, value]) => ({
    variable,
    value: typeof value === 'string' ? value : JSON.stringify(value),
  }))
  return {
    read: {
      ...object('eventDeviceInfo', filled(row, { user_agent: 'userAgent', ip_address: 'ipAddress' })),
      ...object('eventLocation', filled(row, { store_id: 'storeId' })),
      ...object('userProperties', {
        ...upper(row, 'customer_type', 'customerType'),
        ...upper(row, 'customer_value', 'customerValueBucket'),
      }),
      ...object('cartData', cart.read),
      ...(customVariables.length > 0 ? { customVariables } : {}),
    },
  }
}

/** The columns of a row that are filled, under Google's names. */
function filled(row: BatchRow, names: Readonly<Record<string, string>>): JsonObject {
  const values: Record<string, string> = {}
  for (const [column, name] of Object.entries(names)) {
    const value = row.text(column)
    if (value !== undefined) values[name] = value
  }
  return values
}

const upper = (row: BatchRow, column: string, name: string): JsonObject => {
  const value = row.text(column)
  return value === undefined ? {} : { [name]: value.toUpperCase() }
}

/** An object that says something. */
const object = (name: string, value: JsonObject): JsonObject => (Object.keys(value).length > 0 ? { [name]: value } : {})

/**
 * An ID by which Google counts an event once that comes again and has neither an ID of its own nor a click, of which
 * Google counts one conversion at one time. Equal events have the same ID.
 */
function derivedId(row: BatchRow, action: string, event: JsonObject): string | undefined {
  if (clicks.some((click) => row.text(click) !== undefined)) return undefined
  const { consent: _, ...said } = event
  return createHash('sha256')
    .update(JSON.stringify([action, said]))
    .digest('hex')
    .slice(0, 32)
}
