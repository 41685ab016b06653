import { createHash } from 'node:crypto'
import { type JsonObject, objectIn, textIn } from '../platform-api/json.ts'
import { isSha256 } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'
import { purchase } from './event-columns.ts'

/** A key by which Amazon finds a person. A person has each type at most once, with one value. */
type MatchKey = { readonly type: string; readonly values: readonly [string] }

/**
 * Completes the event of a row: the person, by separate columns and by the column with an identifier of any kind, and the
 * value.
 * @param columns the columns of the identifier and of the value
 */
export function readMatchKeys(
  event: JsonObject,
  columns: { readonly person: string; readonly value: string },
): Read<readonly MatchKey[]> {
  if (event['@type'] === purchase && Number(event.value) < 0) {
    return wrong('The value of a purchase must not be negative.', columns.value)
  }
  const keys = Object.entries(objectIn(event['@keys'])).map(
    ([type, one]): MatchKey => ({ type, values: [String(one)] }),
  )
  const text = textIn(event['@person'])
  const key = text === undefined ? undefined : identifierOf(text)
  // Columns with your own IDs are often mapped to it. If the person is named otherwise, they hinder nothing, and one that
  // looks like a device's counts for nothing.
  const isNew = key && !keys.some(({ type }) => type === key.type) && (key.type !== 'MAID' || keys.length === 0)
  if (isNew) keys.push(key)
  if (keys.length > 0) return { read: keys }
  return wrong(
    'The value must be an e-mail address or its SHA-256 digest, a phone number, or a device ID.',
    columns.person,
  )
}

/**
 * The kind of a digest is not visible, so it is treated as the digest of an e-mail address. Phone numbers need their plus sign.
 */
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
