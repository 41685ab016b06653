import { type JsonObject, textIn } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { readBoolean, readObjects } from '../platform-api/rows/event-values.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'

/** What The Trade Desk knows of a product that was bought. */
const itemKeys = ['item_code', 'name', 'qty', 'price', 'cat']

/** The products of a conversion, with The Trade Desk's keys alone. */
export function readItems(row: BatchRow, column: string): Read<readonly JsonObject[] | undefined> {
  const found = readObjects(row, column)
  if ('wrong' in found || found.read === undefined) return found
  const stranger = found.read.flatMap(Object.keys).find((key) => !itemKeys.includes(key))
  if (stranger === undefined) return found
  return wrong(`A product has the keys ${itemKeys.join(', ')} and no others.`, column)
}

const privacyTypes = ['GDPR', 'CCPA', 'GPP']

/** Consent: what a JSON list says, else what columns of their own say. */
export function readPrivacy(row: BatchRow, column: string): Read<readonly JsonObject[] | undefined> {
  const given = readObjects(row, column)
  if ('wrong' in given || given.read !== undefined) return given
  const consent = row.text('consent_string')
  if (consent === undefined) return { read: undefined }
  const type = row.text('privacy_type')?.toUpperCase() ?? 'GDPR'
  if (!privacyTypes.includes(type)) return wrong('The privacy type must be GDPR, CCPA or GPP.', 'privacy_type')
  const applies = readBoolean(row, 'privacy_applies')
  if ('wrong' in applies) return applies
  const is_applicable = applies.read === false ? 0 : 1
  return { read: [{ privacy_type: type, is_applicable, consent_string: consent }] }
}

/** A code of The Trade Desk, fit to be shown: `InvalidPrivacySetting`. */
export function codeOf(value: unknown): string {
  const code = textIn(value) ?? ''
  return /^\w{1,60}$/.test(code) ? code : 'Unknown'
}
