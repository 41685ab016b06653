import { microsecondsOf } from '../google-ads/event-time.ts'
import type { JsonObject } from '../platform-api/json.ts'
import { type BatchRow, isSha256 } from '../platform-api/rows/batch-rows.ts'
import { type Read, readObject, wrong } from '../platform-api/rows/events.ts'

/** A conversion as the API takes it, and whether it is a new one or corrects one. */
export type FloodlightConversion = { readonly verb: 'insert' | 'update'; readonly body: JsonObject }

/** Of these exactly one may be sent; of a row that has several, the first. */
const identifiers = ['gclid', 'dclid', 'matchId', 'mobileDeviceId', 'encryptedUserId', 'impressionId'] as const
const flags = ['limitAdTracking', 'childDirectedTreatment', 'treatmentForUnderage', 'nonPersonalizedAd'] as const
const numbers = ['floodlightConfigurationId', 'floodlightActivityId'] as const

/** Makes a conversion of a row, or says why Campaign Manager 360 would refuse it. */
export function floodlightConversionOf(row: BatchRow): Read<FloodlightConversion> {
  const action = row.text('action')?.toLowerCase() ?? 'add'
  if (action !== 'add' && action !== 'update') return wrong('The action must be add or update.', 'action')
  const verb = action === 'add' ? 'insert' : 'update'
  const key = keyOf(row)
  if ('wrong' in key) return key
  const amount = amountOf(row, verb)
  if ('wrong' in amount) return amount
  const variables = variablesOf(row)
  if ('wrong' in variables) return variables
  const people = peopleOf(row)
  if ('wrong' in people) return people
  const more = verb === 'insert' ? insertedOf(row) : { read: people.read }
  if ('wrong' in more) return more
  const identifier = identifierOf(row, verb === 'update' && Object.keys(people.read).length > 0)
  if ('wrong' in identifier) return identifier
  return { read: { verb, body: { ...key.read, ...identifier.read, ...amount.read, ...variables.read, ...more.read } } }
}

/** What distinguishes a conversion from others. */
function keyOf(row: BatchRow): Read<JsonObject> {
  for (const column of numbers) {
    if (!/^\d{1,19}$/.test(row.text(column) ?? ''))
      return wrong('The value must be a Floodlight ID, which is a number.', column)
  }
  const ordinal = row.text('ordinal')
  if (ordinal === undefined) return wrong('The ordinal is missing.', 'ordinal')
  const microseconds = microsecondsOf(row.text('timestampMicros') ?? '')
  if (microseconds === undefined) {
    const reason =
      'The time must be in microseconds, milliseconds or seconds since 1970, or written as 2026-01-31T12:00:00Z with its zone.'
    return wrong(reason, 'timestampMicros')
  }
  return {
    read: {
      floodlightConfigurationId: row.text('floodlightConfigurationId'),
      floodlightActivityId: row.text('floodlightActivityId'),
      timestampMicros: String(microseconds),
      ordinal,
    },
  }
}

/** @param isEnhanced whether the row adds contact data to a conversion, which is then found by its match ID */
function identifierOf(row: BatchRow, isEnhanced: boolean): Read<JsonObject> {
  const order = isEnhanced ? (['matchId', ...identifiers] as const) : identifiers
  const column = order.find((one) => row.text(one) !== undefined)
  if (column !== undefined) return { read: { [column]: row.text(column) } }
  return wrong(`The row holds none of ${identifiers.join(', ')}, of which a conversion needs one.`, identifiers[0])
}

/** A correction takes the place of both; a new conversion is one of no worth, where nothing is said. */
function amountOf(row: BatchRow, verb: 'insert' | 'update'): Read<JsonObject> {
  const value = row.text('value') ?? (verb === 'insert' ? '0' : undefined)
  const quantity = row.text('quantity') ?? (verb === 'insert' ? '1' : undefined)
  if (value === undefined || !/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value)) {
    return wrong('The value must be a number, written as 1234.5; a correction needs it.', 'value')
  }
  const [, whole] = /^(\d{1,18})(?:\.0+)?$/.exec(quantity ?? '') ?? []
  if (whole === undefined) return wrong('The quantity must be a whole number; a correction needs it.', 'quantity')
  return { read: { quantity: whole, value: Number(value) } }
}

function variablesOf(row: BatchRow): Read<JsonObject> {
  const object = readObject(row, 'customVariables')
  if ('wrong' in object) return object
  const entries = Object.entries(object.read)
  if (entries.some(([type]) => !/^U\d{1,3}$/.test(type))) {
    return wrong(
      'The object must have the values of custom Floodlight variables by name, U1 to U100.',
      'customVariables',
    )
  }
  const customVariables = entries.map(([type, value]) => ({
    type,
    value: typeof value === 'string' ? value : JSON.stringify(value),
  }))
  return { read: customVariables.length > 0 ? { customVariables } : {} }
}

/** What only a new conversion can have. */
function insertedOf(row: BatchRow): Read<JsonObject> {
  const inserted: Record<string, unknown> = {}
  for (const column of flags) {
    const text = row.text(column)?.toLowerCase()
    if (text === undefined) continue
    if (!/^(true|false|1|0|yes|no)$/.test(text)) return wrong('The value must be true or false.', column)
    inserted[column] = /^(true|1|yes)$/.test(text)
  }
  const consent = row.text('adUserDataConsent')?.toUpperCase()
  if (consent === 'GRANTED' || consent === 'DENIED') inserted.adUserDataConsent = consent
  return { read: inserted }
}

/** Contact data complete a conversion that is there already. */
function peopleOf(row: BatchRow): Read<JsonObject> {
  const userIdentifiers: JsonObject[] = []
  for (const [column, name] of [
    ['email', 'hashedEmail'],
    ['phone', 'hashedPhoneNumber'],
  ] as const) {
    const digest = row.text(column)
    if (digest === undefined) continue
    if (!isSha256(digest)) return wrong('The value is not a SHA-256 digest of 64 hexadecimal characters.', column)
    userIdentifiers.push({ [name]: digest })
  }
  return { read: userIdentifiers.length > 0 ? { userIdentifiers } : {} }
}
