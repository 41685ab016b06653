import { createHash } from 'node:crypto'
import type { Batch } from '@penstock/connector'
import { type BatchRow, isSha256 } from '../platform-api/rows/batch-rows.ts'
import { readNumber } from '../platform-api/rows/event-values.ts'
import { eventIdOf, type Read, wrong } from '../platform-api/rows/events.ts'
import { readTimeMs } from '../platform-api/rows/milliseconds.ts'

/** What Amazon finds a person by: each kind at most once, with one value. */
export type MatchKey = { readonly type: string; readonly values: readonly [string] }

const digestTypes: Readonly<Record<string, string>> = {
  email: 'EMAIL',
  phone: 'PHONE',
  firstName: 'FIRST_NAME',
  lastName: 'LAST_NAME',
  address: 'ADDRESS',
  city: 'CITY',
  state: 'STATE',
  postalCode: 'POSTAL',
}
const plainTypes: Readonly<Record<string, string>> = { maid: 'MAID', rampId: 'RAMP_ID', matchId: 'MATCH_ID' }

/** The person of an event: what columns of their own say, and what `column` says besides. */
export function readMatchKeys(row: BatchRow, column: string): Read<readonly MatchKey[]> {
  const keys: MatchKey[] = []
  for (const [name, type] of Object.entries(digestTypes)) {
    const digest = row.text(name)?.toLowerCase()
    if (digest === undefined) continue
    if (!isSha256(digest)) return wrong('The value is not a SHA-256 digest of 64 hexadecimal characters.', name)
    keys.push({ type, values: [digest] })
  }
  for (const [name, type] of Object.entries(plainTypes)) {
    const value = row.text(name)
    if (value !== undefined) keys.push({ type, values: [value] })
  }
  const text = row.text(column)
  const key = text === undefined ? undefined : identifierOf(text)
  // Columns with your own IDs are often mapped to it. Where the person is named otherwise, they hinder nothing, and one that
  // looks like a device's counts for nothing.
  const isNew = key && !keys.some(({ type }) => type === key.type) && (key.type !== 'MAID' || keys.length === 0)
  if (isNew) keys.push(key)
  if (text !== undefined && keys.length === 0) {
    return wrong('The value must be an e-mail address or its SHA-256 digest, a phone number, or a device ID.', column)
  }
  return keys.length > 0 ? { read: keys } : wrong('The row has nothing by which Amazon can find the person.', column)
}

/** A digest does not say of what it is: it counts as one of an e-mail address. Phone numbers need their plus sign. */
function identifierOf(text: string): MatchKey | undefined {
  const lower = text.toLowerCase()
  if (isSha256(lower)) return { type: 'EMAIL', values: [lower] }
  if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(lower)) return { type: 'EMAIL', values: [sha256(lower)] }
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(lower)) return { type: 'MAID', values: [text] }
  const digits = text.replace(/\D/g, '')
  const isPhone = /^\+[\d\s().-]+$/.test(text) && digits.length >= 8 && digits.length <= 15
  return isPhone ? { type: 'PHONE', values: [sha256(digits)] } : undefined
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The types of events that Amazon knows. */
export const conversionTypes = [
  'ADD_TO_SHOPPING_CART',
  'APPLICATION',
  'CHECKOUT',
  'CONTACT',
  'LEAD',
  'OFF_AMAZON_PURCHASES',
  'MOBILE_APP_FIRST_START',
  'PAGE_VIEW',
  'SEARCH',
  'SIGN_UP',
  'SUBSCRIBE',
  'OTHER',
] as const
export const purchase = 'OFF_AMAZON_PURCHASES'

/** What other platforms call the same, folded. */
const commonNames: Readonly<Record<string, string>> = {
  addtocart: 'ADD_TO_SHOPPING_CART',
  submitapplication: 'APPLICATION',
  begincheckout: 'CHECKOUT',
  initiatecheckout: 'CHECKOUT',
  startcheckout: 'CHECKOUT',
  generatelead: 'LEAD',
  purchase,
  completeregistration: 'SIGN_UP',
  registration: 'SIGN_UP',
  subscription: 'SUBSCRIBE',
}
const fold = (text: string): string => text.toLowerCase().replace(/[^a-z]/g, '')
const typesByName = new Map([
  ...conversionTypes.map((type) => [fold(type), type] as const),
  ...Object.entries(commonNames),
])

/** The type of an event, by Amazon's name or a common one: `add_to_cart`. */
export function readConversionType(row: BatchRow, column: string): Read<string> {
  const text = row.text(column)
  if (text === undefined) return wrong('The type of the event is missing.', column)
  const type = typesByName.get(fold(text))
  return type === undefined
    ? wrong(`The type of the event is none of Amazon's: ${conversionTypes.join(', ')}.`, column)
    : { read: type }
}

/** When it happened, in ISO 8601; what is written so already stays. @param daysMax how old Amazon lets it be */
export function readTime(row: BatchRow, column: string, daysMax?: number): Read<string> {
  const read = readTimeMs(row, column, daysMax)
  if ('wrong' in read) return read
  const text = row.text(column) ?? ''
  const isReady = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?(Z|[+-]\d{2}:\d{2})$/.test(text)
  return { read: isReady ? text : new Date(read.read).toISOString().replace('.000Z', 'Z') }
}

/** What the event was worth, with the two decimals that Amazon takes. What was bought was not worth less than nothing. */
export function readValue(row: BatchRow, column: string, type: string | undefined): Read<number | undefined> {
  const read = readNumber(row, column)
  if ('wrong' in read || read.read === undefined) return read
  if (type === purchase && read.read < 0) return wrong('The value of a purchase must not be negative.', column)
  return { read: Number(read.read.toFixed(2)) }
}

/** The country of an event in two capital letters. @param usual the one of events that name none */
export function readCountry(row: BatchRow, usual: string | undefined): Read<string> {
  const code = (row.text('countryCode') ?? usual?.trim())?.toUpperCase()
  if (code !== undefined && /^[A-Z]{2}$/.test(code)) return { read: code }
  const reason =
    code === undefined
      ? 'The country is missing; map the column, or fill in the country of the connection.'
      : 'The country must be two letters of ISO 3166: US.'
  return wrong(reason, 'countryCode')
}

/** The ID by which Amazon recognises an event that comes twice. */
export const dedupeIdOf = (batch: Batch, row: BatchRow): string => row.text('eventId') ?? eventIdOf(batch, row)

/** Whether the use of an event is limited: yes or no, or Amazon's name for it. */
export function readLimited(row: BatchRow): Read<boolean> {
  const text = row.text('limitedDataUse')?.toLowerCase()
  if (text === undefined || ['false', '0', 'no', 'n', 'f'].includes(text)) return { read: false }
  if (['true', '1', 'yes', 'y', 't', 'ldu', 'limited_data_use'].includes(text)) return { read: true }
  return wrong('The value must be true or false.', 'limitedDataUse')
}
